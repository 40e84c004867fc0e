"""A pool of clones that a thread creates in advance, so that episodes do not have to wait for them.

The thread first creates the clones that callers are waiting for, then drops clones that are no longer needed,
and then creates clones of all templates used so far, until `warm` clones of each are ready.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from birdenv.databases.postgres.clones._clone_factory import Clone, CloneFactory, Login
from birdenv.databases.postgres.loading._templates import TemplateCopies
from birdenv.databases.postgres.server._server import PostgresServer, ServerError
from birdenv.errors import BirdenvError

_CLOSING_SECONDS: Final = 120.0  # on a slow disk, dropping a database takes seconds
_T = TypeVar("_T")


class ClonePool:
    """A thread-safe pool of clones. A forked child starts with an empty pool.

    Methods raise `ServerError` if the server is lost or full.

    Args:
        server: the server.
        warm: number of spare clones to keep for each template after its first use; 0 to create clones only on
            demand.
    """

    def __init__(self, server: PostgresServer, warm: int) -> None:
        self._server = server
        self._warm = warm
        self._process = 0
        self._begin()

    def reader(self, copies: TemplateCopies) -> Login:
        """Create the shared databases of a template if necessary, and return the login for them."""
        return self._attempt(lambda: self._workshop.reader(copies)).result()

    def take(self, copies: TemplateCopies) -> Clone:
        """Return an unused clone of a template, from the pool if possible."""
        self._check_process()
        with self._changed:
            ready = self._ready.setdefault(copies, deque())
            while ready:
                clone = ready.popleft()
                self._changed.notify()
                if clone.session is not None and clone.session.is_well:
                    return clone
                self._left.append(clone)
        return self._attempt(lambda: self._workshop.clone(copies)).result()

    def copy(self, frozen: Clone) -> Clone:
        """Copy `frozen`, a clone without a session, and return the new clone."""
        return self._attempt(lambda: self._workshop.clone_of(frozen)).result()

    def leave(self, clone: Clone) -> None:
        """Release a clone. The pool's thread will soon drop it."""
        if self._process == os.getpid():
            with self._changed:
                self._left.append(clone)
                self._changed.notify()

    def end_session(self, process: int) -> None:
        """End an unresponsive session. If the server is lost, do nothing.

        `process` is the session's process id on the server.
        """
        with suppress(ServerError):
            self._attempt(lambda: self._workshop.end_session(process)).result()

    def let_in(self, clone: Clone) -> bool:
        """Reset the login of a clone's owner for a new session. Return False if the clone was lost."""
        return self._have_done(lambda: self._workshop.let_in(clone)).result()

    def is_living(self, clone: Clone) -> bool:
        """Return whether the server has been running without interruption since the clone was created."""
        return self._have_done(lambda: self._workshop.is_living(clone)).result()

    def growth(self, clone: Clone) -> Future[int]:
        """Measure by how many bytes a clone exceeds its template.

        The thread does this before its other work.
        """
        return self._attempt(lambda: self._workshop.growth(clone), at_once=True)

    def close(self) -> None:
        """Drop all clones and snapshots, and end the thread."""
        if self._process != os.getpid():
            return
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSING_SECONDS)

    def _begin(self) -> None:
        self._process = os.getpid()
        self._workshop = CloneFactory(self._server)
        self._changed = threading.Condition()
        self._asked: deque[Callable[[], None]] = deque()
        self._left: deque[Clone] = deque()
        self._ready: dict[TemplateCopies, deque[Clone]] = {}
        self._is_closing = False
        self._thread: threading.Thread | None = None

    def _check_process(self) -> None:
        if self._process != os.getpid():
            self._begin()

    def _attempt(self, work: Callable[[], _T], *, at_once: bool = False) -> Future[_T]:
        return self._have_done(lambda: self._workshop.attempt(work), at_once=at_once)

    def _have_done(self, work: Callable[[], _T], *, at_once: bool = False) -> Future[_T]:
        self._check_process()
        answer: Future[_T] = Future()

        def job() -> None:
            try:
                answer.set_result(work())
            except BaseException as error:
                answer.set_exception(error)

        with self._changed:
            if self._is_closing:
                answer.set_exception(ValueError("this source of databases is closed"))
                return answer
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="birdenv clones", daemon=True)
                self._thread.start()
            if at_once:
                self._asked.appendleft(job)
            else:
                self._asked.append(job)
            self._changed.notify()
        return answer

    def _work(self) -> None:
        while True:
            with self._changed:
                while (job := self._next_job()) is None:
                    if self._is_closing:
                        break
                    self._changed.wait()
            if job is None:
                self._workshop.close()
                return
            job()

    def _next_job(self) -> Callable[[], Any] | None:
        if self._asked:
            return self._asked.popleft()
        if self._is_closing:
            return None
        if self._left:
            clone = self._left.popleft()
            return lambda: self._drop(clone)
        for copies, ready in self._ready.items():
            if len(ready) < self._warm:
                return lambda copies=copies: self._refill(copies)  # type: ignore[misc]
        return None

    def _drop(self, clone: Clone) -> None:
        if clone.session is not None:
            clone.session.close()
        with suppress(BirdenvError):  # a later sweep drops it
            self._workshop.attempt(lambda: self._workshop.drop(clone))

    def _refill(self, copies: TemplateCopies) -> None:
        try:
            clone = self._workshop.attempt(lambda: self._workshop.clone(copies))
        except BirdenvError:  # the next caller who needs a clone gets the error
            with self._changed:
                self._ready.pop(copies, None)
            return
        with self._changed:
            self._ready.setdefault(copies, deque()).append(clone)
