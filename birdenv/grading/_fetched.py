"""What is fetched of a prediction: its rows in one pass, up to the one that decides.

So many rows are kept as decide wherever the prediction has no row that a gold lacks: one more than the
gold's. Where there are more, and all of them rows of a gold, the set rule may still hold and the difference
may be repeated rows only: then the others are counted, not kept, until the first one that no gold has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from birdenv.databases import QueryResult, Row
from birdenv.grading._gold_rows import GoldRows

__all__ = ["LEAST_FETCHED", "Collector", "Fetched", "rows_needed"]

LEAST_FETCHED: Final = 1_000
"""Rows of a prediction that are fetched at least, if it has them, however few the gold has. What is shown of
a prediction may show that many: then it says nothing of the gold."""


@dataclass(slots=True)
class Fetched:
    """`rows`: the first ones, in their order. `more`: how often each row comes behind those, as far as rows
    were counted. `total`: how many rows there are in all; None if fetching ended before the last one.
    `repeatable`: see `QueryResult`."""

    columns: tuple[str, ...]
    rows: list[Row]
    more: dict[Row, int]
    total: int | None
    elapsed: float
    repeatable: bool = False

    @property
    def result(self) -> QueryResult:
        """The first rows; truncated if they are not all."""
        return QueryResult(self.columns, self.rows, self.total != len(self.rows), elapsed=self.elapsed)


def rows_needed(golds: Sequence[GoldRows]) -> int:
    """So many rows of a prediction are kept where it has more than the golds."""
    return max(LEAST_FETCHED, *[len(gold.rows) for gold in golds]) + 1


class Collector:
    """Sees the rows of a prediction as they come (`EpisodeDatabase.scan`).

    `most`: rows kept while a gold may still hold them all; None to keep every row.
    """

    def __init__(self, golds: Sequence[GoldRows], most: int | None) -> None:
        self._golds = golds
        self._most = most
        self.begin(())

    def begin(self, columns: tuple[str, ...]) -> None:
        """The statement starts, perhaps not for the first time: what was seen before does not count."""
        self._columns = columns
        self._rows: list[Row] = []
        self._more: Counter[Row] | None = None  # as nearly always
        self._open: list[GoldRows] | None = None  # golds that have every row so far

    def see(self, rows: list[Row]) -> bool:
        """Take the next rows; whether more of them can matter."""
        if self._open is None:
            if self._most is None or len(self._rows) + len(rows) <= self._most:
                self._rows += rows
                return True
            room = self._most - len(self._rows)
            self._rows += rows[:room]
            rows = rows[room:]
            self._open = self._golds_with(self._rows, self._golds)
            if not self._open:
                return False
        still_open = self._golds_with(rows, self._open)
        if _are_hashable(rows) and (not still_open or any(gold.has_all(rows) for gold in still_open)):
            self._more = self._more or Counter()
            self._more.update(rows)
        else:
            self._rows += rows  # arrays and JSON, or equal to a gold's in canonical form only
        self._open = still_open
        return bool(still_open)

    def fetched(
        self, columns: tuple[str, ...], *, is_whole: bool, elapsed: float, repeatable: bool = False
    ) -> Fetched:
        """What was seen; `is_whole`: to the last row."""
        more = dict(self._more) if self._more else {}
        total = len(self._rows) + sum(more.values()) if is_whole else None
        return Fetched(columns, self._rows, more, total, elapsed, repeatable)

    def replay(self, earlier: Fetched) -> Fetched | None:
        """What would be fetched of the prediction now, by what was fetched of it for other golds or rules;
        None where that does not tell."""
        self.begin(earlier.columns)
        goes_on = self.see(list(earlier.rows))
        if goes_on and self._open is None and (earlier.more or earlier.total is None):
            if len(self._rows) != self._most:
                return None  # more rows would be kept now than were kept then
            self._open = self._golds_with(self._rows, self._golds)
            goes_on = bool(self._open)
        if goes_on and earlier.more:
            goes_on = self.see(list(earlier.more))
        if not goes_on:
            return self.fetched(
                earlier.columns, is_whole=False, elapsed=earlier.elapsed, repeatable=earlier.repeatable
            )
        if earlier.total is None:
            return None
        if self._more is not None:
            for row, count in earlier.more.items():
                self._more[row] += count - 1
        return self.fetched(
            earlier.columns, is_whole=True, elapsed=earlier.elapsed, repeatable=earlier.repeatable
        )

    def _golds_with(self, rows: list[Row], golds: Sequence[GoldRows]) -> list[GoldRows]:
        return [gold for gold in golds if gold.holds(len(self._columns), rows)]


def _are_hashable(rows: list[Row]) -> bool:
    try:
        hash(tuple(rows))
    except TypeError:
        return False
    return True
