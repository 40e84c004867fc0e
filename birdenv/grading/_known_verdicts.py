"""Verdicts of pairs that were graded before: rollouts of one task submit the same SQL again and again.

A pair that takes some time is remembered when it is graded for the first time, any other when it comes for
the second time, since most never come again.
"""

from __future__ import annotations

import marshal
import sys
import threading
from collections import OrderedDict
from collections.abc import Hashable
from itertools import chain
from typing import Final

from birdenv._sightings import sightings
from birdenv.databases import QueryResult
from birdenv.grading._verdict import ExVerdict

__all__ = ["KnownVerdicts"]

_LONG: Final = 0.001  # seconds
_MOST_CELLS: Final = 2_000  # of both results; a verdict with more is not kept
_MOST_BYTES: Final = 8 * 2**20  # of all verdicts together
_VERDICT_BYTES: Final = 2_000
_CELL_BYTES: Final = 40  # of a cell, besides its text


class KnownVerdicts:
    """The latest verdicts that cannot change, by whatever tells pairs apart; for several threads."""

    def __init__(self) -> None:
        self._verdicts: OrderedDict[Hashable, tuple[ExVerdict, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> ExVerdict | None:
        known = self._verdicts.get(key)
        return None if known is None else known[0]

    def keep(self, key: Hashable, verdict: ExVerdict) -> None:
        """Remember a verdict if that is worth it, which it is not with large results; the oldest go where
        there are too many."""
        if verdict.pred_seconds < _LONG and sightings.is_new(key):
            return
        cells, size = 0, _VERDICT_BYTES
        for result in (verdict.gold_result, verdict.pred_result):
            if result is not None and result.rows:
                cells += len(result.rows) * len(result.columns)
                if cells > _MOST_CELLS:
                    return
                size += _memory(result)
        with self._lock:
            if key in self._verdicts or size > _MOST_BYTES:
                return
            self._verdicts[key] = (verdict, size)
            self._size += size
            while self._size > _MOST_BYTES:
                _, (_, forgotten) = self._verdicts.popitem(last=False)
                self._size -= forgotten


def _memory(result: QueryResult) -> int:
    """Bytes that a result takes, about."""
    try:
        text = len(marshal.dumps(tuple(result.rows)))
    except ValueError:  # PostgreSQL's own types
        text = sum(map(sys.getsizeof, chain.from_iterable(result.rows)))
    return _CELL_BYTES * len(result.rows) * len(result.columns) + text
