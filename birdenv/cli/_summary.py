"""`birdenv summary`, `compare`, `blame`, `runs` and `merge`: summarise, compare, list and merge runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer

from birdenv.cli.command import visible
from birdenv.cli.options._run_options import AsJson, DataFile, DataFolder, Run
from birdenv.dialogue.games import find_game, game_names
from birdenv.errors import InputError
from birdenv.files import check_writable, file_errors, write_bytes
from birdenv.report.plots import plot as draw
from birdenv.runs import run_folder
from birdenv.runs.summaries import (
    breakdown,
    comparison_text,
    first_screen,
    read_run,
    reference_block,
    report,
)
from birdenv.runs.summaries import compare as compare_runs


def runs(
    root: Annotated[Path, typer.Argument(help="Folder in which to look for runs.")] = Path("results"),
) -> None:
    """List the runs in a folder, oldest first.

    Each line shows the folder, the game, the players, the number of finished episodes, the main metric, and
    the settings that differ from the defaults.

    Example: birdenv runs results
    """
    with file_errors(root):
        found = {path.resolve() for path in root.glob("**/run-*/config.json")}
    if not found:
        raise InputError(
            f"{root} contains no runs; commands that play games save their runs in results/, or in --output"
        )
    lines = [_run_line(path) for path in sorted((p.parent for p in found), key=lambda p: (p.name, p))]
    short = [list(line[:-1]) for line in lines if len(line) > 2]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    for line in lines:
        print("\n".join(_in_columns(line, widths)))


_WIDTH = 100


def _in_columns(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the line about a run, or several indented lines if the cells do not fit in one line."""
    *columns, rest = cells
    padded = [f"{cell:<{width}}" for cell, width in zip(columns, widths, strict=False)]
    line = "  ".join([*padded, rest]).rstrip()
    if len(line) <= _WIDTH:
        return [line]
    folder, *others = "  ".join(padded).rstrip(), rest
    if len(folder) > _WIDTH:
        folder, others = columns[0], ["  ".join([*columns[1:], rest])]
    return [
        folder,
        *(
            part
            for text in others
            for part in wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        ),
    ]


def _run_line(path: Path) -> list[str]:
    """Return the cells of the line about a run: the folder and the metrics, or the folder and the error."""
    shown = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    try:
        run = read_run(path)
        figure = report(run).figures[0]
    except InputError as error:
        return [shown, str(error).removeprefix(f"{path}: ")]
    players = " + ".join(str(run.config[name]) for name in ("agent", "user") if name in run.config)
    value = figure.value
    if value is None:
        first = ""
    else:
        said = f"{100 * value:.1f} %" if figure.measure.is_rate else f"{value:.3f}"
        first = f"{figure.measure.title} {said}"
    counts = f"{len(run.outcomes)}/{run.expected} episodes"
    return [shown, run.game, players, counts, first, "  ".join(_settings_changed(run.game, run.config))]


_NOT_OF_THE_GAME = {
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
    """Return `name=value` for each setting that is not the default, and a data file other than the demo's."""
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


def blame(
    run: Run,
    data: DataFile = None,
    data_dir: DataFolder = None,
    episodes: Annotated[bool, typer.Option("--episodes", help="Print a line for each failure.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find out who caused the failures of a run.

    Checks, for each failed episode of c-Interact or a-Interact, whether the agent asked about every ambiguous
    term, whether the user answered, whether the answer agrees with the annotation, and whether the submitted
    SQL uses the answer.

    The output quotes annotated terms, so do not show it to agents.

    Example: birdenv blame results/never-asks+rule-c-interact --episodes
    """
    from birdenv.runs.blame import blame_run

    found = blame_run(run_folder(run), data=data, data_dir=data_dir)
    text = json.dumps(found.to_json(), indent=2) + "\n" if as_json else found.text(episodes=episodes)
    print(visible(text), end="")


Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        help="Also plot the metrics to this file, FILE.png or FILE.svg. Requires the `report` extra.",
    ),
]


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Two or more run-... folders, or their parent folders for the latest runs."),
    ],
    allow_different: Annotated[
        bool,
        typer.Option(
            "--allow-different",
            help="Compare the common tasks even if data, grader or tasks differ, or a run is unfinished.",
        ),
    ] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="List the tasks on which the runs differ.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show everything, including intervals and tests over databases.")
    ] = False,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Compare runs on the same tasks.

    Compares each run with the first run, task by task. Shows the metrics of both runs, the difference with
    its 95% confidence interval, and the p value.

    Example: birdenv compare results/never-asks-bird results/asks-first-bird --tasks
    """
    if len(runs) < 2:
        raise InputError("specify at least two runs to compare; for one run, use birdenv summary")
    _check_plot(plot)
    made = compare_runs([read_run(path) for path in runs], allow_different=allow_different)
    picture = None if plot is None else draw(made, plot.suffix[1:].lower())
    text = (
        json.dumps(made.to_json(), indent=2) + "\n"
        if as_json
        else comparison_text(made, tasks=tasks, everything=everything)
    )
    print(visible(text), end="")
    _write_plot(plot, picture)


def _check_plot(plot: Path | None) -> None:
    if plot is not None:
        if plot.suffix.lower() not in (".png", ".svg"):
            raise InputError(f"--plot {plot}: the name must end in .png or .svg")
        check_writable(plot)


def _write_plot(plot: Path | None, picture: bytes | None) -> None:
    if plot is not None and picture is not None:
        write_bytes(plot, picture)
        print(f"Written: {plot}", file=sys.stderr)  # standard output may be JSON


def summary(
    run: Run,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Break the metrics down by groups, separated by commas: difficulty,database."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show everything: all metrics, breakdowns, statuses and notes.")
    ] = False,
    reference: Annotated[
        bool,
        typer.Option("--reference", help="Print the metrics in the format of the reference implementation."),
    ] = False,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Show a run's metrics with 95% confidence intervals.

    Shows what was played, the main metrics, the cost, and which command to try next. For an unfinished run,
    the metrics cover the finished episodes.

    Intervals over tasks say how much a metric could change with other tasks; intervals over databases say
    how much it could change with other databases.

    Example: birdenv summary results/asks-first-bird
    """
    _check_plot(plot)
    if (by is not None) + everything + reference + as_json > 1:
        raise InputError("use only one of --by, --all, --reference and --json")
    made = report(read_run(run))
    picture = None if plot is None else draw(made, plot.suffix[1:].lower())
    if as_json:
        text = json.dumps(made.to_json(), indent=2) + "\n"
    elif everything:
        text = made.text()
    elif reference:
        text = reference_block(made)
    elif by is not None:
        text = breakdown(made, [kind.strip() for kind in by.split(",")])
    else:
        text = first_screen(made)
    print(visible(text), end="")
    _write_plot(plot, picture)


def merge(
    parts: Annotated[list[Path], typer.Argument(help="The run folders of all parts.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The run folder to make.")],
) -> None:
    """Merge the parts of a run that was played with --shard.

    The result is byte for byte identical to the run folder that a single machine would have written, except
    for durations and for the engine, workers and command in config.json. All parts must have the same
    settings, data and code, and each episode must be in exactly one part. Official files are not merged.

    Example: birdenv merge parts/*/latest -o results/whole
    """
    from birdenv.runs import merge_runs

    directory, summary = merge_runs(parts, output)
    print(visible(summary.first_screen), end="")
    print(f"Results: {directory.path}")
