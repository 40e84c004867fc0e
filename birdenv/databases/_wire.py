"""Values between a worker process and the process that owns it.

What a worker sends is taken apart without trusting it: a pickle that may hold plain values only (a hostile
database cannot make its reader run anything), then checked for its shape.
"""

from __future__ import annotations

import io
import pickle
import socket
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, Final, TypeAlias

from birdenv.databases._file_version import FileVersion
from birdenv.databases._image import Checkpoint
from birdenv.databases._results import QueryError, QueryResult, Result
from birdenv.databases._state import DatabaseState

__all__ = ["Answer", "decoded", "encoded", "packed", "receive", "send", "unpacked"]

Answer: TypeAlias = QueryResult | QueryError | DatabaseState | Checkpoint | None

_LENGTH_BYTES: Final = 8
_AT_A_TIME: Final = 2**20


def encoded(answer: Answer) -> bytes:
    """An answer as plain values, packed."""
    return packed(_plain(answer))


def decoded(data: bytes) -> Answer:
    """What `encoded` was given. Raises `ValueError` for anything else."""
    try:
        return _value(unpacked(data))
    except TypeError as error:  # a checkpoint of too few parts
        raise ValueError(f"not an answer of a worker: {error}") from error


def packed(plain: Any) -> bytes:
    """Numbers, text, bytes, None and containers of them, exactly as they are."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.fast = True  # without a memo of what was packed before, which takes most of the time
    pickler.dump(plain)
    return file.getvalue()


def unpacked(data: bytes) -> Any:
    """What `packed` was given; the caller checks its shape. Raises `ValueError` for anything else."""
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # unpickling nonsense raises almost anything
        raise ValueError(f"not an answer of a worker: {error}") from error


def send(connection: socket.socket, data: bytes) -> None:
    """Send one message. Raises `OSError` if the other side is gone."""
    connection.sendall(len(data).to_bytes(_LENGTH_BYTES, "little") + data)


def receive(connection: socket.socket, most_bytes: float = float("inf")) -> bytes:
    """The next message. Raises `EOFError` if the other side is gone, `ValueError` if it is too long."""
    length = int.from_bytes(_exactly(connection, _LENGTH_BYTES), "little")
    if length > most_bytes:
        raise ValueError(f"a message of {length} bytes")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    first = connection.recv(min(length, _AT_A_TIME))
    if len(first) == length:
        return first
    pieces = bytearray(first)
    while len(pieces) < length:
        if not (piece := connection.recv(min(length - len(pieces), _AT_A_TIME))):
            raise EOFError
        pieces += piece
    return bytes(pieces)


def _plain(answer: Answer) -> tuple[Any, ...]:
    match answer:
        case None:
            return ("none",)
        case QueryResult(columns, rows, truncated, affected, elapsed, repeatable):
            return ("result", columns, list(rows), truncated, affected, elapsed, repeatable)
        case QueryError(kind, message, elapsed, repeatable):
            return ("error", kind, message, elapsed, repeatable)
        case Checkpoint(version, size, pages):
            return ("checkpoint", astuple(version), size, pages)
        case DatabaseState(schema, contents, definitions):
            tables = {name: _plain(content) for name, content in contents.items()}
            return ("state", {name: dict(item) for name, item in schema.items()}, tables, definitions)


def _value(plain: Any) -> Answer:
    match plain:
        case ("none",):
            return None
        case (
            "result",
            tuple() as columns,
            list() as rows,
            bool() as truncated,
            int() as affected,
            float() as elapsed,
            bool() as repeatable,
        ):
            return QueryResult(columns, rows, truncated, affected, elapsed, repeatable)
        case ("error", str() as kind, str() as message, float() as elapsed, bool() as repeatable):
            return QueryError(kind, message, elapsed, repeatable)  # type: ignore[arg-type]
        case ("checkpoint", tuple() as version, int() as size, dict() as pages):
            return Checkpoint(FileVersion(*version), size, pages)
        case ("state", dict() as schema, dict() as tables, tuple() as definitions):
            return DatabaseState(schema, _contents(tables), definitions)
    raise ValueError("not an answer of a worker")


def _contents(tables: Mapping[str, Any]) -> dict[str, Result]:
    contents: dict[str, Result] = {}
    for name, table in tables.items():
        content = _value(table)
        if not isinstance(content, QueryResult | QueryError):
            raise ValueError(f"not an answer of a worker: no contents of {name}")
        contents[name] = content
    return contents


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")
