"""Sessions for episodes: in a shared database while the episode only reads, and after that in a clone.

Sessions in shared databases are reused, because statements can leave nothing behind there. A `Snapshot` is a
database without sessions that contains a clone's data at one moment.
"""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from birdenv.databases._results import Allowance, Checkpoint, QueryError, QueryResult, Result, RowSink
from birdenv.databases.postgres._connection import DiskQuota
from birdenv.databases.postgres._session import Session, SessionRefusedError, late
from birdenv.databases.postgres.clones._clone_factory import Clone, open_clone, open_reading
from birdenv.databases.postgres.clones._clone_pool import ClonePool
from birdenv.databases.postgres.loading._templates import TemplateCopies
from birdenv.databases.postgres.server._server import PostgresServer, ServerError
from birdenv.sql import may_write

_MOST_KEPT: Final = 16  # maximum number of idle sessions of this process


_T = TypeVar("_T")


class Readers:
    """A thread-safe pool of sessions in the shared databases. A forked child starts with an empty pool."""

    def __init__(self, server: PostgresServer, pool: ClonePool) -> None:
        self._server = server
        self._pool = pool
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._idle: list[tuple[TemplateCopies, Session]] = []  # the most recently used last

    def use(self, copies: TemplateCopies, work: Callable[[Session], _T]) -> _T:
        """Call `work` with a fresh session, and return its result. Retry once if the connection is lost.

        Raises `ServerError` if the server cannot be reached, or if the connection is lost again.
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
                self._pool.end_session(session.process)  # we cut the connection
                return result
            if is_last:
                break
        raise ServerError(f"the PostgreSQL server at {self._server.shown} was lost while a statement ran")

    def close(self) -> None:
        """End all idle sessions."""
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


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Snapshot(Checkpoint):
    """A checkpoint on PostgreSQL, which can be restored by any episode on the same template in this process.

    Its database is dropped when the snapshot is garbage-collected. Therefore a snapshot cannot be pickled.

    Attributes:
        version: the template and its copies.
        clone: a clone without a session that holds the contents; None if the episode has written nothing.
        size: the size of the clone on the server's disk in bytes; 0 if there is no clone.
        pages: always empty.
    """

    version: TemplateCopies
    clone: Clone | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> str:
        raise TypeError("a checkpoint of a PostgreSQL database cannot leave the process that created it")


def snapshot(copies: TemplateCopies, clone: Clone | None, size: int, pool: ClonePool) -> Snapshot:
    """Return a checkpoint with the contents of `clone`, and take ownership of `clone`.

    If `clone` is None, the checkpoint has the contents of the template.
    """
    made = Snapshot(copies, size, {}, clone)
    if clone is not None:
        weakref.finalize(made, pool.leave, clone).atexit = False  # the pool drops all clones when it closes
    return made


_ENDED: Final = "; the session was ended, and its uncommitted changes are lost"
_NAME: Final = "birdenv_query"
_BEGIN: Final = "BEGIN TRANSACTION READ ONLY; SELECT 1"  # after a first query it cannot be made writable
_END: Final = "ROLLBACK"
_BEGIN_INSIDE: Final = f"SAVEPOINT {_NAME}; SET TRANSACTION READ ONLY"
_END_INSIDE: Final = f"ROLLBACK TO SAVEPOINT {_NAME}; RELEASE SAVEPOINT {_NAME}"
_MOST_MOVED: Final = 32
_TRANSACTION: Final = "SELECT pg_catalog.txid_current(); COMMIT AND CHAIN; "
_OBJECTS: Final = (
    "SELECT pg_catalog.count(pg_catalog.lo_unlink(pg_catalog.lo_create(0)))"
    " FROM pg_catalog.generate_series(1, {})"
)


class PrivateClone:
    """The clone of one episode, and the session in it.

    Methods raise `ServerError` if the server is lost. If only the session ends, uncommitted changes are lost,
    and the next statement runs in a new session.
    """

    def __init__(self, server: PostgresServer, pool: ClonePool, clone: Clone) -> None:
        self._server = server
        self._pool = pool
        self.clone = clone
        self._growth = DiskQuota(lambda: pool.growth(clone))
        self._has_waste = False

    def move_counters(self) -> None:
        """Advance the server's transaction and object counters by random amounts.

        All databases share these counters, and agents can read them. If they were not changed, an agent could
        compare them before and after grading to find out how much the gold SQL writes.
        """
        transactions, objects = secrets.randbelow(_MOST_MOVED), secrets.randbelow(_MOST_MOVED)
        if self.clone.session is not None:
            move = _TRANSACTION * transactions + _OBJECTS.format(objects)
            self.clone.session.command(f"BEGIN; {move}; COMMIT")

    def execute(self, sql: str, allowance: Allowance) -> Result:
        """Run one statement of any kind as the owner of the clone."""
        to_its_end = may_write(sql)
        return self._on_session(lambda session: self._execute(session, sql, allowance, to_its_end))

    def query(self, sql: str, allowance: Allowance, sink: RowSink | None) -> Result:
        """Run one read-only query in the episode's session. Refuse statements that could change anything."""
        return self._on_session(lambda session: run_query(session, sql, allowance, sink))

    def roll_back(self) -> None:
        """Roll back any open transaction, without ending the session."""
        session = self.clone.session
        if session is not None and session.in_transaction:
            session.command("ROLLBACK")

    def in_new_session(self, work: Callable[[Session], _T | QueryError]) -> _T | QueryError:
        """Call `work` with a new session, which sees only committed data, and return its result."""
        session = self._open()
        if isinstance(session, QueryError):
            return session
        with closing(session):
            result = work(session)
            if session.is_lost and isinstance(result, QueryError):
                self._replace(session, result)
            return result

    def disconnect(self) -> Clone:
        """End the session, and return the clone."""
        if self.clone.session is not None:
            self.clone.session.close()
            self.clone.session = None
        return self.clone

    def leave(self) -> None:
        """End the session, and release the clone."""
        self._pool.leave(self.disconnect())

    def _on_session(self, work: Callable[[Session], Result]) -> Result:
        session = self.clone.session
        if session is None or session.is_lost:
            opened = self._open()
            if isinstance(opened, QueryError):
                return opened
            session = self.clone.session = opened
        if self._has_waste and not session.in_transaction:
            session.command("VACUUM")
            self._has_waste = False
        session.growth = self._growth
        result = work(session)
        if session.is_overgrown:  # the statement's rows still occupy space, although nobody sees them
            self._has_waste = True
        return self._crash_error(session, result) if session.is_lost else result

    def _open(self) -> Session | QueryError:
        """Reset the owner's login, which the agent may have changed, and open a new session.

        If the server is running but still refuses the session, the agent is responsible, so the result is an
        error.
        """
        if not self._pool.let_in(self.clone):
            raise self._loss()
        try:
            return open_clone(self._server, self.clone)
        except SessionRefusedError as error:
            return QueryError("engine", f"cannot open a new session in this database: {error}")

    def _execute(self, session: Session, sql: str, allowance: Allowance, to_its_end: bool) -> Result:
        if to_its_end or not session.in_transaction:
            return session.run(sql, allowance, to_its_end=to_its_end)
        # Stopping a query after too many rows must not abort the transaction that it is part of.
        failure = session.command(f"SAVEPOINT {_NAME}")
        if failure is not None:
            return failure
        result = session.run(sql, allowance)
        if isinstance(result, QueryResult) and result.truncated:
            session.command(_END_INSIDE)
        elif isinstance(result, QueryResult):
            session.command(f"RELEASE SAVEPOINT {_NAME}")
        return result

    def _crash_error(self, session: Session, result: Result) -> Result:
        self._replace(session, result)
        if isinstance(result, QueryError):
            return replace(result, message=result.message + _ENDED)
        return result

    def _replace(self, session: Session, result: Result) -> None:
        """End a session that we cut off. If it was lost otherwise, check that the server still runs."""
        if isinstance(result, QueryResult) or result.kind in ("timeout", "too_large", "denied"):
            self._pool.end_session(session.process)
        elif not self._pool.is_living(self.clone):
            raise self._loss()

    def _loss(self) -> ServerError:
        return ServerError(f"the PostgreSQL server at {self._server.shown} was lost during an episode")


def run_query(session: Session, sql: str, allowance: Allowance, sink: RowSink | None) -> Result:
    """Run one read-only query in the open transaction, or in a new transaction if none is open."""
    inside = session.in_transaction
    failure = session.command(_BEGIN_INSIDE if inside else _BEGIN)
    if failure is not None:
        return failure
    # A cursor accepts only one plain query, and nothing that writes, not even to a temporary table.
    declared = session.run(f"DECLARE {_NAME} NO SCROLL CURSOR FOR {sql}", allowance)
    if isinstance(declared, QueryError):
        result: Result = _no_plain_query(declared)
    else:
        left = max(allowance.seconds - declared.elapsed, 0.001)
        result = session.run(sql, replace(allowance, seconds=left), sink)
        if isinstance(result, QueryError) and result.kind == "timeout":
            result = replace(late(allowance), elapsed=declared.elapsed + result.elapsed)
    session.command(_END_INSIDE if inside else _END)
    return result


def _no_plain_query(error: QueryError) -> QueryError:
    is_about_kind = "0A000" in error.message or ("42601" in error.message and "INTO" in error.message)
    return replace(error, kind="denied") if is_about_kind and error.kind != "missing" else error
