"""The turns of players in the dialogues of a study, at the speed of a person."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from birdenv.dialogue import Move
from birdenv.studies._threads import Turnstile, in_thread
from birdenv.studies.study._running_dialogue import RunningDialogue
from birdenv.studies.study._study import Study

_READING: Final = 1.0  # seconds before a player seems to type
_log = logging.getLogger("birdenv.studies")


class Turns:
    """Asks the players of dialogues, each dialogue in a task of its own.

    Args:
        study: the study.
        turnstile: through which moves go.
        tell_typing: tells people that their partner types, or has stopped to.
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
        """Let the players of a dialogue move, if there is something for them to do."""
        id = room.stored.id
        if not room.has_players:
            return
        if id in self._tasks:
            self._again.add(id)
        else:
            self._tasks[id] = asyncio.create_task(self._turn(room))

    async def stop(self) -> None:
        """End all turns."""
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
