"""Sessions in the shared databases, kept between statements: nothing that runs there can leave a trace."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from birdenv.databases._results import QueryError
from birdenv.databases.postgres._session import Session
from birdenv.databases.postgres.clones._clone_factory import open_reading
from birdenv.databases.postgres.clones._clone_pool import ClonePool
from birdenv.databases.postgres.loading._templates import TemplateCopies
from birdenv.databases.postgres.server._server import PostgresServer, ServerError

_MOST_KEPT: Final = 16  # sessions of this process that nobody uses at the moment


_T = TypeVar("_T")


class Readers:
    """Sessions that read in shared databases. Several threads may use them; a forked child gets none."""

    def __init__(self, server: PostgresServer, pool: ClonePool) -> None:
        self._server = server
        self._pool = pool
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._idle: list[tuple[TemplateCopies, Session]] = []  # the latest used last

    def use(self, copies: TemplateCopies, work: Callable[[Session], _T]) -> _T:
        """Let `work` use a session as it is at its beginning; once more if the server was lost meanwhile.

        Raises `ServerError` if the server is out of reach, or lost a second time.
        """
        for is_last in (False, True):
            session = self._borrow(copies)
            try:
                result = work(session)
            except BaseException:
                session.close()
                raise
            if not session.is_lost:
                self._give_back(copies, session)
                return result
            if isinstance(result, QueryError) and result.kind in ("timeout", "too_large"):
                self._pool.end_session(session.process)  # we left it, not the other way round
                return result
            if is_last:
                break
        raise ServerError(f"the PostgreSQL server at {self._server.shown} was lost while a statement ran")

    def close(self) -> None:
        """End the sessions that nobody uses."""
        with self._lock:
            kept, self._idle = self._idle, []
        if self._process == os.getpid():
            for _, session in kept:
                session.close()

    def _borrow(self, copies: TemplateCopies) -> Session:
        with self._lock:
            if self._process != os.getpid():
                self._process, self._idle = os.getpid(), []
            for index in range(len(self._idle) - 1, -1, -1):
                if self._idle[index][0] == copies:
                    _, session = self._idle.pop(index)
                    if session.is_well:
                        return session
                    session.close()
        return open_reading(self._server, copies, self._pool.reader(copies))

    def _give_back(self, copies: TemplateCopies, session: Session) -> None:
        session.reset()
        if session.is_lost:
            return
        with self._lock:
            self._idle.append((copies, session))
            oldest = self._idle.pop(0)[1] if len(self._idle) > _MOST_KEPT else None
        if oldest is not None:
            with suppress(OSError):
                oldest.close()
