"""Declarations of the seats of a game, their actions, and the fields of the actions.

The declarations are known before any episode. Action spaces, tool schemas, forms and help texts follow from
them.
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
"""The largest number of characters in a text field; a move with a longer text is refused."""

CUT: Final = "cut"
"""The log keeps `{"cut": length}` in place of a text that is too long."""

SEPARATOR: Final = "|"
"""Separates the texts of an action with several text fields where only one text can be given."""

Fault: TypeAlias = Literal["unknown", "illegal", "malformed", "too_long", "empty"]
"""Why a move is refused: the action does not exist, is not possible now, or its data does not fit."""

FieldKind: TypeAlias = Literal["text", "code", "number", "integer", "item"]

_TEXTS: Final = ("text", "code")


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of an action.

    Attributes:
        name: the argument's name.
        kind: `text` (words) and `code` are Unicode texts; `number` and `integer` lie in [low, high]; `item`
            is one of the seat's `choices` (the value, not its index).
        low: the smallest number.
        high: the largest number.
        max_length: the largest number of characters in a text.
        optional: True if the argument may be left out (null).
        empty: True if a text may be blank.
        about: one sentence for tool descriptions; if it is empty, they describe the permitted values.
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
        """Return True if the values of the field are texts: words or code."""
        return self.kind in _TEXTS

    def fault(self, value: Any, choices: Sequence[Any] = ()) -> Fault | None:
        """Return why `value` does not fit this field, or None if it fits.

        NaN and booleans do not count as numbers.
        """
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
        """Return a description of the values that fit this field."""
        if self.is_text:
            blank = "" if self.empty or self.optional else " that is not blank"
            words = f"{self.kind} of at most {self.max_length:,} characters{blank}"
        elif self.kind == "item":
            words = f"one of your {len(choices)} choices, complete and exactly as listed"
        else:
            kind = "a whole number" if self.kind == "integer" else "a number"
            words = f"{kind} from {self.low:,.12g} to {self.high:,.12g}"
        return f"{words}, or nothing" if self.optional else words

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the field's values."""
        described = {"description": self.about or self._described()}
        if self.is_text:
            return {"type": "string"} | described
        if self.kind == "item":
            return described
        kind = "integer" if self.kind == "integer" else "number"
        return {"type": kind, "minimum": self.low, "maximum": self.high} | described

    def _described(self) -> str:
        words = "one of your items, complete and exactly as listed" if self.kind == "item" else self.wanted()
        return f"{words[0].upper()}{words[1:]}."


@dataclass(frozen=True)
class Action:
    """One action of a seat.

    The `data` of a move is None if the action has no fields, the value if it has one field, and a mapping
    from field names to values if it has several.

    Attributes:
        name: the name of the action.
        fields: the arguments, in order.
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
        """Return a description of the data that a move with this action must have."""
        fields = "; ".join(f"{each.name}: {each.wanted(choices)}" for each in self.fields)
        return f"{self.name} needs {fields or 'no data'}"

    @cached_property
    def is_text(self) -> bool:
        """Return True if the data of a move is a single text."""
        return len(self.fields) == 1 and self.fields[0].is_text

    @cached_property
    def check(self) -> Callable[[Any, Sequence[Any]], Fault | None]:
        """Return a function that does the same as `fault`, but is faster for actions with one field."""
        return self.fields[0].fault if len(self.fields) == 1 else self.fault

    def data_of(self, arguments: Mapping[str, Any]) -> Any:
        """Return the data of a move from the named arguments of a tool call.

        Raises:
            ValueError: an argument is unknown or missing.
        """
        names = [each.name for each in self.fields]
        needed = {each.name for each in self.fields if not each.optional}
        if not needed <= set(arguments) <= set(names):
            raise ValueError(f"{self.name} takes {', '.join(names) or 'no arguments'}")
        if len(names) == 1:
            return arguments.get(names[0])
        return dict(arguments) if names else None

    def arguments_of(self, data: Any) -> dict[str, Any]:
        """Return the data of a move as named arguments."""
        if len(self.fields) == 1:
            return {self.fields[0].name: data}
        return dict(data) if isinstance(data, Mapping) else {}

    def data_of_text(self, text: str) -> Any:
        """Convert text to the data of a move. `SEPARATOR` separates the fields in the text."""
        if len(self.fields) == 1:
            return text
        texts = [each.name for each in self.fields if each.is_text]
        parts = text.split(SEPARATOR, max(len(texts) - 1, 0))
        return dict(zip(texts, parts, strict=False)) if texts else None

    def text_of(self, data: Any) -> str:
        """Return all texts in the data of a move as one text, separated by `SEPARATOR`."""
        if isinstance(data, str) and self.is_text:
            return data
        arguments = self.arguments_of(data)
        texts = [arguments.get(each.name) for each in self.fields if each.is_text]
        return SEPARATOR.join(text if isinstance(text, str) else "" for text in texts)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the action's arguments."""
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
        name: the name of the seat, such as `system`, `user` or `buyer`.
        actions: the actions. An action's index is its `kind` in action spaces, so only append to them.
        voices: the names of those who send messages to this seat, the house last. The index of a voice is the
            `sender` in observations.
        gauges: the limited resources, such as `turns_left` or `budget`, with their largest values. In
            observation spaces, an integer becomes a `Discrete`, and any other number a `Box`.
        phases: the number of phases.
        waits: True if the player may wait, that is, say nothing.
        items: the largest number of `choices` in an episode.
        guide: explains the game to a person in the seat; models and programs read the instruction.
        words: the words that pages use for a person in the seat.
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
                f"the seat {self.name!r} has an action {min(taken)!r}: this name is reserved for transcripts"
            )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return the names of the actions, in order."""
        return tuple(action.name for action in self.actions)

    @cached_property
    def by_name(self) -> Mapping[str, Action]:
        """Return the actions by name."""
        return {action.name: action for action in self.actions}
