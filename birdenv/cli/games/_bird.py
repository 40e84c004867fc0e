"""`birdenv bird`: the BIRD harness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from birdenv.cli.games._running import load_game, run_game
from birdenv.cli.options._game_options import GameOptions, option_names, options_of
from birdenv.cli.options._metrics import Metrics, RVesRuns, add_r_ves, asked_for
from birdenv.cli.options._models import ModelOptions
from birdenv.cli.options._option_groups import RunOptions, takes_groups
from birdenv.errors import InputError
from birdenv.files import check_writable
from birdenv.grading import R_VES_RUNS
from birdenv.runs.em_esm import export_folder, export_pairs
from birdenv.tasks.bird import BirdTasks
from birdenv.tasks.bird._game import BirdSettings

_RUN, _MODELS = RunOptions(), ModelOptions()
_BIRD = options_of(BirdSettings, without=("metrics",))


@takes_groups
def bird(
    settings: GameOptions = _BIRD,
    run: RunOptions = _RUN,
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
    models: ModelOptions = _MODELS,
) -> None:
    """Play BIRD: question -> SQL, scored by EX.

    One question and a database to explore; execution accuracy (EX) of what is submitted.

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, module:factory, and
    any that you install.

    Example: birdenv bird mini_dev_sqlite.json dev_databases --database superhero --agent oracle
    """
    if predictions_order not in (None, "2024", "file"):
        raise InputError(f"--predictions-order {predictions_order!r} is unknown; known: 2024, file")
    if pairs is not None and run.repeats > 1:
        raise InputError("--export-pairs needs one prediction a task: leave out --repeats")
    asked = asked_for(metrics)
    chosen = settings.settings() | {"metrics": tuple(asked.metrics)}
    arena = load_game("bird", chosen, run.agent, option_names(BirdSettings))
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
        dsn = "" if chosen["dsn"] is None else " --dsn ..."
        on = "" if chosen["dialect"] == "sqlite" else f" --dialect {chosen['dialect']}{dsn}"
        command = f"birdenv evaluate {place} --db {tasks.data_folder}{on}"
        print(f"Pairs: {place} (next: {command})")
