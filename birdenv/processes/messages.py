"""Messages between a child process and its parent: frames, and two encodings of values.

A frame is a message preceded by its length. The function `packed` encodes plain values fast; `encoded` writes
JSON with tags for types that JSON does not have. Decoding never runs code from the message. Child processes
import this module, so it imports only the standard library.
"""

from __future__ import annotations

import io
import json
import math
import pickle
import socket
import struct
import time as clock
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

_LENGTH_BYTES: Final = 8
_AT_A_TIME: Final = 2**16
_SENT_AT_A_TIME: Final = 2**16
_ABOUT: Final = 1.01  # a wait may take this many times its limit


_NO_CLASSES: Final[Mapping[tuple[str, str], type]] = {}


class MessageError(ValueError):
    """The received data is not a valid message, or the message is not allowed at this point."""


class TimedSocket(socket.socket):
    """A socket with time limits. The kernel enforces the limits, which saves two system calls for each wait.

    A read or write that exceeds its limit raises `BlockingIOError`.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(fileno=descriptor)
        self._limits = {socket.SO_RCVTIMEO: 0.0, socket.SO_SNDTIMEO: 0.0}  # seconds; 0 for none

    def limit(self, which: int, seconds: float) -> None:
        """Set a time limit of about `seconds` for reads (`SO_RCVTIMEO`) or writes (`SO_SNDTIMEO`)."""
        known = self._limits[which]
        if not seconds <= known <= seconds * _ABOUT:
            whole = int(seconds)
            microseconds = int((seconds - whole) * 1e6) or (1 if 0 < seconds < 1 else 0)
            self.setsockopt(socket.SOL_SOCKET, which, struct.pack("ll", whole, microseconds))
            self._limits[which] = seconds


def send(connection: socket.socket, data: bytes, deadline: float = math.inf) -> None:
    """Send one frame. `deadline` is a value of `time.monotonic()`, and requires a `TimedSocket`.

    Raises `TimeoutError` at the deadline, or a different `OSError` if the other side has closed the
    connection.
    """
    frame = len(data).to_bytes(_LENGTH_BYTES, "little") + data
    sent = 0
    while sent < len(frame):
        _limit(connection, socket.SO_SNDTIMEO, deadline)
        try:
            sent += connection.send(memoryview(frame)[sent : sent + _SENT_AT_A_TIME])
        except BlockingIOError:
            raise TimeoutError from None


def receive(connection: socket.socket, most_bytes: float = math.inf, deadline: float = math.inf) -> bytes:
    """Receive the next frame, and return its message.

    The two sides must take turns, so it is an error if more than one frame has arrived.

    Args:
        connection: the socket.
        most_bytes: the maximum length of the message in bytes. A longer message is not read.
        deadline: a value of `time.monotonic()`, which requires a `TimedSocket`.

    Raises:
        TimeoutError: the deadline has passed.
        EOFError, OSError: the other side has closed the connection.
        MessageError: there is more than one frame, or the message is too long.
    """
    data = bytearray(_some(connection, _AT_A_TIME, deadline))
    while len(data) < _LENGTH_BYTES:
        data += _some(connection, _AT_A_TIME, deadline)
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    if length > most_bytes:
        raise MessageError(f"a message of {length} bytes is too long")
    end = _LENGTH_BYTES + length
    while len(data) < end:
        data += _some(connection, min(end - len(data), _AT_A_TIME), deadline)
    if len(data) > end:
        raise MessageError("more than one message")
    return bytes(memoryview(data)[_LENGTH_BYTES:])


def _some(connection: socket.socket, most: int, deadline: float) -> bytes:
    _limit(connection, socket.SO_RCVTIMEO, deadline)
    try:
        data = connection.recv(most)
    except BlockingIOError:
        raise TimeoutError from None
    if not data:
        raise EOFError
    return data


def _limit(connection: socket.socket, which: int, deadline: float) -> None:
    if isinstance(connection, TimedSocket):
        left = deadline - clock.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.limit(which, 0.0 if deadline == math.inf else left)
    elif deadline != math.inf:
        raise ValueError("a deadline needs a TimedSocket")


def packed(plain: Any) -> bytes:
    """Encode None, numbers, text, bytes, and containers of these, preserving all types."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.fast = True  # without the memo of packed objects, which takes most of the time
    pickler.dump(plain)
    return file.getvalue()


def unpacked(data: bytes, classes: Mapping[tuple[str, str], type] = _NO_CLASSES) -> Any:
    """Decode data that `packed` has encoded. The caller must check the structure of the value.

    Args:
        data: the encoded value.
        classes: the record types that can occur in the value, keyed by module and name. Creating a record
            must not run untrusted code.

    Raises:
        MessageError: the data was not encoded by `packed`.
    """
    try:
        return _PlainUnpickler(data, classes).load()
    except Exception as error:  # unpickling malformed data may raise almost anything
        raise MessageError(f"not plain values: {error}") from error


class _PlainUnpickler(pickle.Unpickler):
    def __init__(self, data: bytes, classes: Mapping[tuple[str, str], type]) -> None:
        super().__init__(io.BytesIO(data))
        self._classes = classes

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self._classes:
            return self._classes[module, name]
        raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")


def encoded(value: Any) -> bytes:
    """Encode None, numbers, text, bytes, Decimals, dates, times, and lists, tuples and dicts of these.

    Values of other types are converted to text.
    """
    return json.dumps(_tagged(value)).encode()


def decoded(data: bytes) -> Any:
    """Decode data that `encoded` has encoded. Raises `MessageError` if the data is not valid."""
    try:
        return json.loads(data, object_hook=_untagged)
    except (ValueError, RecursionError, ArithmeticError, TypeError) as error:
        raise MessageError(f"not a message: {error}") from error


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
