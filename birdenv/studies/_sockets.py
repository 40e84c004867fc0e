"""Serve the web sockets for people's pages, play people's moves in order, and enforce time limits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from birdenv.dialogue import Move
from birdenv.errors import InputError
from birdenv.studies._connection import Connection, Hello, Play, Typing, read_frame
from birdenv.studies._requests import Bucket
from birdenv.studies._turns import Turns, Turnstile, in_thread
from birdenv.studies.study._running_dialogue import RunningDialogue
from birdenv.studies.study._study import Study

REFUSED: Final = 4400
STRANGER: Final = 4401
TOO_MANY: Final = 4429
"""Close codes after which a browser does not reconnect."""

FAILED: Final = 1011
"""Close code after which a browser reconnects, and sends again what was not saved."""

MOST_WAITING: Final = 16
"""The number of moves of one person that may wait while another move is played."""

_TABS: Final = 8  # connections of one person
_BURST, _RATE = 30, 5.0  # frames at once, and frames a second after that
_TICK: Final = 0.5
_log = logging.getLogger("birdenv.studies")


class Hub:
    """Manages all connections to a study, and runs the clock that enforces the study's time limits.

    A person's moves from all tabs are played one at a time, in order of arrival. Moves that arrived before
    the browser disconnected are still played, unless the person has left the dialogue by then.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._tabs: dict[str, list[Connection]] = {}  # by person, the oldest first
        self._buckets: dict[str, Bucket] = {}  # kept, so that reconnecting does not reset a limit
        self._waiting: dict[str, deque[Play]] = {}  # moves by person; the first is being played
        self._loads: dict[str, asyncio.Task[RunningDialogue]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turnstile = Turnstile()
        self._turns = Turns(study, self._turnstile, self._tell_typing)

    async def start(self) -> None:
        """Start the clock that enforces time limits."""
        loop = asyncio.get_running_loop()

        def changed(people: Iterable[str]) -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._wake, tuple(people))

        self.study.changed = changed
        self._begin(self._keep_time())

    async def stop(self) -> None:
        """Stop the clock, and cancel all waiting moves and players' turns."""
        tasks = [*self._tasks, *self._loads.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._turns.stop()
        self.study.changed = lambda people: None

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _wake(self, people: Iterable[str]) -> None:
        for person in people:
            for tab in self._tabs.get(person, ()):
                tab.news.set()

    async def _keep_time(self) -> None:
        while True:
            try:
                for room in await asyncio.to_thread(self.study.tick):
                    self._turns.take(room)
                for id in await asyncio.to_thread(self.study.unloaded):
                    if id not in self._loads:
                        self._load(id).add_done_callback(partial(_note_failure, id))
            except Exception:
                _log.exception("a tick of the study's clock failed; the clock continues")
            await asyncio.sleep(_TICK)

    # --- dialogues

    async def room(self, id: str) -> RunningDialogue:
        """Return a running dialogue, which is loaded first if it is not in memory."""
        found = self.study.loaded(id)
        return found if found is not None else await asyncio.shield(self._load(id))

    def _load(self, id: str) -> asyncio.Task[RunningDialogue]:
        task = self._loads.get(id)
        if task is None:
            task = self._loads[id] = asyncio.create_task(self._loaded(id))
        return task

    async def _loaded(self, id: str) -> RunningDialogue:
        try:
            room = await in_thread(partial(self.study.room, id))
        finally:
            del self._loads[id]
        self._turns.take(room)
        return room

    def _tell_typing(self, people: Iterable[str], on: bool) -> None:
        for person in people:
            for tab in self._tabs.get(person, ()):
                tab.typing = on
                tab.news.set()

    # --- people

    async def serve(self, socket: WebSocket, person: str) -> None:
        """Serve an accepted web socket until it closes."""
        tab = Connection(socket, person)
        tabs = self._tabs.setdefault(person, [])
        tabs.append(tab)
        if len(tabs) > _TABS:  # older ones may have vanished without closing
            self._begin(_close(tabs.pop(0), TOO_MANY))
        self.study.presence.connect(person)
        writer = asyncio.create_task(self._write(tab))
        try:
            await self._read(tab)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self.study.presence.disconnect(person)
            if tab in tabs:
                tabs.remove(tab)
            if not tabs and self._tabs.get(person) is tabs:
                del self._tabs[person]
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            if person not in self._tabs:
                self._pass_typing(person, False)

    async def _write(self, tab: Connection) -> None:
        tab.news.set()
        while True:
            await tab.news.wait()
            tab.news.clear()
            try:
                await tab.send(self.study, self.room)
            except (WebSocketDisconnect, RuntimeError):
                return
            except Exception:
                _log.exception("a page of %s could not be served", tab.person)
                await _close(tab, FAILED)
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
            self._pass_on(tab, frame)

    def _pass_on(self, tab: Connection, frame: Hello | Play | Typing) -> None:
        if isinstance(frame, Hello):
            tab.after, tab.state = frame.after, None
            tab.news.set()
        elif isinstance(frame, Typing):
            self._pass_typing(tab.person, frame.on)
        else:
            self._queue(tab, frame)

    def _queue(self, tab: Connection, play: Play) -> None:
        """Queue a move after the earlier moves of the same person, unless the move is already queued."""
        waiting = self._waiting.get(tab.person)
        if waiting is None:
            self._waiting[tab.person] = deque([play])
            self._begin(self._play_all(tab.person))
        elif any(each.cid == play.cid for each in waiting):
            pass
        elif len(waiting) > MOST_WAITING:
            tab.too_fast.append(play.cid)
            tab.news.set()
        else:
            waiting.append(play)

    async def _play_all(self, person: str) -> None:
        """Play all waiting moves of a person. After a failure, the browser resends the moves."""
        waiting = self._waiting[person]
        try:
            while waiting:
                await self._play(person, waiting[0])
                waiting.popleft()
        except Exception:
            _log.exception("a move of %s could not be played", person)
            for tab in tuple(self._tabs.get(person, ())):
                self._begin(_close(tab, FAILED))
        finally:
            del self._waiting[person]

    async def _play(self, id: str, play: Play) -> None:
        person = self.study.store.person(id)
        if person is None or person.status != "chat" or person.dialogue is None:
            return
        move = Move(play.action, play.data)
        act = partial(self.study.play, id, move, play.cid, play.seconds, play.dialogue)
        await self._turnstile.run(person.dialogue, act)
        room = self.study.loaded(person.dialogue)
        if room is not None:
            self._turns.take(room)

    def _pass_typing(self, id: str, on: bool) -> None:
        person = self.study.store.person(id)
        if person is None or person.status != "chat" or person.dialogue is None:
            return
        others = [each for each in self.study.store.seated(person.dialogue).values() if each != id]
        self._tell_typing(others, on)


async def _close(tab: Connection, code: int) -> None:
    with contextlib.suppress(RuntimeError):
        await tab.socket.close(code)


def _note_failure(id: str, task: asyncio.Task[RunningDialogue]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("%s could not be restored from the database", id, exc_info=task.exception())
