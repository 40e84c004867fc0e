"""Declarations of a game's seats (the roles in the game), their actions, and the fields of the actions.

Action spaces, tool schemas, forms and help text are derived from these declarations, which are the same in
all episodes.
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
"""The default limit for the number of characters in a text field. A move with longer text is refused."""

CUT: Final = "cut"
"""The key of the object `{"cut": length}`, which replaces text that is too long for the log."""

SEPARATOR: Final = "|"
"""The separator between the fields of an action, in formats that write all fields as one string."""

Fault: TypeAlias = Literal["unknown", "illegal", "malformed", "too_long", "empty"]
"""The reason why a move is refused: its action does not exist or is not possible, or its data is invalid."""

FieldKind: TypeAlias = Literal["text", "code", "number", "integer", "item"]

_TEXTS: Final = ("text", "code")


@dataclass(frozen=True, slots=True)
class Field:
    """The declaration of an action's argument.

    Attributes:
        name: the name of the argument.
        kind: the kind of value: natural language (`text`), source code (`code`), a `number` or `integer` from
            `low` to `high`, or one of the choices listed in the seat's view (`item`).
        low: the minimum permitted number.
        high: the maximum permitted number.
        max_length: the maximum number of characters in text.
        optional: True if the argument can be missing (null).
        empty: True if text can be blank.
        about: one sentence for tool descriptions; by default, a description of the permitted values.
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
        """Return True if the field holds text, that is, natural language or source code."""
        return self.kind in _TEXTS

    def fault(self, value: Any, choices: Sequence[Any] = ()) -> Fault | None:
        """Return the reason why `value` is not valid for this field, or None if it is valid.

        NaN and booleans do not count as numbers. `choices` are the possible values of an `item`.
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
        is_finite = abs(value) <= sys.float_info.max  # False for integers that no float can represent
        return None if is_finite and self.low <= value <= self.high else "malformed"

    def wanted(self, choices: Sequence[Any] = ()) -> str:
        """Return a description of the permitted values, for error messages and tool descriptions."""
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
    """The declaration of an action that a seat can take.

    The data of a move is None if its action has no fields, a single value if the action has one field, and a
    mapping from field names to values if it has several fields.

    Attributes:
        name: the name of the action.
        fields: the arguments of the action, in order.
        about: one sentence for tool descriptions, buttons and help.
    """

    name: str
    fields: tuple[Field, ...] = ()
    about: str = ""

    def fault(self, data: Any, choices: Sequence[Any] = ()) -> Fault | None:
        """Return the reason why `data` is not valid for this action, or None if it is valid."""
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
        """Return a description of the data that this action needs, for error messages."""
        fields = "; ".join(f"{each.name}: {each.wanted(choices)}" for each in self.fields)
        return f"{self.name} needs {fields or 'no data'}"

    @cached_property
    def is_text(self) -> bool:
        """Return True if the action has only one field, which holds text."""
        return len(self.fields) == 1 and self.fields[0].is_text

    @cached_property
    def check(self) -> Callable[[Any, Sequence[Any]], Fault | None]:
        """Return a function that does the same as `fault`, but faster for actions with one field."""
        return self.fields[0].fault if len(self.fields) == 1 else self.fault

    def data_of(self, arguments: Mapping[str, Any]) -> Any:
        """Convert a tool call's named arguments to the data for a move.

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
        """Convert a move's data to the named arguments for a tool call."""
        if len(self.fields) == 1:
            return {self.fields[0].name: data}
        return dict(data) if isinstance(data, Mapping) else {}

    def data_of_text(self, text: str) -> Any:
        """Convert text, with fields separated by `SEPARATOR`, to the data for a move."""
        if len(self.fields) == 1:
            return text
        texts = [each.name for each in self.fields if each.is_text]
        parts = text.split(SEPARATOR, max(len(texts) - 1, 0))
        return dict(zip(texts, parts, strict=False)) if texts else None

    def text_of(self, data: Any) -> str:
        """Join the text in the data of a move, with `SEPARATOR` between the fields."""
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
    """The declaration of a seat: a role in a game, which one player fills in each episode.

    Attributes:
        name: the name of the seat, such as `system`, `user` or `buyer`.
        actions: the actions of the seat. The index of an action is its `kind` in action spaces, so add new
            actions only at the end.
        voices: the names of everyone who can send messages to the seat; the last is the house (birdenv
            itself). The index of a name is the `sender` in observations.
        gauges: the maximum value of each limited resource, keyed by its name, such as `turns_left` or
            `budget`. In an observation space, an integer becomes a `Discrete`, and any other number a `Box`.
        phases: the maximum number of phases in an episode.
        waits: True if the player may wait instead of moving.
        items: the maximum number of choices for a field of the kind `item`.
        guide: an explanation of the game, which a person in the seat sees instead of the instruction for
            models and programs.
        words: the labels and sentences of the web page on which a person plays the seat.
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
        """Return the names of the seat's actions, in order."""
        return tuple(action.name for action in self.actions)

    @cached_property
    def by_name(self) -> Mapping[str, Action]:
        """Return the seat's actions, keyed by name."""
        return {action.name: action for action in self.actions}
