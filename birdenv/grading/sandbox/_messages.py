"""Messages between the process that runs test cases and its owner: JSON, with tags for what JSON lacks.

Neither side can make the other run anything. This module is imported in the tests' process too: standard
library only.
"""

from __future__ import annotations

import json
import math
import socket
import time as clock
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

_LENGTH_BYTES: Final = 8
_AT_A_TIME: Final = 2**20


class MessageError(Exception):
    """What came over the connection is no message, or not one that makes sense here."""


def encoded(value: Any) -> bytes:
    """A plain value (None, numbers, text, bytes, Decimal, dates and times; lists, tuples and dicts of them).

    Every other type becomes its text.
    """
    return json.dumps(_tagged(value)).encode()


def decoded(data: bytes) -> Any:
    """What `encoded` was given. Raises `MessageError` for anything else."""
    try:
        return json.loads(data, object_hook=_untagged)
    except (ValueError, RecursionError, ArithmeticError, TypeError) as error:
        raise MessageError(f"not a message: {error}") from error


def send(connection: socket.socket, value: Any, deadline: float = math.inf) -> None:
    """Send one message by `deadline` (`time.monotonic`).

    Raises `TimeoutError`, or another `OSError` if the other side is gone.
    """
    data = encoded(value)
    _limit(connection, deadline)
    connection.sendall(len(data).to_bytes(_LENGTH_BYTES, "little") + data)


def receive(connection: socket.socket, most_bytes: float = math.inf, deadline: float = math.inf) -> Any:
    """The next message, whole by `deadline`.

    Raises `TimeoutError`, `EOFError` or another `OSError` if the other side is gone, and
    `MessageError` if what comes is too long or no message.
    """
    length = int.from_bytes(_exactly(connection, _LENGTH_BYTES, deadline), "little")
    if length > most_bytes:
        raise MessageError(f"a message of {length} bytes")
    return decoded(_exactly(connection, length, deadline))


def _exactly(connection: socket.socket, length: int, deadline: float) -> bytes:
    pieces = bytearray()
    while len(pieces) < length:
        _limit(connection, deadline)
        piece = connection.recv(min(length - len(pieces), _AT_A_TIME))
        if not piece:
            raise EOFError
        pieces += piece
    return bytes(pieces)


def _limit(connection: socket.socket, deadline: float) -> None:
    if deadline == math.inf:
        connection.settimeout(None)
        return
    left = deadline - clock.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def _tagged(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_tagged(key), _tagged(item)] for key, item in value.items()]}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, timedelta):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, (date, time)):
        return {type(value).__name__: value.isoformat()}
    return str(value)


_BY_TAG: Final[dict[str, Callable[[Any], Any]]] = {
    "tuple": tuple,
    "dict": dict,
    "bytes": bytes.fromhex,
    "timedelta": lambda parts: timedelta(*parts),
    "decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}


def _untagged(tagged: dict[str, Any]) -> Any:
    try:
        ((tag, value),) = tagged.items()
        return _BY_TAG[tag](value)
    except KeyError:
        raise ValueError("an unknown tag") from None
