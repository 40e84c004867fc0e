"""A lock that allows only one move at a time in an episode, and threads for the moves of async callers."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from birdenv.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

_MOST_THREADS: Final = 256
"""The maximum number of concurrent moves. Threads mostly wait for a model or a database, so many are fine."""


@cache
def _threads() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_MOST_THREADS, "birdenv-move")


os.register_at_fork(after_in_child=_threads.cache_clear)  # the threads do not exist in a forked child


class OneMove:
    """A context manager that lets only one caller at a time make a move in an episode."""

    def __init__(self) -> None:
        self._taken = threading.Lock()

    def __enter__(self) -> None:
        """Take the lock, or raise `InputError` if another move is under way."""
        if not self._taken.acquire(blocking=False):
            raise InputError("another move is under way in this episode: wait until it is finished")

    def __exit__(self, *exc: object) -> None:
        self._taken.release()

    async def in_threads(self, play: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Play a move without blocking the event loop, and return the result of `play`.

        `play` is called as `play(thread, *arguments)`. To run a function in a separate thread, it awaits
        `thread(function, ...)`. The function sees the caller's context variables. If the caller is cancelled,
        a running function still finishes, and other moves are refused until then.

        Args:
            play: a coroutine function that plays the move.
            *arguments: additional arguments for `play`.

        Raises:
            InputError: another move is under way.
        """
        import asyncio  # a late import, which saves a tenth of the start-up time of a player process

        running: asyncio.Future[Any] | None = None

        async def thread(function: Callable[..., Any], *values: Any) -> Any:
            nonlocal running
            context = contextvars.copy_context()
            running = asyncio.get_running_loop().run_in_executor(_threads(), context.run, function, *values)
            return await asyncio.shield(running)

        self.__enter__()
        try:
            return await play(thread, *arguments)
        finally:
            if running is None or running.done():
                self._taken.release()
            else:
                running.add_done_callback(lambda _: self._taken.release())
