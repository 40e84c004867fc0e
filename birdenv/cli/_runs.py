"""`birdenv summary`: the figures of a run, with intervals.

`birdenv runs`: the runs of a folder.

`birdenv compare`: runs side by side.

`birdenv blame`: whose fault the failures of a run were.

`birdenv export`: episodes of runs as data for training, or in other tools' formats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli._terminal import visible
from birdenv.dialogue.games import find_game, game_names
from birdenv.errors import InputError
from birdenv.files import check_writable, exists, file_errors, write_bytes, write_records
from birdenv.runs import run_folder
from birdenv.runs.summaries import compare as compare_runs
from birdenv.runs.summaries import comparison_text, forest_plot, read_run, report

Plot = Annotated[
    Path | None, typer.Option("--plot", help="Also draw the figures into this PNG file (extra: report).")
]


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Two or more run-... folders, or folders above them for their latest run."),
    ],
    allow_different: Annotated[
        bool,
        typer.Option(
            "--allow-different",
            help="Compare the common tasks even if data, grader or tasks differ or a run is not finished.",
        ),
    ] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="List the tasks on which the runs differ.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Plot = None,
) -> None:
    """Compare runs on the same tasks.

    Each run is held against the first, task by task: the difference with its 95 % intervals, p values, and
    how many tasks only one of the two solved.

    Example: birdenv compare results/never-asks-bird results/asks-first-bird --tasks
    """
    if len(runs) < 2:
        raise InputError("give at least two runs to compare; one alone: birdenv summary")
    _check_plot(plot)
    made = compare_runs([read_run(path) for path in runs], allow_different=allow_different)
    picture = None if plot is None else forest_plot(made)
    text = json.dumps(made.to_json(), indent=2) + "\n" if as_json else comparison_text(made, tasks=tasks)
    print(visible(text), end="")
    _write_plot(plot, picture)


def _check_plot(plot: Path | None) -> None:
    if plot is not None:
        if plot.suffix.lower() != ".png":
            raise InputError(f"--plot {plot}: give a name that ends in .png")
        check_writable(plot)


def _write_plot(plot: Path | None, picture: bytes | None) -> None:
    """Say it on standard error: what is printed may be JSON."""
    if plot is not None and picture is not None:
        write_bytes(plot, picture)
        print(f"Written: {plot}", file=sys.stderr)


def runs(
    root: Annotated[Path, typer.Argument(help="Where run folders are looked for.")] = Path("results"),
) -> None:
    """List the runs of a folder, oldest first.

    A line has the folder, the game, who played, settings that are not the default ones, how many episodes are
    finished, and the first figure.

    Example: birdenv runs results
    """
    with file_errors(root):
        found = {path.resolve() for path in root.glob("**/run-*/config.json")}
    if not found:
        raise InputError(f"{root} holds no run; commands that play make them in results/, or in --output")
    for path in sorted((path.parent for path in found), key=lambda path: (path.name, path)):
        print(_run_line(path))


def _run_line(path: Path) -> str:
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    try:
        run = read_run(path)
        made = report(run)
    except InputError as error:
        return f"{shown}: {error}"
    figure = made.figures[0]
    first = "" if figure.value is None else f"{figure.measure.title} {100 * figure.value:.1f} %"
    players = " + ".join(str(run.config[name]) for name in ("agent", "user") if name in run.config)
    parts = [str(shown), run.game, players, *_settings_changed(run.game, run.config)]
    return "  ".join([*parts, f"{len(run.outcomes)}/{run.expected} episodes", first]).rstrip()


_NOT_OF_THE_GAME = {
    "isolation",
    "image",
    "data",
    "data_dir",
    "data_file",
    "db_dir",
    "limit",
    "offset",
    "databases",
    "instances",
}


def _settings_changed(game: str, config: Mapping[str, Any]) -> list[str]:
    """The game's settings that are not the default ones as `name=value`, and data that are not the demo's."""
    if game not in game_names():
        return []
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in find_game(game).settings.model_fields.items()
        if name not in _NOT_OF_THE_GAME
    }
    changed = [
        f"{name}={config[name]}" for name, value in defaults.items() if config.get(name, value) != value
    ]
    data = Path(str(config.get("data_file") or ""))
    return [*changed, str(data)] if data.name and not data.parent.name.startswith("demo-") else changed


def summary(
    run: Annotated[
        Path, typer.Argument(help="A run-... folder, or results/<agent>-<game> for its latest run.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Plot = None,
) -> None:
    """Show a run's figures with 95 % intervals.

    Overall, by difficulty and by database; what is left out of the rates, and why. Runs that are not finished
    are shown as far as they are.

    Intervals over tasks say how far other tasks could move a figure, intervals over databases how far other
    databases could.

    Example: birdenv summary results/asks-first-bird
    """
    _check_plot(plot)
    made = report(read_run(run))
    picture = None if plot is None else forest_plot(made)
    print(json.dumps(made.to_json(), indent=2) + "\n" if as_json else visible(made.text()), end="")
    _write_plot(plot, picture)


def blame(
    run: Annotated[
        Path, typer.Argument(help="A run-... folder, or results/<agent>-<game> for its latest run.")
    ],
    data: Annotated[Path | None, typer.Option("--data", help="Task file, if it has moved.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of the databases, if it has moved.")
    ] = None,
    episodes: Annotated[bool, typer.Option("--episodes", help="Print a line for each failure.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whose fault the failures of a run were: the agent's, the simulated user's or the benchmark's.

    For each failed episode of c-Interact or a-Interact: was every ambiguous point asked about, was the
    question answered, are the words true to the annotation, and is the point in the submitted SQL?

    The terms are the annotation's: keep the output from agents.

    Example: birdenv blame results/never-asks-c-interact --episodes
    """
    from birdenv.runs.blame import blame_run

    found = blame_run(run_folder(run), data=data, data_dir=data_dir)
    text = json.dumps(found.to_json(), indent=2) + "\n" if as_json else found.text(episodes=episodes)
    print(visible(text), end="")


