"""Declarations of a game: its seats, their actions and the fields of these.

They are known before any episode. Action spaces, tool schemas, forms and help texts are made of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from birdenv.dialogue.move import DECORATIVE
from birdenv.dialogue.people import NO_WORDS, SeatWords

MAX_TEXT: Final = 2**16
"""Characters of one text field; a longer one is malformed."""

CUT: Final = "cut"
"""In place of a text that is too long the log keeps `{"cut": length}`."""

SEPARATOR: Final = "|"
"""Between the texts of an action with several text fields, where there is room for one text only."""

Fault: TypeAlias = Literal["unknown", "illegal", "malformed", "too_long", "empty"]
"""Why a move is refused: no such action, not possible now, or its data does not fit."""

FieldKind: TypeAlias = Literal["text", "code", "number", "integer", "item"]

_TEXTS: Final = ("text", "code")


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of an action.

    Attributes:
        name: the argument's name.
        kind: `text` (words) and `code` are Unicode texts; `number` and `integer` lie in [low, high]; `item`
            is one of the seat's `choices`, itself, not its index.
        low: the least number.
        high: the largest number.
        max_length: characters of a text.
        optional: the argument may be left out (null).
        empty: a text may be blank.
        about: one sentence for tool descriptions; without it, they say what a value must be.
    """

    name: str
    kind: FieldKind = "text"
    low: float = 0.0
    high: float = 1e9
    max_length: int = MAX_TEXT
    optional: bool = False
    empty: bool = False
    about: str = ""

    @property
    def is_text(self) -> bool:
        """Return whether the field holds text: words or code."""
        return self.kind in _TEXTS

    def fault(self, value: Any, choices: Sequence[Any] = ()) -> Fault | None:
        """Return why `value` does not fit this field, or None if it fits. NaN and booleans are no numbers."""
        if value is None and self.optional:
            return None
        if self.kind in _TEXTS:
            if not isinstance(value, str):
                is_cut = isinstance(value, Mapping) and value.keys() == {CUT}
                return "too_long" if is_cut else "malformed"
            if len(value) > self.max_length:
                return "too_long"
            return "empty" if not self.empty and (not value or value.isspace()) else None
        if self.kind == "item":
            return None if any(value == choice for choice in choices) else "malformed"
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole and (self.kind == "integer" or not isinstance(value, float)):
            return "malformed"
        is_finite = abs(value) <= sys.float_info.max  # and no integer that is no float
        return None if is_finite and self.low <= value <= self.high else "malformed"

    def wanted(self, choices: Sequence[Any] = ()) -> str:
        """Return in words what a value must be."""
        if self.is_text:
            blank = "" if self.empty or self.optional else " that is not blank"
            words = f"{self.kind} of at most {self.max_length:,} characters{blank}"
        elif self.kind == "item":
            words = f"one of your {len(choices)} choices, whole and as it is listed"
        else:
            kind = "a whole number" if self.kind == "integer" else "a number"
            words = f"{kind} from {self.low:,.12g} to {self.high:,.12g}"
        return f"{words}, or nothing" if self.optional else words

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a value."""
        described = {"description": self.about or self._described()}
        if self.is_text:
            return {"type": "string"} | described
        if self.kind == "item":
            return described
        kind = "integer" if self.kind == "integer" else "number"
        return {"type": kind, "minimum": self.low, "maximum": self.high} | described

    def _described(self) -> str:
        words = "one of your items, whole and as it is listed" if self.kind == "item" else self.wanted()
        return f"{words[0].upper()}{words[1:]}."


@dataclass(frozen=True)
class Action:
    """One action of a seat.

    `data` of a move is null for an action without fields, the value itself for one field, and an object by
    field name for several.

    Attributes:
        name: the action's name.
        fields: its arguments, in order.
        about: one sentence for tool descriptions, buttons and help.
    """

    name: str
    fields: tuple[Field, ...] = ()
    about: str = ""

    def fault(self, data: Any, choices: Sequence[Any] = ()) -> Fault | None:
        """Return why `data` does not fit this action, or None if it fits."""
        fields = self.fields
        if len(fields) == 1:
            return fields[0].fault(data, choices)
        if not fields:
            return None if data is None or data == "" else "malformed"
        if not isinstance(data, Mapping) or not set(data) <= {each.name for each in fields}:
            return "malformed"
        faults = (each.fault(data.get(each.name), choices) for each in fields)
        return next((fault for fault in faults if fault is not None), None)

    def needed(self, choices: Sequence[Any] = ()) -> str:
        """Return in words what the data of this action must be."""
        fields = "; ".join(f"{each.name}: {each.wanted(choices)}" for each in self.fields)
        return f"{self.name} needs {fields or 'no data'}"

    @cached_property
    def is_text(self) -> bool:
        """Return whether the data of a move is one text."""
        return len(self.fields) == 1 and self.fields[0].is_text

    @cached_property
    def check(self) -> Callable[[Any, Sequence[Any]], Fault | None]:
        """Return why data does not fit, as `fault` does, in one call for actions with one field."""
        return self.fields[0].fault if len(self.fields) == 1 else self.fault

    def data_of(self, arguments: Mapping[str, Any]) -> Any:
        """Return the data of a move from arguments by name, as a tool call has them.

        Raises:
            ValueError: an argument is not known or missing.
        """
        names = [each.name for each in self.fields]
        needed = {each.name for each in self.fields if not each.optional}
        if not needed <= set(arguments) <= set(names):
            raise ValueError(f"{self.name} takes {', '.join(names) or 'no arguments'}")
        if len(names) == 1:
            return arguments.get(names[0])
        return dict(arguments) if names else None

    def arguments_of(self, data: Any) -> dict[str, Any]:
        """Return the data of a move as arguments by name."""
        if len(self.fields) == 1:
            return {self.fields[0].name: data}
        return dict(data) if isinstance(data, Mapping) else {}

    def data_of_text(self, text: str) -> Any:
        """Return the data of a move from one text, in which several fields are divided by separators."""
        if len(self.fields) == 1:
            return text
        texts = [each.name for each in self.fields if each.is_text]
        parts = text.split(SEPARATOR, max(len(texts) - 1, 0))
        return dict(zip(texts, parts, strict=False)) if texts else None

    def text_of(self, data: Any) -> str:
        """Return the texts in the data of a move as one text."""
        if isinstance(data, str) and self.is_text:
            return data
        arguments = self.arguments_of(data)
        texts = [arguments.get(each.name) for each in self.fields if each.is_text]
        return SEPARATOR.join(text if isinstance(text, str) else "" for text in texts)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {each.name: each.schema() for each in self.fields},
            "required": [each.name for each in self.fields if not each.optional],
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class Seat:
    """One side of a game.

    Attributes:
        name: the seat's name: `system`, `user`, `buyer`.
        actions: its actions; the position is the `kind` in action spaces, so only append.
        voices: who may be heard here, the house last; the position is the `sender` in observations.
        gauges: what runs out, with its largest value (`turns_left`, `budget`). Whole numbers become
            `Discrete`, others `Box`.
        phases: the number of phases.
        waits: silence may be a move here.
        items: the most `choices` an episode can have.
        guide: tells a person in the seat what the game is about; models and programs read the instruction.
        words: what pages say to a person in the seat.
    """

    name: str
    actions: tuple[Action, ...]
    voices: tuple[str, ...] = ("judge",)
    gauges: Mapping[str, float] = field(default_factory=dict)
    phases: int = 1
    waits: bool = False
    items: int = 0
    guide: str = ""
    words: SeatWords = NO_WORDS

    def __post_init__(self) -> None:
        taken = DECORATIVE.intersection(self.kinds)
        if taken:
            raise ValueError(
                f"the seat {self.name!r} has an action {min(taken)!r}: files use that name otherwise"
            )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return the names of the actions, in order."""
        return tuple(action.name for action in self.actions)

    @cached_property
    def by_name(self) -> Mapping[str, Action]:
        """Return the actions by name."""
        return {action.name: action for action in self.actions}
