"""The connection to one browser tab: parse the frames that the tab sends, and send updates to the tab."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from math import isfinite
from typing import Annotated, Any, Final, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.websockets import WebSocket

from birdenv.errors import InputError
from birdenv.files import check_text
from birdenv.studies.study._running_dialogue import RunningDialogue
from birdenv.studies.study._study import Study

MAX_FRAME: Final = 2**19
"""The largest frame in bytes: it fits the longest text field, even if all its characters are escaped."""

_MOST_NESTED: Final = 20  # fewer levels than files may have, because the store adds some


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Hello(_Frame):
    """The first frame that a browser sends; `after` is the number of events that the browser already has."""

    type: Literal["hello"]
    after: int = Field(ge=0, le=1_000_000)


class Play(_Frame):
    """A frame that requests a move in a dialogue.

    Attributes:
        cid: the browser's id for the move. If a `cid` repeats, the frame is a duplicate and is ignored.
        dialogue: the id of the dialogue; None for the person's current dialogue.
        action: the name of the action.
        data: the data of the action.
        seconds: the number of seconds since the person began to write; None if unknown.
    """

    type: Literal["move"]
    cid: str = Field(min_length=1, max_length=64)
    dialogue: str | None = Field(None, max_length=64)
    action: str = Field(min_length=1, max_length=64)
    data: Any = None
    seconds: float | None = Field(None, ge=0, le=86_400)


class Typing(_Frame):
    """A frame that reports whether the person is typing."""

    type: Literal["typing"]
    on: bool


Frame = Annotated[Hello | Play | Typing, Field(discriminator="type")]
_ADAPTER: Final[TypeAdapter[Hello | Play | Typing]] = TypeAdapter(Frame)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(digits: str) -> float:
    value = float(digits)
    return value if isfinite(value) else _no_number(digits)


def read_frame(text: str) -> Hello | Play | Typing:
    """Parse a frame from a browser.

    Raises:
        InputError: the text is too large, not valid JSON, nested too deeply, or not one of the known frames.
    """
    if len(text) > MAX_FRAME:
        raise InputError("received a frame that is too large")
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        check_text(value, "a frame", most=_MOST_NESTED)
        return _ADAPTER.validate_python(value)
    except (ValidationError, ValueError, RecursionError):
        raise InputError("received a frame that could not be read") from None


def as_json(value: Any) -> str:
    """Return a value as ASCII-only JSON, because a web socket cannot send lone surrogates."""
    return json.dumps(value, ensure_ascii=True)


FindRoom = Callable[[str], Awaitable[RunningDialogue]]


class Connection:
    """The connection to one browser tab of one person.

    Attributes:
        socket: the web socket of the tab.
        person: the id of the person.
        news: an `asyncio.Event` that is set when there may be something to send.
        after: the number of events that were sent to the browser so far; None before the browser's first
            frame.
        typing: the partner's typing status (True or False) if it must still be sent; otherwise None.
        too_fast: the ids of moves that were rejected because too many moves are waiting.
        state: the most recently sent dialogue state; None before the first.
    """

    def __init__(self, socket: WebSocket, person: str) -> None:
        self.socket = socket
        self.person = person
        self.news = asyncio.Event()
        self.after: int | None = None  # number of events sent; None before the browser's first frame
        self.typing: bool | None = None
        self.too_fast: list[str] = []  # the browser's ids of moves that were rejected
        self.state: dict[str, Any] | None = None  # the last state that was sent
        self._dialogue: str | None = None
        self._sent: str = ""

    async def send(self, study: Study, find: FindRoom) -> None:
        """Send all changes since the last call to the browser.

        Args:
            study: the study.
            find: a function that returns a running dialogue by id.
        """
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
