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
_BATCH_BYTES: Final = 32 * 2**20  # of rows that are fetched together, at most
_RISKED_BYTES: Final = 256 * 2**20  # the same, where the rows before are small
_SLIM_BYTES: Final = 2**20
_FEW_ROWS: Final = 100  # of a batch
_PLAIN_FORM: Final = 2  # of `marshal`: the last one without references between equal values
_SHOWN_TOGETHER: Final = 1_024  # rows


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
            _bytes_of_cells(rows[start : start + _SHOWN_TOGETHER])
            for start in range(0, len(rows), _SHOWN_TOGETHER)
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


def _most_bytes(cursor: sqlite3.Cursor, widest: int) -> int:
    """What Python may take for a row of at most `widest` bytes: one emoji makes four bytes of each."""
    return _ROW_BYTES + _CELL_BYTES * len(cursor.description or ()) + 4 * widest


def fetch(cursor: sqlite3.Cursor, allowance: Allowance, widest: int) -> tuple[list[Row] | None, bool]:
    """At most `allowance.rows` rows, and whether there was one more; None for rows beyond its bytes.

    `widest`: bytes that one row may have. Rows are counted only once so many are there that they might be too
    many if all were that wide, and fetched in batches that cannot take much before that: one row may hold
    2,000 cells of 10 MB. Where the batches would be of a few rows, more is risked after rows that are small.
    """
    cap, left, counted, uncounted = allowance.rows, allowance.bytes, 0, 0
    most = _most_bytes(cursor, widest)
    batch = cap + 1
    if batch * widest > _BATCH_BYTES:
        batch = min(max(_BATCH_BYTES // widest, 1), batch)
    rows: list[Row] = []
    while True:
        asked = min(batch, cap + 1 - len(rows))
        fetched = cursor.fetchmany(asked)
        if not rows and len(fetched) < asked and len(fetched) * most <= left:
            return fetched, False  # as nearly always
        rows += fetched
        are_few = batch < _FEW_ROWS
        uncounted += _at_most(fetched) if are_few else len(fetched) * most
        if uncounted > left:
            left -= bytes_of(rows[counted:])
            counted, uncounted = len(rows), 0
            if left < 0:
                return None, False
        if len(fetched) < asked or len(rows) > cap:
            break
        if are_few and allowance.bytes - left + uncounted <= _SLIM_BYTES:
            batch = max(batch, _RISKED_BYTES // widest)
    is_cut = len(rows) > cap
    return rows[:cap] if is_cut else rows, is_cut


def _at_most(rows: list[Row]) -> int:
    """What Python takes for rows, or more than that; quicker than `bytes_of`."""
    cells = len(rows) * len(rows[0]) if rows else 0
    return _ROW_BYTES * len(rows) + _CELL_BYTES * cells + 4 * len(marshal.dumps(rows, _PLAIN_FORM))


def show(
    cursor: sqlite3.Cursor, allowance: Allowance, widest: int, sink: RowSink
) -> tuple[list[Row] | None, bool]:
    """As `fetch`, but the rows go to the sink, and there is one more too where it had seen enough."""
    left, size, most = allowance.rows, allowance.bytes, _most_bytes(cursor, widest)
    seen: list[Row] = []  # and not counted: what is fetched together is never too much, and mostly it is all
    while True:
        rows, is_last = _together(cursor, left + 1, widest)
        is_cut = len(rows) > left
        if seen or len(rows) * most > size:
            size -= bytes_of(seen) + (bytes_of(rows) if is_last else 0)
            if size < 0:
                return None, False
        if is_cut:
            rows.pop()
        if rows and not sink.see(rows):
            return [], True
        if is_cut or is_last:
            return [], is_cut
        left -= len(rows)
        seen = rows


def _together(cursor: sqlite3.Cursor, most: int, widest: int) -> tuple[list[Row], bool]:
    """The next rows to be shown, at most `most`, and whether they are the last."""
    most = min(most, _SHOWN_TOGETHER)
    batch = min(max(_BATCH_BYTES // max(widest, 1), 1), most)
    rows: list[Row] = cursor.fetchmany(batch)
    is_last = len(rows) < batch
    size = 0
    while not is_last and len(rows) < most:
        # What is fetched so far is measured by its serial form, which is quick and never smaller.
        size += len(marshal.dumps(rows[-batch:], _PLAIN_FORM))
        if size > _BATCH_BYTES:
            break
        budget = _BATCH_BYTES if size > _SLIM_BYTES else _RISKED_BYTES
        batch = min(max(budget // max(widest, 1), 1), most - len(rows))
        more = cursor.fetchmany(batch)
        is_last = len(more) < batch
        rows += more
    return rows, is_last
