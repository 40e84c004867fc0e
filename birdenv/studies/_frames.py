"""Frames of the socket: what a browser may send, as one union, and reading it."""

from __future__ import annotations

import json
from math import isfinite
from typing import Annotated, Any, Final, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from birdenv.errors import InputError
from birdenv.files import check_text

MAX_FRAME: Final = 2**19
"""Bytes of one frame: one text field of the longest kind, however its characters are written."""

_MOST_NESTED: Final = 20  # far below what files may hold: the store wraps what was sent


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Hello(_Frame):
    """The first frame: from which event on the browser has seen nothing."""

    type: Literal["hello"]
    after: int = Field(ge=0, le=1_000_000)


class Play(_Frame):
    """A move. The same `cid` twice is one move. It counts in the dialogue that it was sent to only."""

    type: Literal["move"]
    cid: str = Field(min_length=1, max_length=64)
    dialogue: str | None = Field(None, max_length=64)
    action: str = Field(min_length=1, max_length=64)
    data: Any = None
    seconds: float | None = Field(None, ge=0, le=86_400)
    """Seconds since the person began to write."""


class Typing(_Frame):
    """The person began or stopped to write."""

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
    """Return a frame.

    Raises:
        InputError: it is none: too large, no JSON, half a character, nested too deeply, not of the union.
    """
    if len(text) > MAX_FRAME:
        raise InputError("a frame is too large")
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        check_text(value, "a frame", most=_MOST_NESTED)
        return _ADAPTER.validate_python(value)
    except (ValidationError, ValueError, RecursionError):
        raise InputError("a frame cannot be read") from None


def as_json(value: Any) -> str:
    """Return JSON text of plain ASCII: nothing that was stored can break a socket."""
    return json.dumps(value, ensure_ascii=True)
