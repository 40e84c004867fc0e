"""Does a gold pass its own grading? A gold that does not costs every system its task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from birdenv.databases import DatabaseSource, Limits, QueryError, QueryResult, Result
from birdenv.grading._fetched_rows import whole
from birdenv.grading._limit_ties import cut_tie
from birdenv.grading._volatile_gold import reads_clock
from birdenv.grading.compare._metrics import MODES, compare, soft_f1


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """What running a gold twice found. Private to graders.

    `failures`: why it does not pass, by mode (`soft_f1` too), or under `gold` if it does not run. `seconds`:
    of the slower run. `is_empty`: no row, or nothing but NULLs. `reads_clock`: by its text. `has_changed`:
    the two runs gave different rows. `tie`: its LIMIT cuts through rows that its ORDER BY leaves level.
    """

    failures: dict[str, str]
    seconds: float
    rows: int | None = None
    is_empty: bool = False
    reads_clock: bool = False
    has_changed: bool = False
    tie: str = ""

    @property
    def passed(self) -> bool:
        return not self.failures


def check_gold_here(source: DatabaseSource, db_id: str, sql: str, limits: Limits) -> GoldCheck:
    """See `check_gold`; in the process that asks, which is a worker, and without a second run."""
    first, second = (whole(_run(source, db_id, limits, sql)) for _ in range(2))
    seconds, clock = max(first.elapsed, second.elapsed), reads_clock(sql)
    for result in (first, second):
        if isinstance(result, QueryError):
            return GoldCheck({"gold": f"{result.kind}: {result.message}"}, seconds, reads_clock=clock)
    assert isinstance(first, QueryResult) and isinstance(second, QueryResult)
    failures: dict[str, str] = {}
    for mode in MODES:
        comparison = compare(mode, first, second, sql, source.dialect)
        if not comparison.equal and not (mode == "superset" and not first.rows):
            failures[mode] = comparison.reason
    if soft_f1(first, second) != 1.0:
        failures["soft_f1"] = f"{soft_f1(first, second):.3f}, expected 1"
    return GoldCheck(
        failures,
        seconds,
        rows=len(first.rows),
        is_empty=all(cell is None for row in first.rows for cell in row),
        reads_clock=clock,
        has_changed=list(first.rows) != list(second.rows),
        tie=cut_tie(sql, source.dialect, first, partial(_run, source, db_id, limits)),
    )


def _run(source: DatabaseSource, db_id: str, limits: Limits, sql: str) -> Result:
    with source.open(db_id, limits) as database:
        return database.query(sql)
