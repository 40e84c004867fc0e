"""The comparison that looks at row order where the gold asks for one: an ORDER BY in its outermost query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from birdenv.databases import QueryResult
from birdenv.grading._cells import CanonicalRow, canonical_row
from birdenv.grading._compare import Comparison, compare_multiset
from birdenv.grading._differences import show
from birdenv.grading._numbers import Agreement, compare_numbers

__all__ = ["compare_ordered"]


def compare_ordered(gold: QueryResult, pred: QueryResult, gold_sql: str, dialect: str) -> Comparison:
    """As `compare_multiset`, and in the gold's order if the gold's outermost query has ORDER BY.

    Rows that the gold's sort keys leave tied may stand in any order among themselves.

    `dialect`: `sqlite` or `postgres`. Flags: `order_only` where nothing but the order differs;
    `order_unchecked` where the rows stand in another order but a sort key is not in the output, so that ties
    cannot be told: then the multiset decides.
    """
    comparison = compare_multiset(gold, pred)
    if not comparison.equal or len(gold.rows) < 2:
        return comparison
    expected, returned = list(map(canonical_row, gold.rows)), list(map(canonical_row, pred.rows))
    if all(_agree([row], [other]) for row, other in zip(expected, returned, strict=True)):
        return comparison
    from birdenv.grading._sort_keys import sort_keys  # only now, because it takes the parser

    keys = sort_keys(gold_sql, dialect, gold.columns)
    if keys is None:
        return comparison
    if not keys.is_complete:
        return Comparison(True, "", (*comparison.flags, "order_unchecked"))
    for start, end in _ties(expected, keys.places):
        if not _agree(expected[start:end], returned[start:end]):
            place = next(i for i in range(start, end) if expected[i] != returned[i])
            reason = (
                f"rows in another order: row {place + 1} should be {show(expected[place])}, "
                f"and is {show(returned[place])}"
            )
            return Comparison(False, reason, (*comparison.flags, "order_only"))
    return comparison


def _ties(rows: Sequence[CanonicalRow], keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of rows with the same sort keys, numbers within the tolerance, as (start, end)."""
    start = 0
    values = [tuple(row[key] for key in keys) for row in rows]
    for place in range(1, len(rows) + 1):
        if place == len(rows) or not _agree([values[place - 1]], [values[place]]):
            yield start, place
            start = place


def _agree(gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow]) -> bool:
    return gold == pred or compare_numbers(gold, pred) is Agreement.FULL
