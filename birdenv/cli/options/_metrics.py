"""Options for commands that score SQL: additional metrics, and the rules of EM and ESM.

Modules that are needed only for scoring are imported where they are used, so that `--help` is fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer

from birdenv.cli.command import progress, visible
from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv.databases import DatabaseSource, Limits
    from birdenv.grading import Metric, SpeedMeasurement
    from birdenv.grading.em_esm import PairRules
    from birdenv.runs import RunDirectory
    from birdenv.tasks.bird import BirdTasks

_T = TypeVar("_T", bound=str)
_R_VES = "r-ves"


Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Further metrics to report, separated by commas: soft-f1, r-ves, ordered (row order counts if "
        "the gold has ORDER BY), colperm (any column order), superset (additional columns are allowed).",
    ),
]


RVesRuns = Annotated[
    int,
    typer.Option(
        "--r-ves-runs", min=2, help="Number of times that R-VES runs each query (official script: 100)."
    ),
]


@dataclass(frozen=True)
class MatchOptions:
    """The options that decide how EM and ESM compare two queries."""

    no_em: Annotated[bool, typer.Option("--no-em", help="Do not compute EM.")] = False
    no_esm: Annotated[
        bool, typer.Option("--no-esm", help="Do not compute ESM; then no database is needed.")
    ] = False
    em_level: Annotated[
        str, typer.Option("--em-level", help="strict, conservative or folded (see above).")
    ] = "conservative"
    none_aliases: Annotated[
        str,
        typer.Option(
            "--none-aliases",
            help="Spellings of None, separated by commas, such as none,null.",
        ),
    ] = ""
    clean: Annotated[bool, typer.Option("--clean/--no-clean", help="Strip code fences and the like.")] = True
    relax_single: Annotated[
        bool,
        typer.Option(
            "--relax-single",
            help="Let a result with one value equal a result with one row that contains the value.",
        ),
    ] = False
    order: Annotated[
        str, typer.Option("--order", help="auto (row order counts if the gold has ORDER BY) or ignore.")
    ] = "auto"
    trim: Annotated[bool, typer.Option("--trim", help="ESM: ignore white space around text.")] = False
    casefold: Annotated[bool, typer.Option("--casefold", help="ESM: ignore case.")] = False
    nfc: Annotated[
        bool, typer.Option("--nfc", help="ESM: ignore how accented characters are encoded (NFC).")
    ] = False
    dates: Annotated[
        str,
        typer.Option("--dates", help="exact, or loose (a date also equals its ISO text, and its midnight)."),
    ] = "exact"

    def rules(self) -> PairRules:
        """Return the comparison rules that the options select.

        Raises:
            InputError: the value of an option is unknown.
        """
        from birdenv.grading.compare import Normalisation
        from birdenv.grading.em_esm import EM_LEVELS, PairRules

        is_loose = one_of("--dates", self.dates, ("exact", "loose")) == "loose"
        return PairRules(
            em=not self.no_em,
            esm=not self.no_esm,
            em_level=one_of("--em-level", self.em_level, EM_LEVELS),
            none_aliases=frozenset(filter(None, map(str.strip, self.none_aliases.split(",")))),
            clean=self.clean,
            order=cast(Literal["auto", "ignore"], one_of("--order", self.order, ("auto", "ignore"))),
            relax_single=self.relax_single,
            normalisation=Normalisation(self.trim, self.casefold, self.nfc, is_loose),
        )


def one_of(option: str, value: str, known: Sequence[_T]) -> _T:
    """Return `value` if it is one of the known values of an option.

    Raises:
        InputError: the value is unknown; the message lists the known values.
    """
    for choice in known:
        if value == choice:
            return choice
    raise InputError(f"{option} {value!r} is unknown; choose from {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Asked:
    """The additional metrics selected by `--metrics`.

    Attributes:
        metrics: the metrics other than R-VES.
        r_ves: True if R-VES is also selected. It is measured separately, after the run.
    """

    metrics: tuple[Metric, ...]
    r_ves: bool


@dataclass(frozen=True, slots=True)
class SpeedPair:
    """A prediction that is correct by the official rule, and the gold queries for comparing its speed."""

    db_id: str
    golds: Sequence[str]
    prediction: str


def asked_for(option: str | None) -> Asked:
    """Parse the value of `--metrics`. None selects no metrics.

    Raises:
        InputError: a name is unknown.
    """
    from birdenv.grading import METRICS

    known = {name.replace("_", "-"): name for name in METRICS}
    names = [name.strip().lower() for name in (option or "").split(",") if name.strip()]
    for name in names:
        if name != _R_VES and name not in known:
            raise InputError(f"--metrics {name!r} is unknown; choose from {', '.join([*known, _R_VES])}")
    return Asked(tuple(metric for name, metric in known.items() if name in names), _R_VES in names)


def measure_speeds(
    pairs: Sequence[SpeedPair], source: DatabaseSource, runs: int, limits: Limits | None = None
) -> list[SpeedMeasurement]:
    """Return the R-VES measurement of each pair.

    The pairs are run sequentially, because running them in parallel would distort the times.

    Args:
        pairs: the pairs.
        source: the databases.
        runs: the number of times to run each query.
        limits: the limits for each query; None for the default limits.
    """
    from birdenv.databases import Limits
    from birdenv.grading import ExGrader, SpeedMeasurement, measure_speed

    limits = limits or Limits()
    grader = ExGrader(source, limits)

    def measured(pair: SpeedPair) -> SpeedMeasurement:
        golds = [gold for gold in pair.golds if grader.grade(pair.db_id, [gold], pair.prediction).ex_bird]
        if not golds:
            return SpeedMeasurement((), (), "the results do not agree")
        return measure_speed(source, pair.db_id, golds[0], pair.prediction, runs, limits)

    found = []
    with progress("measuring R-VES", len(pairs)) as move:
        for pair in pairs:
            found.append(measured(pair))
            move(advance=1)
    return found


def add_r_ves(
    directory: RunDirectory, tasks: BirdTasks, records: Sequence[Mapping[str, Any]], runs: int
) -> None:
    """Measure the R-VES of a run's submissions, save it in the run folder, and print the official table.

    Args:
        directory: the run folder.
        tasks: the run's tasks, including the gold SQL.
        records: the lines of the run's runs.jsonl.
        runs: the number of times to run each query.
    """
    from birdenv.runs.summaries.recorded_run import speed_record, write_speeds
    from birdenv.tasks.bird.measures import (
        METRIC_TITLES,
        R_VES_NOTE,
        difficulty_means,
        difficulty_table,
        is_rated,
    )

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
