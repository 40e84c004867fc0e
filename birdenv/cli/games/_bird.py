"""`birdenv bird`: the BIRD harness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from birdenv.cli.games._running import load_game, run_game
from birdenv.cli.options._metrics import Metrics, RVesRuns, add_r_ves, asked_for
from birdenv.cli.options._models import ModelOptions
from birdenv.cli.options._option_groups import DatabaseOptions, RunOptions, Selection, takes_groups
from birdenv.errors import InputError
from birdenv.files import check_writable
from birdenv.grading import R_VES_RUNS
from birdenv.runs.em_esm import export_folder, export_pairs
from birdenv.tasks.bird import BirdTasks

_RUN, _TASKS, _DATABASES, _MODELS = RunOptions(), Selection(), DatabaseOptions(), ModelOptions()


@takes_groups
def bird(
    data_file: Annotated[
        Path | None, typer.Argument(help="Task file (JSON or JSONL); default: demo.")
    ] = None,
    db_dir: Annotated[Path | None, typer.Argument(help="Folder of <db_id>/<db_id>.sqlite.")] = None,
    run: RunOptions = _RUN,
    selection: Selection = _TASKS,
    no_evidence: Annotated[bool, typer.Option("--no-evidence", help="Hide the hints.")] = False,
    no_schema: Annotated[
        bool,
        typer.Option(
            "--no-schema",
            help="Give question and hint only, so that the agent finds the schema by SQL, as in the "
            "reference harness.",
        ),
    ] = False,
    max_turns: Annotated[int, typer.Option("--max-turns", min=1, help="Actions per episode.")] = 20,
    sql_timeout: Annotated[
        float, typer.Option("--sql-timeout", help="Seconds per statement, when grading too.")
    ] = 30.0,
    clean: Annotated[bool, typer.Option("--clean", help="Strip code fences and the like before EX.")] = False,
    predictions_order: Annotated[
        str | None,
        typer.Option(
            "--predictions-order", help="What position keys of a predictions file mean: 2024 or file."
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--export-pairs",
            help="Write gold.txt, preds.txt, pairs.jsonl and summary.jsonl for `birdenv evaluate` into "
            "a new run_YYYYMMDD_HHMMSS in this folder (evaluate looks in `run`), or this one if its name is "
            "run_... .",
        ),
    ] = None,
    metrics: Metrics = None,
    r_ves_runs: RVesRuns = R_VES_RUNS,
    databases: DatabaseOptions = _DATABASES,
    models: ModelOptions = _MODELS,
) -> None:
    """Play BIRD: question -> SQL, scored by EX.

    One question and a database to explore; execution accuracy (EX) of what is submitted.

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, module:factory, and
    any that you install.

    Example: birdenv bird mini_dev_sqlite.json dev_databases --database superhero --agent oracle
    """
    if (data_file is None) != (db_dir is None):
        raise InputError("give both DATA_FILE and DB_DIR, or neither for the demo benchmark")
    if sql_timeout <= 0:
        raise InputError("--sql-timeout must be more than 0 seconds")
    if predictions_order not in (None, "2024", "file"):
        raise InputError(f"--predictions-order {predictions_order!r} is unknown; known: 2024, file")
    if pairs is not None and run.repeats > 1:
        raise InputError("--export-pairs needs one prediction a task: leave out --repeats")
    asked = asked_for(metrics)
    settings = (
        selection.settings()
        | databases.settings()
        | {
            "data_file": None if data_file is None else str(data_file),
            "db_dir": None if db_dir is None else str(db_dir),
            "evidence": not no_evidence,
            "show_schema": not no_schema,
            "max_turns": max_turns,
            "clean": clean,
            "sql_timeout": sql_timeout,
            "metrics": tuple(asked.metrics),
        }
    )
    arena = load_game("bird", settings, run.agent)
    tasks = cast(BirdTasks, arena._tasks)
    place = None if pairs is None else export_folder(pairs)
    if place is not None:
        check_writable(place / "pairs.jsonl")
    directory = run_game(
        arena,
        run,
        settings={"predictions_order": predictions_order} if predictions_order else {},
        extra={"r_ves_runs": r_ves_runs} if asked.r_ves else {},
        models=models.settings(),
    )
    if asked.r_ves:
        add_r_ves(directory, tasks, list(directory.read("runs").values()), r_ves_runs)
    if place is not None:
        export_pairs(directory, place, tasks.source.dialect)
        dsn = "" if databases.dsn is None else " --dsn ..."
        on = "" if databases.dialect == "sqlite" else f" --dialect {databases.dialect}{dsn}"
        command = f"birdenv evaluate {place} --db {tasks.data_folder}{on}"
        print(f"Pairs: {place} (next: {command})")
