"""The socket of a person's page: frames in, one by one; what is new, out, from the browser's cursor on."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from birdenv.dialogue import Move
from birdenv.errors import InputError
from birdenv.web._access import Bucket
from birdenv.web._frames import Hello, Play, as_json, read_frame
from birdenv.web.study._running_dialogue import RunningDialogue
from birdenv.web.study._study import Study

REFUSED: Final = 4400
STRANGER: Final = 4401
TOO_MANY: Final = 4429
"""Codes of closing; a browser does not come back after one of these."""

_TABS: Final = 8  # connections of one person
_BURST, _RATE = 30, 5.0  # frames at once, and frames a second after that
_THREADS: Final = 64
_READING: Final = 1.0  # seconds before a player seems to type
_TICK: Final = 0.5
_log = logging.getLogger("birdenv.web")


class Connection:
    """One tab of one person."""

    def __init__(self, socket: WebSocket, person: str) -> None:
        self.socket = socket
        self.person = person
        self.news = asyncio.Event()
        self.after: int | None = None  # events sent; None before the browser said hello
        self.typing: bool | None = None
        self.state: dict[str, Any] | None = None  # the last that was sent
        self._dialogue: str | None = None
        self._sent: str = ""

    async def send(self, study: Study) -> None:
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
            room = study.loaded(person.dialogue)
            if room is None:
                room = await asyncio.to_thread(study.room, person.dialogue)
            if self.after is not None:
                await self._send_dialogue(room, person.seat)
        if self.typing is not None:
            on, self.typing = self.typing, None
            await self.socket.send_text(as_json({"type": "typing", "on": on}))

    async def _send_dialogue(self, room: RunningDialogue, seat: int) -> None:
        if self._dialogue != room.stored.id:
            self._dialogue = room.stored.id
            await self.socket.send_text(as_json({"type": "setup", **room.setup(seat)}))
        events, state = room.shown(seat)
        if state is self.state:
            return
        after = min(self.after or 0, len(events))
        self.after, self.state = len(events), state
        news = {"type": "news", "events": events[after:], "state": state}
        await self.socket.send_text(as_json(news))


class Hub:
    """All connections of a study, the clock, and the players' turns."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._tabs: dict[str, set[Connection]] = {}
        self._buckets: dict[str, Bucket] = {}  # kept: who comes back has no new one
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._threads = ThreadPoolExecutor(_THREADS, "web")
        self._thinking = ThreadPoolExecutor(_THREADS, "player")  # slow players keep no person waiting
        self._clock: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to keep time."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(self._threads)

        def changed(people: Iterable[str]) -> None:
            loop.call_soon_threadsafe(self._wake, tuple(people))

        self.study.changed = changed
        self._clock = asyncio.create_task(self._keep_time())

    async def stop(self) -> None:
        """End the clock and the players' turns."""
        tasks = [*self._turns.values(), *([self._clock] if self._clock else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.study.changed = lambda people: None

    def _wake(self, people: Iterable[str]) -> None:
        for person in people:
            for tab in self._tabs.get(person, ()):
                tab.news.set()

    async def _keep_time(self) -> None:
        first = True
        while True:
            try:
                begun = await asyncio.to_thread(self.study.tick)
                if first:
                    begun = [self.study.room(each.id) for each in self.study.store.running()]
                    first = False
                for room in begun:
                    self.take_turns(room)
            except Exception:
                _log.exception("the clock of the study failed; it goes on")
            await asyncio.sleep(_TICK)

    # --- players

    def take_turns(self, room: RunningDialogue) -> None:
        """Let the players of a dialogue move, if there is something for them to do."""
        id = room.stored.id
        if id in self._turns:
            self._again.add(id)
        else:
            self._turns[id] = asyncio.create_task(self._turn(room))

    async def _turn(self, room: RunningDialogue) -> None:
        id, loop = room.stored.id, asyncio.get_running_loop()
        try:
            while True:
                self._again.discard(id)
                found = await loop.run_in_executor(self._thinking, room.next_move)
                if found is None:
                    if id in self._again:
                        continue
                    break
                seat, move = found
                await self._seem_to_type(room, move)
                await asyncio.to_thread(room.play_for, seat, move)
                await asyncio.to_thread(self.study.settle, room)
        finally:
            del self._turns[id]
        await asyncio.to_thread(self.study.settle, room)

    async def _seem_to_type(self, room: RunningDialogue, move: Move) -> None:
        speed = self.study.config.typing_speed
        if speed is None:
            return
        people = list(self.study.store.seated(room.stored.id).values())
        await asyncio.sleep(_READING)
        self._tell_typing(people, True)
        await asyncio.sleep(len(move.data) / speed if isinstance(move.data, str) else _READING)
        self._tell_typing(people, False)

    def _tell_typing(self, people: Iterable[str], on: bool) -> None:
        for person in people:
            for tab in self._tabs.get(person, ()):
                tab.typing = on
                tab.news.set()

    # --- people

    async def serve(self, socket: WebSocket, person: str) -> None:
        """Serve one accepted socket until it closes."""
        tab = Connection(socket, person)
        tabs = self._tabs.setdefault(person, set())
        if len(tabs) >= _TABS:
            await socket.close(TOO_MANY)
            return
        tabs.add(tab)
        self.study.presence.connect(person)
        writer = asyncio.create_task(self._write(tab))
        try:
            await self._read(tab)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            self.study.presence.disconnect(person)
            tabs.discard(tab)
            if not tabs:
                self._tabs.pop(person, None)

    async def _write(self, tab: Connection) -> None:
        tab.news.set()
        while True:
            await tab.news.wait()
            tab.news.clear()
            try:
                await tab.send(self.study)
            except (WebSocketDisconnect, RuntimeError):
                return
            except Exception:
                _log.exception("a page of %s could not be served", tab.person)
                with contextlib.suppress(RuntimeError):
                    await tab.socket.close(1011)
                return

    async def _read(self, tab: Connection) -> None:
        bucket = self._buckets.setdefault(tab.person, Bucket(_BURST, _RATE))
        while tab.socket.application_state is WebSocketState.CONNECTED:
            received = await tab.socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            if not bucket.take():
                await tab.socket.close(TOO_MANY)
                return
            try:
                frame = read_frame(received.get("text") or "")
            except InputError:
                await tab.socket.close(REFUSED)
                return
            await self._act(tab, frame)

    async def _act(self, tab: Connection, frame: Any) -> None:
        if isinstance(frame, Hello):
            tab.after, tab.state = frame.after, None
            tab.news.set()
        elif isinstance(frame, Play):
            play = partial(
                self.study.play, tab.person, Move(frame.action, frame.data), frame.cid, frame.seconds
            )
            await asyncio.to_thread(play)
            await self._after_move(tab)
        else:
            self._pass_typing(tab.person, frame.on)

    async def _after_move(self, tab: Connection) -> None:
        person = self.study.store.person(tab.person)
        if person is not None and person.status == "chat" and person.dialogue is not None:
            room = self.study.loaded(person.dialogue)
            if room is not None and room.has_players:
                self.take_turns(room)

    def _pass_typing(self, id: str, on: bool) -> None:
        person = self.study.store.person(id)
        if person is None or person.status != "chat" or person.dialogue is None:
            return
        others = [each for each in self.study.store.seated(person.dialogue).values() if each != id]
        self._tell_typing(others, on)
