"""Rows of a running statement: fetched together, or shown a batch at a time, never more than is allowed."""

from __future__ import annotations

import marshal
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from sys import getsizeof
from typing import Any, Final, Protocol

from birdenv.databases._results import Row

_POINTER: Final = 8
_ROW_BYTES: Final = 64  # of a tuple, at most, and the list's pointer to it
_CELL_BYTES: Final = 96  # of a text, and the tuple's pointer to it, besides its characters, at most
_CONTAINERS: Final = frozenset({list, dict})
_TOGETHER_BYTES: Final = 256 * 2**20  # of rows that are fetched together, at most, or of one
_PLAIN_FORM: Final = 2  # of `marshal`: the last one without references between equal values
_COUNTED_TOGETHER: Final = 1_024  # rows


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one statement may cost: `seconds` as of `Limits`. `in_all` is above 0 where they are the rest of
    so many for several statements. `wall_seconds`: where `seconds` count processor time."""

    rows: int
    seconds: float
    bytes: float
    in_all: float = 0.0
    wall_seconds: float = float("inf")


class RowSink(Protocol):
    """Sees the rows of a scan as they come, instead of getting them all."""

    def begin(self, columns: tuple[str, ...]) -> None:
        """The statement starts; perhaps again, and then what was seen of it before does not count."""

    def see(self, rows: list[Row]) -> bool:
        """Take the next rows (the list is not the sink's to change); whether to go on to more."""


def bytes_of(rows: Sequence[Row]) -> int:
    """What Python takes for rows: tuples, cells, and what arrays and JSON hold."""
    return (
        _POINTER * len(rows)
        + sum(map(getsizeof, rows))
        + sum(
            _bytes_of_cells(rows[start : start + _COUNTED_TOGETHER])
            for start in range(0, len(rows), _COUNTED_TOGETHER)
        )
    )


def _bytes_of_cells(rows: Iterable[Iterable[Any]]) -> int:
    """Each object once: small integers, NULL and texts of one character are the same object everywhere."""
    cells = list(chain.from_iterable(rows))
    objects = dict(zip(map(id, cells), cells, strict=True)).values()
    total = sum(map(getsizeof, objects))
    if not _CONTAINERS.isdisjoint(map(type, objects)):
        inner = [cell for cell in objects if type(cell) in _CONTAINERS]
        total += _bytes_of_cells(inner)
        total += _bytes_of_cells(cell.values() for cell in inner if type(cell) is dict)
    return total


def fetch(
    cursor: sqlite3.Cursor, allowance: Allowance, widest: int, sink: RowSink | None = None
) -> tuple[list[Row] | None, bool]:
    """Fetch at most `allowance.rows` rows; return them, and whether there are more.

    Args:
        cursor: a statement that runs.
        allowance: of rows and bytes.
        widest: bytes that a row may have.
        sink: gets the rows instead; there are more, too, where it has seen enough.

    Returns:
        None in place of rows beyond the allowance's bytes. So few are fetched at a time that they have room
        in memory however wide they are. They are counted exactly only once they might be too many.
    """
    rows: list[Row] = []
    uncounted: list[Row] = []
    left, counted, at_most = allowance.rows, 0, 0
    together = _TOGETHER_BYTES // max(widest, 1) or 1
    while True:
        asked = min(together, left + 1)
        fetched = cursor.fetchmany(asked)
        is_last, is_cut = len(fetched) < asked, len(fetched) > left
        uncounted += fetched
        at_most += _at_most(fetched)
        if counted + at_most > allowance.bytes:
            counted += bytes_of(uncounted)
            uncounted, at_most = [], 0
            if counted > allowance.bytes:
                return None, False
        if is_cut:
            fetched.pop()
        if sink is None:
            rows += fetched
        elif fetched and not sink.see(fetched):
            return [], True
        if is_last or is_cut:
            return rows, is_cut
        left -= len(fetched)


def _at_most(rows: list[Row]) -> int:
    """Return what Python takes for rows, or more than that; quicker than `bytes_of`."""
    cells = len(rows) * len(rows[0]) if rows else 0
    return _ROW_BYTES * len(rows) + _CELL_BYTES * cells + 4 * len(marshal.dumps(rows, _PLAIN_FORM))
