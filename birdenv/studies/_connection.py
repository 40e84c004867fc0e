"""One tab of one person: what it was sent, and what is new for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.websockets import WebSocket

from birdenv.studies._frames import as_json
from birdenv.studies.study._running_dialogue import RunningDialogue
from birdenv.studies.study._study import Study

FindRoom = Callable[[str], Awaitable[RunningDialogue]]


class Connection:
    """One tab of one person."""

    def __init__(self, socket: WebSocket, person: str) -> None:
        self.socket = socket
        self.person = person
        self.news = asyncio.Event()
        self.after: int | None = None  # events sent; None before the browser said hello
        self.typing: bool | None = None
        self.too_fast: list[str] = []  # the browser's numbers of moves that were not taken
        self.state: dict[str, Any] | None = None  # the last that was sent
        self._dialogue: str | None = None
        self._sent: str = ""

    async def send(self, study: Study, find: FindRoom) -> None:
        """Send what is new since the last time."""
        person = study.store.person(self.person)
        status = "gone" if person is None else person.status
        told: dict[str, Any] = {"type": "status", "status": status}
        if person is not None and status == "waiting":
            told["seconds_left"] = study.waiting.seconds_left(person, study.clock())
        if (line := as_json(told)) != self._sent:
            self._sent = line
            await self.socket.send_text(line)
        if person is not None and status == "chat" and person.dialogue and person.seat is not None:
            room = await find(person.dialogue)
            if self.after is not None:
                await self._send_dialogue(room, person.seat)
        while self.too_fast:
            await self.socket.send_text(as_json({"type": "too_fast", "cid": self.too_fast.pop(0)}))
        if self.typing is not None:
            on, self.typing = self.typing, None
            await self.socket.send_text(as_json({"type": "typing", "on": on}))

    async def _send_dialogue(self, room: RunningDialogue, seat: int) -> None:
        id = room.stored.id
        if self._dialogue != id:
            self._dialogue = id
            await self.socket.send_text(as_json({"type": "setup", "dialogue": id, **room.setup(seat)}))
        events, state = room.shown(seat)
        if state is self.state:
            return
        after = min(self.after or 0, len(events))
        self.after, self.state = len(events), state
        news = {"type": "news", "events": events[after:], "state": state}
        await self.socket.send_text(as_json(news))
