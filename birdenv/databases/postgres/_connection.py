"""One statement on a connection: sent, waited for until its deadline, its answers handed on as they come.

libpq is driven without blocking, so that the one thread that waits is also the one that says stop: at the
deadline, or when the database has grown too much, the server is asked to cancel, and a second later the
connection is cut. What a row takes is counted on its way in, as far as libpq shows that before it has all of
it; what comes in one go is counted after.

PostgreSQL has no quota for a database. So whoever waits for a statement looks now and then at the size of the
clone's files, and has the statement cancelled that takes them too far. How far that goes beyond the limit is
what can be written between two looks. What a statement that was stopped leaves in the files may stay there:
reading goes on then, and so does whatever makes room.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import termios
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult


MOST_GROWTH: Final = GROWTH_BYTES
"""Bytes that a clone may take beyond its template, as an image of an SQLite file may."""

LOCK_BYTES: Final = 2**17
"""What a lock in a clone counts for: all sessions of a server share one table of locks, some ten thousand."""

_SELDOM: Final = 0.25  # seconds of running statements between two looks
_OFTEN: Final = 0.02  # the same, once half of the room is taken
_PAUSE: Final = 0.005  # until an answer that is not there yet is waited for again
_SLACK: Final = 16 * 2**20  # what reading may leave: maps of free space, and other things of the server's


class DiskQuota:
    """The disk quota of a clone; `ask` lets another thread find out its growth in bytes."""

    def __init__(self, ask: Callable[[], Future[int]]) -> None:
        self._ask = ask
        self._asked: Future[int] | None = None
        self._left = _SELDOM
        self._due = 0.0
        self._allowed: int | None = MOST_GROWTH  # None after a stop, until the next look

    def begin(self) -> None:
        """A statement starts."""
        self._due = time.monotonic() + self._left

    def end(self) -> None:
        """Note that the look has ended. Its duration decides when the next one is due."""
        self._left = max(self._due - time.monotonic(), 0.0)

    def seconds_to_look(self) -> float:
        """Return the seconds until `is_beyond` has to be asked again."""
        return max(self._due - time.monotonic(), 0.0)

    def is_beyond(self) -> bool:
        """Return whether the statement that runs has to be stopped; says so once."""
        now = time.monotonic()
        if now < self._due:
            return False
        if self._asked is None:
            self._asked = self._ask()
        if not self._asked.done():
            self._due = now + _PAUSE
            return False
        asked, self._asked = self._asked, None
        if asked.exception() is not None:  # no server: the statement itself will say so
            self._due = now + _SELDOM
            return False
        grown = asked.result()
        self._due = now + (_OFTEN if grown > MOST_GROWTH / 2 else _SELDOM)
        allowed = grown + _SLACK if self._allowed is None else min(self._allowed, grown + _SLACK)
        self._allowed = max(allowed, MOST_GROWTH)
        if grown <= self._allowed:
            return False
        self._allowed = None
        return True


_GRACE_SECONDS: Final = 1.0  # between asking the server to cancel and cutting the connection
_ROWS_TOGETHER: Final = 256
_SLACK_BYTES: Final = 2**20


class NonblockingConnection:
    """A connection that runs one statement after another; used by one thread at a time."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._libpq = connection.pgconn
        self._ready = select.poll()
        self._ready.register(self._libpq.socket, select.POLLIN)
        self.was_stopped = False
        """Whether the latest statement was cancelled, for either of these reasons or by `stop`."""
        self.was_late = False
        """Whether its deadline was why."""
        self.was_overgrown = False
        """Whether what it wrote was why."""
        self.received = 0
        """Bytes that came in for it, at least."""

    @property
    def is_lost(self) -> bool:
        """Return whether the connection is gone."""
        from psycopg.pq import ConnStatus

        return self._libpq.status != ConnStatus.OK

    @property
    def is_quiet(self) -> bool:
        """Return whether the connection is there and nothing has come in that nobody asked for."""
        return not self.is_lost and not self._ready.poll(0)

    def answers(
        self, sql: bytes, seconds: float, most_bytes: float, *, script: bool, growth: DiskQuota | None = None
    ) -> Iterator[PGresult]:
        """Run a text and give the server's answers; rows come in several, the last of them without any.

        `script`: the text may hold several statements; otherwise the server refuses more than one. Whoever
        does not take all answers has to call `cut`. Ends without another answer when the connection is lost.
        Raises `OverflowError`, and cuts the connection, for a row that takes far more than `most_bytes`.
        """
        import psycopg

        self.was_stopped = self.was_late = self.was_overgrown = False
        self.received = 0
        self._most = 2 * most_bytes + _SLACK_BYTES  # bytes are sent as two characters each
        self._deadline = time.monotonic() + seconds
        self._growth = growth
        if growth is not None:
            growth.begin()
        try:
            if script:
                self._libpq.send_query(sql)
            else:
                self._libpq.send_query_params(sql, None)
                self._libpq.set_chunked_rows_mode(_ROWS_TOGETHER)
            self._flush()
            while (answer := self._next()) is not None:
                yield answer
            while self._libpq.notifies():
                pass  # libpq would keep them all
        except psycopg.OperationalError:
            self.cut()
        finally:
            if growth is not None:
                growth.end()

    def stop(self) -> None:
        """Ask the server to stop the statement that runs; its remaining answers are still to be taken."""
        import psycopg

        self.was_stopped = True
        self._deadline = time.monotonic() + _GRACE_SECONDS
        with suppress(psycopg.Error, OSError):
            self._connection.cancel_safe(timeout=_GRACE_SECONDS)

    def close(self) -> None:
        """End the connection to the server. Closing again does nothing."""
        self._connection.close()

    def cut(self) -> None:
        """Break the connection off, whatever the server does."""
        if not self._connection.closed:
            with suppress(OSError), socket.socket(fileno=os.dup(self._libpq.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _next(self) -> PGresult | None:
        before = self.received
        while self._libpq.is_busy():
            if not self._wait():
                return None
            self.received += self._waiting_bytes()
            if self.received - before > self._most:
                self.was_stopped = True
                self.cut()
                raise OverflowError
            self._libpq.consume_input()
        return self._libpq.get_result()

    def _flush(self) -> None:
        """Send all of a long text; the server may have to tell something before it takes more."""
        while self._libpq.flush():
            self._ready.modify(self._libpq.socket, select.POLLIN | select.POLLOUT)
            try:
                if not self._wait():
                    return
            finally:
                self._ready.modify(self._libpq.socket, select.POLLIN)
            if self._waiting_bytes():
                self._libpq.consume_input()

    def _wait(self) -> bool:
        """Wait for the server. Return False if it did not answer in time, and the connection was cut."""
        while True:
            growth = None if self.was_stopped else self._growth
            if growth is not None and growth.is_beyond():
                self.was_overgrown = True
                self.stop()
                continue
            left = self._deadline - time.monotonic()
            pause = left if growth is None else min(left, growth.seconds_to_look())
            if left > 0 and self._ready.poll(pause * 1000 + 1):
                return True
            if time.monotonic() < self._deadline:
                continue
            if self.was_stopped:
                self.cut()
                return False
            self.was_late = True
            self.stop()

    def _waiting_bytes(self) -> int:
        counted = fcntl.ioctl(self._libpq.socket, termios.FIONREAD, b"\0\0\0\0")
        return int.from_bytes(counted, "little")
