"""Play the moves of players at human speed, and run slow functions in threads."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from birdenv.dialogue import Move
from birdenv.studies.study._running_dialogue import RunningDialogue
from birdenv.studies.study._study import Study

T = TypeVar("T")


async def in_thread(act: Callable[[], T]) -> T:
    """Call a function in a new daemon thread, and return the function's result.

    Unlike a thread started by `asyncio.to_thread`, a daemon thread does not delay the server's exit while a
    player thinks.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():  # nobody waits for the result
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
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, daemon=True).start()
    return await future


class Turnstile:
    """Runs functions that change a dialogue one at a time, so that a dialogue never occupies two threads."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, dialogue: str, act: Callable[[], T]) -> T:
        """Wait for all earlier functions for a dialogue, then run `act` in a thread; return its result."""
        lock = self._locks.get(dialogue)
        if lock is None:
            lock = self._locks[dialogue] = asyncio.Lock()
        async with lock:
            return await in_thread(act)


_READING: Final = 1.0  # seconds before a player seems to type
_log = logging.getLogger("birdenv.studies")


class Turns:
    """Asks the players in dialogues for moves, with one asyncio task per dialogue.

    Args:
        study: the study.
        turnstile: the object that runs the moves in each dialogue one at a time.
        tell_typing: a function that tells people that their partner has begun or stopped typing.
    """

    def __init__(
        self, study: Study, turnstile: Turnstile, tell_typing: Callable[[Iterable[str], bool], None]
    ) -> None:
        self._study = study
        self._turnstile = turnstile
        self._tell_typing = tell_typing
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()

    def take(self, room: RunningDialogue) -> None:
        """Start a background task that asks the players in a dialogue for moves until no player moves."""
        id = room.stored.id
        if not room.has_players:
            return
        if id in self._tasks:
            self._again.add(id)
        else:
            self._tasks[id] = asyncio.create_task(self._turn(room))

    async def stop(self) -> None:
        """Cancel all turns, and wait until they have ended."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _turn(self, room: RunningDialogue) -> None:
        id = room.stored.id
        try:
            while True:
                self._again.discard(id)
                found = await in_thread(room.next_move)
                if found is None:
                    await asyncio.to_thread(self._study.settle, room)
                    if id in self._again:
                        continue
                    break
                seat, move = found
                await self._seem_to_type(room, move)
                await self._turnstile.run(id, partial(self._study.play_for, room, seat, move))
        except Exception:
            _log.exception("the player's turn in %s failed", id)
        finally:
            del self._tasks[id]

    async def _seem_to_type(self, room: RunningDialogue, move: Move) -> None:
        speed = self._study.config.typing_speed
        if speed is None:
            return
        people = list(self._study.store.seated(room.stored.id).values())
        await asyncio.sleep(_READING)
        self._tell_typing(people, True)
        await asyncio.sleep(len(move.data) / speed if isinstance(move.data, str) else _READING)
        self._tell_typing(people, False)
