"""Run one statement on a non-blocking connection, with a deadline and a disk quota.

The connection is non-blocking, so that the waiting thread can also stop the statement. At the deadline, or
when the database has grown too much, the thread asks the server to cancel the statement. If that has no
effect within one second, the thread closes the connection. Received bytes are counted even before a row is
complete, as far as libpq reports them.

PostgreSQL has no disk quotas. Therefore the waiting thread checks the size of the clone's files from time to
time, and cancels a statement that exceeds the limit. The database can exceed the limit only by the amount
written between two checks. The data of a cancelled statement may stay in the files, but statements that only
read or free space can still run.
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
from typing import Any, Final

import psycopg
from psycopg.pq import ConnStatus
from psycopg.pq.abc import PGresult

from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES

MOST_GROWTH: Final = GROWTH_BYTES
"""Maximum bytes by which a clone may outgrow its template, as for an image of an SQLite file."""

LOCK_BYTES: Final = 2**17
"""Bytes that each lock in a clone counts as, because all sessions on a server share about 10,000 locks."""

_SELDOM: Final = 0.25  # seconds of running statements between two checks
_OFTEN: Final = 0.02  # the same, once half of the quota is used
_PAUSE: Final = 0.005  # seconds until an answer that has not arrived is checked again
_SLACK: Final = 16 * 2**20  # reading may add this much: free space maps and other files of the server


class DiskQuota:
    """The disk quota of a clone.

    Args:
        ask: a function that starts to measure by how many bytes the clone exceeds its template, and returns a
            future for the result.
    """

    def __init__(self, ask: Callable[[], Future[int]]) -> None:
        self._ask = ask
        self._asked: Future[int] | None = None
        self._left = _SELDOM
        self._due = 0.0
        self._allowed: int | None = MOST_GROWTH  # None after a stop, until the next check

    def begin(self) -> None:
        """Record that a statement is starting."""
        self._due = time.monotonic() + self._left

    def end(self) -> None:
        """Record that the statement has ended, and pause the timer for the next check until `begin`."""
        self._left = max(self._due - time.monotonic(), 0.0)

    def seconds_to_look(self) -> float:
        """Return the number of seconds until `is_beyond` must be called again."""
        return max(self._due - time.monotonic(), 0.0)

    def is_beyond(self) -> bool:
        """Return whether the running statement must be stopped because the clone exceeds its quota.

        Each excess is reported only once.
        """
        now = time.monotonic()
        if now < self._due:
            return False
        if self._asked is None:
            self._asked = self._ask()
        if not self._asked.done():
            self._due = now + _PAUSE
            return False
        asked, self._asked = self._asked, None
        if asked.exception() is not None:  # the server is lost: the statement itself will fail
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
    """A non-blocking connection that runs one statement at a time. Not thread-safe."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._libpq = connection.pgconn
        self._ready = select.poll()
        self._ready.register(self._libpq.socket, select.POLLIN)
        self.was_stopped = False
        """Whether the latest statement was cancelled for any reason, including `stop`."""
        self.was_late = False
        """Whether the latest statement was cancelled at its deadline."""
        self.was_overgrown = False
        """Whether the latest statement was cancelled because it wrote too much."""
        self.received = 0
        """A lower bound of the bytes received for the latest statement."""

    @property
    def is_lost(self) -> bool:
        """Return whether the connection to the server is lost."""
        return self._libpq.status != ConnStatus.OK

    @property
    def is_quiet(self) -> bool:
        """Return whether the connection is alive, and has received no unsolicited message from the server."""
        return not self.is_lost and not self._ready.poll(0)

    def answers(
        self, sql: bytes, seconds: float, most_bytes: float, *, script: bool, growth: DiskQuota | None = None
    ) -> Iterator[PGresult]:
        """Run SQL, and yield the server's answers. Rows arrive in several answers; the last one has no rows.

        Call `cut` if you do not consume all answers. If the connection is lost, iteration ends.

        Args:
            sql: one statement, or several if `script` is true.
            seconds: the time until the deadline.
            most_bytes: maximum size of a row in bytes.
            script: whether several statements are allowed; otherwise, the server refuses more than one.
            growth: the disk quota of the database; None for no quota.

        Raises:
            OverflowError: a row is far larger than `most_bytes`. The connection has been cut.
        """
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
                pass  # discard them, or libpq keeps them all
        except psycopg.OperationalError:
            self.cut()
        finally:
            if growth is not None:
                growth.end()

    def stop(self) -> None:
        """Ask the server to cancel the running statement. Its remaining answers must still be consumed."""
        self.was_stopped = True
        self._deadline = time.monotonic() + _GRACE_SECONDS
        with suppress(psycopg.Error, OSError):
            self._connection.cancel_safe(timeout=_GRACE_SECONDS)

    def close(self) -> None:
        """Close the connection to the server. Closing again does nothing."""
        self._connection.close()

    def cut(self) -> None:
        """Close the connection at once, without waiting for the server."""
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
        """Send a whole message, even if it is so long that the server sends something before it reads on."""
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
        """Wait for the server. If it does not answer in time, cut the connection and return False."""
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
