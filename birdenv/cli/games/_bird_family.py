"""`birdenv bird`, `c-interact` and `a-interact`: shorthands for `birdenv play` with additional options.

Modules that are needed only for a run are imported where they are used, so that `--help` is fast.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from birdenv.cli.options._metrics import Metrics, RVesRuns
from birdenv.cli.options._run_options import USER_SETTINGS, AgentOptions
from birdenv.cli.options.settings_command import Choices, SettingsCommand, choices
from birdenv.errors import InputError
from birdenv.grading import R_VES_RUNS
from birdenv.llm import ModelSettings
from birdenv.run_settings import RunSettings

if TYPE_CHECKING:
    from birdenv.dialogue import Arena
    from birdenv.tasks.bird import BirdTasks
    from birdenv.tasks.c_interact import InteractTasks

app = typer.Typer(rich_markup_mode=None)

_User = Annotated[
    str, typer.Option("--user", help="The user: rule, llm:MODEL, rule+llm:MODEL, or module:factory.")
]


class _BirdCommand(SettingsCommand):
    game_name = "bird"
    groups = (RunSettings, AgentOptions(), ModelSettings)
    seats = "none"
    without = ("metrics", *USER_SETTINGS)


class _CInteractCommand(SettingsCommand):
    game_name = "c-interact"
    groups = (RunSettings, AgentOptions(), ModelSettings)
    seats = "none"


class _AInteractCommand(_CInteractCommand):
    game_name = "a-interact"


@app.command(cls=_BirdCommand)
def bird(
    context: typer.Context,
    predictions_order: Annotated[
        str | None,
        typer.Option(
            "--predictions-order",
            help="Task order that the positions in a predictions file refer to: 2024 (the edition of BIRD "
            "mini-dev), or file (the task file).",
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--export-pairs",
            help="Export gold.txt, preds.txt, pairs.jsonl and summary.jsonl for `birdenv evaluate` to this "
            "folder. Unless its name begins with run_, the files are written to a new subfolder "
            "run_YYYYMMDD_HHMMSS. By default, `birdenv evaluate` looks in the folder `run`.",
        ),
    ] = None,
    metrics: Metrics = None,
    r_ves_runs: RVesRuns = R_VES_RUNS,
) -> None:
    """Play BIRD: question -> SQL, scored by EX.

    The agent gets one question and a database to explore. Its submission is scored by execution accuracy
    (EX).

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, module:factory, and
    any that you install.

    Example: birdenv bird mini_dev_sqlite.json dev_databases --database superhero --agent oracle
    """
    from birdenv.cli.games._running import load_game, run_game
    from birdenv.cli.options._metrics import add_r_ves, asked_for
    from birdenv.files import check_writable
    from birdenv.runs.em_esm import export_folder, export_pairs

    chosen = choices(context)
    if predictions_order not in (None, "2024", "file"):
        raise InputError(f"--predictions-order {predictions_order!r} is unknown; choose from 2024, file")
    if pairs is not None and chosen.run.repeats > 1:
        raise InputError("--export-pairs needs one prediction for each task: leave out --repeats")
    asked = asked_for(metrics)
    chosen.settings["metrics"] = asked.metrics
    arena = load_game("bird", chosen)
    tasks = cast("BirdTasks", arena._tasks)
    place = None if pairs is None else export_folder(pairs)
    if place is not None:
        check_writable(place / "pairs.jsonl")
    directory = run_game(
        arena,
        chosen,
        changes={"options": {"predictions_order": predictions_order}} if predictions_order else {},
        extra={"r_ves_runs": r_ves_runs} if asked.r_ves else {},
    )
    if asked.r_ves:
        add_r_ves(directory, tasks, list(directory.read("runs").values()), r_ves_runs)
    if place is not None:
        export_pairs(directory, place, tasks.source.dialect)
        dsn = "" if tasks.settings.dsn is None else " --dsn ..."
        dialect = tasks.settings.dialect
        on = "" if dialect == "sqlite" else f" --dialect {dialect}{dsn}"
        command = f"birdenv evaluate {place} --db {tasks.data_folder}{on}"
        print(f"Pairs: {place} (next: {command})")


@app.command("a-interact", cls=_AInteractCommand)
def a_interact(context: typer.Context, user: _User = "rule") -> None:
    """Play a-Interact: c-Interact with tools on a budget.

    Each of the nine tools has a price: ask the user (2), run SQL (1), submit (3), and read the schema, column
    meanings or knowledge (0.5 or 1). The budget for the question and its follow-up is 6, plus 2 for each
    ambiguity and 2 for each unit of patience (BIRD-Interact).

    Rewards: 0.7 for the question and 0.3 for the follow-up, at any attempt. execute_sql is one of the tools.
    This game has no official files.

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, module:factory, and
    any that you install.

    Example: birdenv a-interact mini_interact --data merged.jsonl --agent oracle
    """
    from birdenv.cli.games._running import run_game

    chosen = choices(context)
    run_game(_load("a-interact", chosen), chosen, {"user": user})


@app.command("c-interact", cls=_CInteractCommand)
def c_interact(
    context: typer.Context,
    user: _User = "rule",
    official_files: Annotated[
        bool,
        typer.Option(
            "--official-files",
            help="Also write the original pipeline's files to private_official in the run folder. They are "
            "private because they contain the gold, and large because each line repeats the prompts.",
        ),
    ] = False,
) -> None:
    """Play c-Interact: ambiguous question -> dialogue -> SQL.

    An episode consists of clarification, SQL and one debug attempt, then a follow-up with one debug attempt
    (BIRD-Interact).

    Rewards: 0.7 for the question (0.5 after debug) and 0.3 for the follow-up (0.2 after debug).

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, llm-markup:MODEL,
    module:factory, and any that you install.

    Example: birdenv c-interact mini_interact --data merged.jsonl --agent oracle
    """
    from birdenv.cli.games._running import run_game
    from birdenv.runs.official.write import write_official_files

    chosen = choices(context)
    if official_files and chosen.settings.get("execute_sql"):
        raise InputError(
            "official files cannot contain exploratory SQL: leave out --execute-sql or --official-files"
        )
    arena = _load("c-interact", chosen)
    directory = run_game(arena, chosen, {"user": user})
    if official_files:
        place = write_official_files(directory, arena, chosen.run.repeats)
        print(f"Official files, private (they contain the gold): {place}")
        print(f"Their score: birdenv score-official {directory.path}")


def _load(name: str, chosen: Choices) -> Arena:
    """Load c-Interact or a-Interact for a run, and print a warning if tasks have no ground truth."""
    from birdenv.benchmarks import WHERE_TO_ASK, missing_ground_truth
    from birdenv.cli.games._running import load_game

    arena = load_game(name, chosen)
    tasks = cast("InteractTasks", arena._tasks)
    missing = missing_ground_truth(list(tasks.tasks.values()))
    if not missing and tasks.notes:
        missing = missing_ground_truth(tasks.everything)
    if missing:
        where = f"ground truth is missing in {tasks.data_file}: {missing}"
        what = (
            f"Without sol_sql nothing is graded. {WHERE_TO_ASK}"
            if "sol_sql" in missing
            else 'A Management task needs at least one test case, or "grading": "state".'
        )
        print(f"Warning: {where}. {what}", file=sys.stderr)
    return arena
