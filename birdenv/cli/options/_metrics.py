"""`--metrics` and `--r-ves-runs`: what is reported beside EX, in every command that scores SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from birdenv.cli.command import visible
from birdenv.databases import DatabaseSource, Limits
from birdenv.errors import InputError
from birdenv.grading import (
    METRICS,
    R_VES_RUNS,
    ExGrader,
    Metric,
    SpeedMeasurement,
    measure_speed,
)
from birdenv.runs import RunDirectory
from birdenv.runs.summaries.recorded_run import speed_record, write_speeds
from birdenv.tasks.bird import BirdTasks
from birdenv.tasks.bird.measures import (
    METRIC_TITLES,
    R_VES_NOTE,
    difficulty_means,
    difficulty_table,
    is_rated,
)

_R_VES = "r-ves"


_NAMES = {name.replace("_", "-"): name for name in METRICS}


Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Report these too, separated by commas: soft-f1, r-ves, ordered (row order where the gold has "
        "ORDER BY), colperm (any column order), superset (further columns allowed).",
    ),
]


RVesRuns = Annotated[
    int,
    typer.Option(
        "--r-ves-runs", min=2, help="How often r-ves runs each query; the official script does it 100 times."
    ),
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What `--metrics` asks for."""

    metrics: tuple[Metric, ...]
    r_ves: bool


@dataclass(frozen=True, slots=True)
class SpeedPair:
    """A prediction that agrees by the official rule with one of the golds."""

    db_id: str
    golds: Sequence[str]
    prediction: str


def asked_for(option: str | None) -> Asked:
    """Read the option. Raises `InputError` for an unknown name."""
    names = [name.strip().lower() for name in (option or "").split(",") if name.strip()]
    for name in names:
        if name != _R_VES and name not in _NAMES:
            raise InputError(f"--metrics {name!r} is unknown; known: {', '.join([*_NAMES, _R_VES])}")
    return Asked(tuple(_NAMES[name] for name in _NAMES if name in names), _R_VES in names)


def measure_speeds(
    pairs: Sequence[SpeedPair], source: DatabaseSource, runs: int = R_VES_RUNS, limits: Limits | None = None
) -> list[SpeedMeasurement]:
    """Measure one pair after the other, with a progress bar on a terminal. Nothing else should run."""
    console = Console(stderr=True)
    limits = limits or Limits()
    grader = ExGrader(source, limits)

    def measured(pair: SpeedPair) -> SpeedMeasurement:
        golds = [gold for gold in pair.golds if grader.grade(pair.db_id, [gold], pair.prediction).ex_bird]
        if not golds:
            return SpeedMeasurement((), (), "the results do not agree")
        return measure_speed(source, pair.db_id, golds[0], pair.prediction, runs, limits)

    steps = track(pairs, "measuring R-VES", console=console, transient=True, disable=not console.is_terminal)
    return list(map(measured, steps))


def add_r_ves(
    directory: RunDirectory, tasks: BirdTasks, records: Sequence[Mapping[str, Any]], runs: int
) -> None:
    """Measure what a run's episodes submitted, keep it in the run folder, and print it beside EX in the
    official layout."""
    golds = {task.public.instance_id: task.private.gold for task in tasks.tasks.values()}
    rated = [record for record in records if is_rated(record)]
    pairs = [
        SpeedPair(record["result"]["db_id"], golds[record["instance_id"]], record["result"]["predicted_sql"])
        for record in rated
        if record["result"]["ex_bird"]
    ]
    measured = iter(measure_speeds(pairs, tasks.source, runs, tasks.settings.limits))
    found = [speed_record(run, next(measured) if run["result"]["ex_bird"] else None) for run in rated]
    write_speeds(directory.path, found)
    scores = {
        "ex_bird": [float(record["result"]["ex_bird"]) for record in rated],
        "r_ves": [record["r_ves"] for record in found],
    }
    means = difficulty_means([record["result"]["difficulty"] for record in rated], scores)
    print(visible("\n".join(difficulty_table(means, METRIC_TITLES))))
    print(f"Note: {R_VES_NOTE} ({runs} runs of each query).")
