"""A pool of so many workers, which users keep between their uses until somebody needs one."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from birdenv.processes._pool import WorkerPool
from birdenv.processes._process import Process

GivesUp: TypeAlias = "weakref.WeakMethod[Callable[[], None]]"
"""Releases a worker unless its user is about to use it; called at most once, from any thread."""


class SharedWorker(Process):
    """A process of a shared pool, and what the pool knows of it.

    Attributes:
        thread: for which it is at work; None while it is not.
        gives_up: how its user can do without it, if it can.
        turn: when it was last kept: the number of that among all.
    """

    thread: int | None = None
    gives_up: GivesUp | None = None
    turn: int = 0


W = TypeVar("W", bound=SharedWorker)

_SOMEBODY: Final = 0  # no thread's number
_LOOK_AGAIN: Final = 1.0  # seconds after which who waits looks again, whatever it was told


class SharedPool(WorkerPool[W]):
    """At most so many workers; a user may keep one in which something of its own is.

    Who needs a worker gets, in this order: an idle one; a new one, up to the bound; one that another user
    keeps and can give up, from whom has not used it longest; else the next that comes back from work. Where
    nobody is at work that could come back, all workers are with users that cannot give them up: then one is
    started beyond the bound, for to wait could be to wait for oneself.

    Any thread may use it. `resume`, `keep`, `release` or `lost` is called for each worker that was leased.
    """

    def __init__(self, start: Callable[[], W], most: int) -> None:
        """Start no worker yet; start `most` at most, but where nobody could give one back."""
        os.register_at_fork(after_in_child=self._renew)
        super().__init__(start, most_idle=most)
        self._most = most
        self._renew()

    def _renew(self) -> None:
        """Forget everything: in a forked child, workers and waiting threads are the parent's."""
        self._change = threading.Condition(threading.Lock())
        self._all: weakref.WeakSet[W] = weakref.WeakSet()
        self._starting: set[int] = set()  # threads that start one
        self._turns = 0
        self._waiting: set[int] = set()  # threads

    def lease(self) -> W:
        """Give a worker, after a wait if need be. Raises `InputError` if none can be started."""
        me = threading.get_ident()
        while True:
            with self._change:
                self._starting.discard(me)  # which Ctrl-C may have left
                worker = self._alive_idle()
                if worker is not None:
                    worker.thread = me
                    return worker
                give_up = None
                if self._has_room() or ((give_up := self._next_kept()) is None and not self._others_work()):
                    self._starting.add(me)
                    break
                if give_up is None:
                    self._wait(me)
            if give_up is not None:
                give_up()
        return self._started(me)

    def release(self, worker: W) -> None:
        """Take back a worker that has nothing to do."""
        with self._change:
            self._rest(worker)
            super().release(worker)

    def keep(self, worker: W, gives_up: GivesUp | None) -> None:
        """Note that a worker stays with its user, who does not use it now.

        Args:
            worker: it was leased or resumed.
            gives_up: how its user can do without it; None if it cannot.
        """
        with self._change:
            self._turns += 1
            worker.gives_up, worker.turn = gives_up, self._turns
            self._rest(worker)

    def resume(self, worker: W) -> None:
        """Note that a worker that was kept is at work again."""
        with self._change:
            worker.thread, worker.gives_up = threading.get_ident(), None

    def lost(self, worker: W) -> None:
        """Note that a leased worker was killed."""
        with self._change:
            self._all.discard(worker)
            self._rest(worker)

    def _rest(self, worker: W) -> None:
        worker.thread = None
        if self._waiting:
            self._change.notify()

    def count(self) -> int:
        """Count the processes that are there."""
        with self._change:
            return sum(worker.is_alive for worker in self._all)

    def _wait(self, thread: int) -> None:
        self._waiting.add(thread)
        try:
            self._change.wait(_LOOK_AGAIN)
        finally:
            self._waiting.discard(thread)

    def _alive_idle(self) -> W | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            worker.close()
        return None

    def _has_room(self) -> bool:
        room = self._most - len(self._starting)
        return len(self._all) < room or sum(worker.is_alive for worker in self._all) < room

    def _next_kept(self) -> Callable[[], None] | None:
        """How a worker can be had that another user keeps, the one that was not used longest."""
        kept = [worker for worker in self._all if worker.gives_up is not None]
        for worker in sorted(kept, key=lambda each: each.turn):
            gives_up, worker.gives_up = worker.gives_up, None
            give_up = None if gives_up is None else gives_up()
            if give_up is not None:
                worker.thread = _SOMEBODY  # until it is given up, resumed or lost
                return give_up
        return None

    def _others_work(self) -> bool:
        """Whether a thread that does not wait itself is at work, or about to be."""
        still = self._waiting | {threading.get_ident()}
        at_work = {worker.thread for worker in self._all} - {None}
        return not still.issuperset(self._starting | at_work)

    def _started(self, thread: int) -> W:
        try:
            worker = self._start()
            with self._change:
                self._all.add(worker)
                worker.thread = thread
            return worker
        finally:
            with self._change:
                self._starting.discard(thread)
                self._change.notify()
