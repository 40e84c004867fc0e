"""Work that may take long (SQL, models), in threads that the end of the process does not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


async def in_thread(act: Callable[[], T]) -> T:
    """Return what a function returns, from a thread of its own."""
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

    threading.Thread(target=run, daemon=True).start()
    return await future


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
