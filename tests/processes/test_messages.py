"""Messages between a child process and its owner: what survives the way, and what is no message."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from decimal import Decimal
from typing import Any

import pytest

from birdenv.processes.messages import MessageError, TimedSocket, decoded, encoded, receive, send

VALUES = [
    None,
    True,
    1,
    10**30,
    1.5,
    -0.0,
    math.inf,
    "é\0\ud800\n",
    b"\0\xff",
    Decimal("1.50"),
    Decimal("-Infinity"),
    date(2024, 1, 2),
    datetime(2024, 1, 2, 3, 4, 5, 6),
    datetime(2024, 1, 2, tzinfo=UTC),
    clock_time(1, 2, 3, 4),
    timedelta(-1, 2, 3),
    [(1, "a"), (None, [2.5])],
    {"a": {1: (b"",)}, ("b",): None},
    {"decimal": "1"},
]

NOT_MESSAGES = [
    b"",
    b"nonsense",
    b"\xff",
    b"[" * 100_000,
    b"1" * 5_000,
    b'{"no tag": 1}',
    b'{"decimal": "x"}',
    b'{"bytes": 1}',
    b'{"dict": [1]}',
    b'{"dict": [[[], 1]]}',
    b'{"timedelta": [1e99]}',
    b'{"date": "x"}',
    b'{"tuple": [], "dict": []}',
    b"{}",
]


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, theirs = socket.socketpair()
    ours = TimedSocket(near.detach())
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_there_and_back(value: Any) -> None:
    found = decoded(encoded(value))
    assert (found, type(found), repr(found)) == (value, type(value), repr(value))


def test_a_type_of_its_own_becomes_text() -> None:
    assert decoded(encoded([{1}, memoryview(b"a")])) == ["{1}", b"a"]


@pytest.mark.parametrize("data", NOT_MESSAGES, ids=lambda data: repr(data[:20]))
def test_what_is_no_message(data: bytes) -> None:
    with pytest.raises(MessageError):
        decoded(data)


def test_a_message_that_is_too_long_is_not_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    send(theirs, b"x" * 102)
    with pytest.raises(MessageError, match="102 bytes"):
        receive(ours, most_bytes=101)


def test_who_sends_bit_by_bit_gets_no_more_time(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(bytes([9] + 7 * [0]) + b"1")
    with pytest.raises(TimeoutError):
        receive(ours, deadline=time.monotonic() + 0.2)
    with pytest.raises(TimeoutError):
        receive(ours, deadline=time.monotonic() - 1)


def test_who_does_not_read_is_not_waited_for(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(TimeoutError):
        send(pair[0], b"x" * 10_000_000, time.monotonic() + 0.2)


def test_a_closed_connection(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"\1")
    theirs.close()
    with pytest.raises(EOFError):
        receive(ours)