def export(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders; episodes of one task form a group. Or folders of studies."),
    ],
    form: Annotated[
        str,
        typer.Option("--format", "-f", help="sft, preference, rl; cocoa, openai, potato; ratings, pairs."),
    ] = "sft",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The JSONL file; of cocoa, a JSON list; of ratings, also .csv."),
    ] = Path("train.jsonl"),
    min_reward: Annotated[
        float | None, typer.Option("--min-reward", help="Leave out episodes that earned less.")
    ] = None,
) -> None:
    """Write episodes as JSONL for training: messages with tool calls, rewards, and what to train on.

    sft: whole dialogues that earned something. preference: pairs of episodes of one task, of which one earned
    more (play with --repeats). rl: all episodes, with the reward of every turn.

    A row holds what the agent saw and wrote, and nothing private.

    cocoa: whole dialogues as CoCoA's examples.json. openai: the agent's messages and tools, as fine-tuning
    takes them. potato: items to annotate, with the words of both seats. These three also write the
    dialogues of a study (`birdenv web`).

    ratings, pairs: what people said of dialogues (`birdenv web --rate`), by questions and side by side.

    Example: birdenv export results/my-model-c-interact --format preference -o pairs.jsonl
    """
    from birdenv.dialogue.cocoa import write_examples
    from birdenv.runs.export import (
        DIALOGUE_FORMATS,
        EXPORT_FORMATS,
        export_rows,
        exported_episodes,
    )

    if form in ("ratings", "pairs"):
        from birdenv.web.ratings import write_ratings

        print(f"{write_ratings(output, runs, form)} rows: {output}")
        return
    for whole in DIALOGUE_FORMATS:
        if form == whole:
            dialogues = [row for run in runs for row in whole_dialogues(run, whole, min_reward)]
            (write_examples if form == "cocoa" else write_records)(output, dialogues)
            print(f"{len(dialogues)} dialogues: {output}")
            return
    for known in EXPORT_FORMATS:
        if form == known:
            break
    else:
        names = ", ".join((*EXPORT_FORMATS, *DIALOGUE_FORMATS, "ratings", "pairs"))
        raise InputError(f"--format {form!r} is unknown; known: {names}")
    episodes = [episode for run in runs for episode in exported_episodes(run_folder(run))]
    rows = list(export_rows(episodes, known, min_reward))
    write_records(output, rows)
    print(f"{len(rows)} rows of {len(episodes)} episodes: {output}")
    if not rows and form == "preference":
        print("A pair needs two episodes of one task that earned different rewards: --repeats, or more runs")
    elif not rows:
        print("No episode earned enough; --format rl takes all")


def whole_dialogues(folder: Path, form: Any, min_reward: float | None = None) -> Iterable[Mapping[str, Any]]:
    """The dialogues of a run or of a study."""
    from birdenv.runs.export import dialogue_rows

    if exists(folder / "study.sqlite"):
        from birdenv.web import study_rows

        return study_rows(folder, form, min_reward)
    return dialogue_rows(run_folder(folder), form, min_reward)
