"""Work that may take long (SQL, models), in threads that the end of the process does not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Final, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

_idle: Final[list[SimpleQueue[Callable[[], None]]]] = []  # the doors of threads that have nothing to do


async def in_thread(act: Callable[[], T]) -> T:
    """Return what a function returns, from another thread: one that has nothing to do, or a new one."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():  # nobody waits any more
            return
        if error is None:
            future.set_result(value)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = act()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, value, error)

    try:
        door = _idle.pop()
    except IndexError:
        door = SimpleQueue()
        threading.Thread(target=_serve, args=(door,), daemon=True).start()
    door.put(run)
    return await future


def _serve(door: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        door.get()()
        _idle.append(door)


class Turnstile:
    """Lets the work on each dialogue through one by one: a busy one has one thread, and waits for itself."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, dialogue: str, act: Callable[[], T]) -> T:
        """Return what a function returns, after all that came before it to this dialogue."""
        lock = self._locks.get(dialogue)
        if lock is None:
            lock = self._locks[dialogue] = asyncio.Lock()
        async with lock:
            return await in_thread(act)
