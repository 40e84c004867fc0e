"""Check whether a gold query would pass if it were submitted. If not, no system can solve the task.

If the LIMIT of a gold query cuts through a tie, several results are correct, and the engine may return any of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from birdenv.databases import DatabaseSource, Limits, QueryError, QueryResult, Result, Row
from birdenv.grading._reads import reads_clock
from birdenv.grading._statements import whole
from birdenv.grading.compare._metrics import MODES, compare, soft_f1
from birdenv.grading.compare._rows import output_column, query_tree
from birdenv.sql import quiet_parser

_LOOKED_BEYOND: Final = 50  # rows after the cut


def cut_tie(sql: str, dialect: str, gold: QueryResult, run: Callable[[str], Result]) -> str:
    """Describe the tie that a query's outermost LIMIT cuts through; return an empty string if there is none.

    A LIMIT or OFFSET cuts through a tie if the rows next to the cut have equal sort keys but different
    values. Without ORDER BY, all rows have equal sort keys. LIMITs of sub-queries are not checked. The result
    is also empty if the query cannot be analysed.

    Args:
        sql: the query to check.
        dialect: `sqlite` or `postgres`.
        gold: the result of the query.
        run: a function that runs SQL. It is called with a copy of the query that has a larger LIMIT and also
            selects the sort keys.
    """
    with quiet_parser():
        probe = _probe(sql, dialect, gold.columns)
    if probe is None:
        return ""
    result = run(probe.sql)
    if not isinstance(result, QueryResult) or result.truncated:
        return ""
    width = len(gold.columns)
    outputs = [row[:width] for row in result.rows]
    if outputs[probe.first : probe.end] != list(gold.rows):
        return ""  # the additional columns, or something else, changed the result
    keys = [tuple(row[place] for place in probe.keys) for row in result.rows]
    for cut in (probe.first, probe.end):
        if _is_tie(cut, keys, outputs):
            level = keys.count(keys[cut])
            more = " or more" if keys[-1] == keys[cut] and len(keys) >= probe.end + _LOOKED_BEYOND else ""
            what = "rows with equal sort keys" if probe.keys else "rows without an ORDER BY"
            return f"the LIMIT cuts through a tie: {level}{more} {what}"
    return ""


@dataclass(frozen=True, slots=True)
class _Probe:
    """A query whose rows from `first` to `end` are the gold's. `keys` are the columns of the sort keys."""

    sql: str
    first: int
    end: int
    keys: tuple[int, ...]


def _is_tie(cut: int, keys: Sequence[Row], outputs: Sequence[Row]) -> bool:
    """Return whether the rows before and after the cut have the same keys, but different outputs."""
    if not 0 < cut < len(keys) or keys[cut - 1] != keys[cut]:
        return False
    return len({repr(output) for key, output in zip(keys, outputs, strict=True) if key == keys[cut]}) > 1


def _probe(sql: str, dialect: str, columns: Sequence[str]) -> _Probe | None:
    """Return the probe, or None if the query has no outermost LIMIT with plain numbers or no usable keys."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    limit, offset, order = (tree and tree.args.get(name) for name in ("limit", "offset", "order"))
    count, first = _number(limit), _number(offset) if offset else 0
    if count is None or first is None:
        return None
    places: list[int] = []
    added: list[Any] = []
    for key in [ordered.this.unnest() for ordered in order.expressions] if order else []:
        is_qualified = isinstance(key, exp.Column) and key.table
        place = None if is_qualified else output_column(key, (), columns)
        places.append(len(columns) + len(added) if place is None else place)
        added += [key] if place is None else []
    if added and (not isinstance(tree, exp.Select) or tree.args.get("distinct")):
        return None
    probe = tree.select(*added) if added else tree.copy()
    probe.set("limit", exp.Limit(expression=exp.Literal.number(first + count + _LOOKED_BEYOND)))
    probe.set("offset", None)
    return _Probe(probe.sql(dialect=dialect), first, first + count, tuple(places))


def _number(clause: Any) -> int | None:
    """Return the number of a LIMIT or OFFSET, or None if it is not a plain number."""
    from sqlglot import exp

    number = clause.expression if clause is not None else None
    return int(number.this) if isinstance(number, exp.Literal) and number.is_int else None


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """The result of running a gold query twice. It must not be shown to agents.

    Attributes:
        failures: the reasons why the gold does not pass, keyed by comparison mode, by `soft_f1`, or by `gold`
            if the gold fails to run.
        seconds: duration of the slower run, in seconds.
        rows: number of rows; None if the gold does not run.
        is_empty: whether the gold returned no rows, or only NULLs.
        reads_clock: whether the gold's SQL reads the clock or random numbers.
        has_changed: whether the two runs returned different rows.
        tie: a description of the tie that the LIMIT cuts through (`cut_tie`); otherwise empty.
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
        """Return whether the gold ran, and its two runs agree in all comparison modes."""
        return not self.failures


def check_gold_here(source: DatabaseSource, db_id: str, sql: str, limits: Limits) -> GoldCheck:
    """Check a gold query as `check_gold` does, in the calling process, which must be a worker.

    There is no second run after a timeout.
    """
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
