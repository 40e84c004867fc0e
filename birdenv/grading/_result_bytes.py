"""Results as bytes, and back: every cell exactly as it was, and nothing that could run."""

from __future__ import annotations

import struct
import zlib
from itertools import chain, islice
from typing import Any, Final

from birdenv.databases import QueryError
from birdenv.grading._fetched_rows import FetchedRows
from birdenv.processes._messages import packed, unpacked

_MOST_CELLS: Final = 2_000_000  # a result with more is too large to keep, and too large to pack for trying
_MOST_TEXT_BYTES: Final = 16 * 2**20
_LOOKED_AT: Final = 100  # rows
_CHECKSUM: Final = struct.Struct("<I")  # of the rest: a disk that fails shows in nothing else
_TEXTS: Final = frozenset({str, bytes})


def encoded(value: FetchedRows | QueryError) -> bytes | None:
    """The bytes of a result; None for one that is too large."""
    if isinstance(value, QueryError):
        return _with_checksum(("error", value.kind, value.message, value.elapsed))
    if (len(value.rows) + len(value.more)) * len(value.columns) > _MOST_CELLS:
        return None
    if _text_bytes(value) > _MOST_TEXT_BYTES:
        return None
    more = list(value.more.items())
    return _with_checksum(("rows", value.columns, value.rows, more, value.total, value.elapsed))


def decoded(data: bytes) -> FetchedRows | QueryError:
    """What `encoded` was given. Raises `ValueError` for anything else."""
    if len(data) < _CHECKSUM.size:
        raise ValueError("not a stored result: it is too short")
    if zlib.crc32(memoryview(data)[_CHECKSUM.size :]) != _CHECKSUM.unpack(data[: _CHECKSUM.size])[0]:
        raise ValueError("not a stored result: its checksum differs")
    match unpacked(data[_CHECKSUM.size :]):
        case ("error", str() as kind, str() as message, float() as elapsed):
            return QueryError(kind, message, elapsed, True)  # type: ignore[arg-type]
        case (
            "rows",
            tuple() as columns,
            list() as rows,
            list() as more,
            int() | None as total,
            float() as elapsed,
        ) if set(map(type, rows)) <= {tuple}:
            try:
                return FetchedRows(columns, rows, dict(more), total, elapsed, True)
            except (TypeError, ValueError) as error:
                raise ValueError(f"not a stored result: {error}") from None
    raise ValueError("not a stored result")


def _with_checksum(plain: tuple[Any, ...]) -> bytes:
    data = packed(plain)
    return _CHECKSUM.pack(zlib.crc32(data)) + data


def _text_bytes(value: FetchedRows) -> int:
    """About as much text as the rows hold, by some of them."""
    rows = [*value.rows[:: max(len(value.rows) // _LOOKED_AT, 1)], *islice(value.more, _LOOKED_AT)]
    of_some = sum([len(cell) for cell in chain.from_iterable(rows) if type(cell) in _TEXTS])
    return of_some * (len(value.rows) + len(value.more)) // max(len(rows), 1)
