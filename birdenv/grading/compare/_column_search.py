"""Which columns of a prediction hold the gold's? A search with caps, pruned by what the columns hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from typing import Final

from birdenv.databases import Row
from birdenv.grading.compare._cells import projected
from birdenv.grading.compare._tolerance import ABSOLUTE, RELATIVE, rows_agree

MOST_COLUMNS: Final = 10
"""Wider golds are not searched (the test-suite's own search hangs on 26 columns)."""

_MOST_NODES: Final = 10_000  # partial assignments looked at
_NUMBERS: Final = (int, float, Decimal)
_MOST_CELLS: Final = 50_000_000  # the same, for results of many rows: each look reads every row


@dataclass(frozen=True, slots=True)
class ColumnSearch:
    """`columns`: for each gold column its place in the prediction, None if there are no such places; `ended`:
    False if a cap ended the search before all were tried."""

    columns: tuple[int, ...] | None
    ended: bool = True


class _CapReachedError(Exception):
    pass


def find_columns(gold: Sequence[Row], pred: Sequence[Row], most_nodes: int = _MOST_NODES) -> ColumnSearch:
    """Return distinct columns of `pred` that, put in this order, give the gold's rows as a multiset.

    Both sides have the same number of rows, above zero, canonical or such that Python finds them equal where
    their canonical forms are. Numbers agree within the tolerance. Whole rows are
    compared, so that cells of different rows never make up a match.
    """
    width = len(gold[0])
    if width > len(pred[0]):
        return ColumnSearch(None)
    if width > MOST_COLUMNS:
        return ColumnSearch(None, ended=False)
    search = _Search(gold, pred, min(most_nodes, _MOST_CELLS // (len(gold) * width) + width))
    try:
        return ColumnSearch(next(search.assignments(), None))
    except _CapReachedError:
        return ColumnSearch(None, ended=False)


class _Search:
    """Depth first: the first gold column's place, then the second's, as long as the rows so far agree."""

    def __init__(self, gold: Sequence[Row], pred: Sequence[Row], nodes: int) -> None:
        self._gold, self._pred = gold, pred
        self._nodes = nodes
        self._gold_columns = [_Column(gold, i) for i in range(len(gold[0]))]
        self._pred_columns = [_Column(pred, i) for i in range(len(pred[0]))]

    def assignments(self) -> Iterator[tuple[int, ...]]:
        """Yield all that give the gold's rows, at least cost first."""
        is_hopeless = any(
            not any(ours.digest == other.digest or ours.may_be(other) for other in self._pred_columns)
            for ours in self._gold_columns
        )
        return iter(()) if is_hopeless else self._extended(())

    def _extended(self, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(self._gold_columns):
            if rows_agree(self._gold, list(projected(self._pred, chosen))):
                yield chosen
            return
        for place in self._places(len(chosen), chosen):
            self._nodes -= 1
            if self._nodes < 0:
                raise _CapReachedError
            longer = (*chosen, place)
            if self._may_agree(longer):
                yield from self._extended(longer)

    def _places(self, column: int, taken: tuple[int, ...]) -> Iterator[int]:
        """Yield where the prediction may have the values of this gold column: its own place first, and where
        a tolerance is needed last.
        """
        ours = self._gold_columns[column]
        free = sorted(set(range(len(self._pred_columns))).difference(taken), key=lambda i: (i != column, i))
        yield from (i for i in free if self._pred_columns[i].digest == ours.digest)
        yield from (
            i
            for i in free
            if self._pred_columns[i].digest != ours.digest and ours.may_be(self._pred_columns[i])
        )

    def _may_agree(self, chosen: tuple[int, ...]) -> bool:
        """Return whether the rows agree in those of the columns so far that need no tolerance."""
        pairs = [
            (column, place)
            for column, place in enumerate(chosen)
            if self._gold_columns[column].digest == self._pred_columns[place].digest
        ]
        if not 1 < len(pairs) < len(self._gold_columns):
            return True
        columns, places = zip(*pairs, strict=True)
        return _digest(self._gold, columns) == _digest(self._pred, places)


class _Column:
    """What tells columns apart without keeping their cells."""

    def __init__(self, rows: Sequence[Row], column: int) -> None:
        self._rows, self._column = rows, column
        self.digest = _digest(rows, [column])
        self.kinds = set(map(type, map(itemgetter(column), rows)))

    @property
    def _has_fractions(self) -> bool:
        return any(issubclass(kind, (float, Decimal)) for kind in self.kinds)

    @cached_property
    def _sums(self) -> tuple[float, float]:
        """Of the numbers, and of their sizes; infinite where that cannot be told."""
        cells = map(itemgetter(self._column), self._rows)
        numbers = [cell for cell in cells if isinstance(cell, _NUMBERS)]
        try:
            return math.fsum(numbers), math.fsum(abs(float(number)) for number in numbers)
        except (OverflowError, ValueError):
            return math.inf, math.inf

    def may_be(self, other: _Column) -> bool:
        """Return whether the two columns, which differ, may be the same within the tolerance."""
        if not (self._has_fractions or other._has_fractions):
            return False
        if (
            _others(self.kinds) != _others(other.kinds)
            or not _numbers(self.kinds)
            or not _numbers(other.kinds)
        ):
            return False
        (total, size), (other_total, other_size) = self._sums, other._sums
        if not math.isfinite(size + other_size):
            return True
        allowed = ABSOLUTE * len(self._rows) + 2 * RELATIVE * max(size, other_size)
        return abs(total - other_total) <= allowed


def _numbers(kinds: set[type]) -> set[type]:
    return {kind for kind in kinds if issubclass(kind, _NUMBERS)}


def _others(kinds: set[type]) -> set[type]:
    return kinds - _numbers(kinds)


def _digest(rows: Sequence[Row], columns: Sequence[int]) -> int:
    """Return the same number for the same multiset of cells in these columns, and nearly always another if
    not.
    """
    return sum(map(hash, map(itemgetter(*columns), rows)))
