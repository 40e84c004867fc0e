"""The rows of a gold, with what every comparison with them needs, worked out at most once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Sequence
from functools import cached_property
from itertools import chain, islice

from birdenv.databases import QueryResult, Row
from birdenv.grading._cells import canonical_row, canonical_rows
from birdenv.grading._compare import hashable_rows
from birdenv.grading._unmatched import are_plain

__all__ = ["GoldRows"]

_ROW_BYTES = 120  # of memory, about: a tuple and its place in a list and in a set


class GoldRows:
    """A gold's whole result; `sql`: what gave it."""

    def __init__(self, sql: str, result: QueryResult) -> None:
        self.sql = sql
        self.result = result
        self.rows = list(result.rows)
        self.is_plain = are_plain(self.rows)

    @cached_property
    def is_empty(self) -> bool:
        """No row, or nothing but NULLs."""
        return all(cell is None for cell in chain.from_iterable(self.rows))

    @cached_property
    def row_set(self) -> frozenset[tuple[Hashable, ...]]:
        """The distinct rows as the set rule compares them."""
        try:
            return frozenset(self.rows)
        except TypeError:
            return frozenset(hashable_rows(self.rows))

    @cached_property
    def canonical_set(self) -> frozenset[tuple[Hashable, ...]]:
        return frozenset(canonical_rows(self.rows))

    @cached_property
    def memory(self) -> int:
        """Bytes that it takes, about."""
        sample = self.rows[:: max(len(self.rows) // 200, 1)]
        cells = sum(map(sys.getsizeof, chain.from_iterable(sample)))
        return _ROW_BYTES * len(self.rows) + cells * len(self.rows) // max(len(sample), 1)

    def has_all(self, rows: Collection[Row]) -> bool:
        """Whether each row is one of the gold's as the set rule compares them."""
        try:
            return self.row_set.issuperset(rows)
        except TypeError:
            return self.row_set.issuperset(hashable_rows(rows))

    def holds(self, width: int, rows: Sequence[Row]) -> bool:
        """Whether each row is one of the gold's, by either rule, among results of so many columns.

        False decides: with such a row the two cannot agree, nor differ in repeated rows only.
        """
        if width != len(self.result.columns):
            return False
        if self.has_all(rows):
            return True
        return all(canonical_row(row) in self.canonical_set for row in chain(self._foreign(rows), rows))

    def _foreign(self, rows: Sequence[Row]) -> list[Row]:
        """The first row that is none of the gold's by the set rule: the one that may decide."""
        known = zip(rows, hashable_rows(rows), strict=True)
        return list(islice((row for row, hashable in known if hashable not in self.row_set), 1))
