"""The Gymnasium spaces for a seat, and conversions from views to observations and from actions to moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import InvalidAction

from birdenv.dialogue import Action, Move, Seat, View
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.envs._text_space import UnicodeText
from birdenv.errors import BenchmarkError

INSTRUCTION_LENGTH: Final = 2**18
"""The maximum number of characters in an instruction. The maximum for other strings is `MAX_TEXT`."""

_MASKS_AT_ONCE: Final = 16
"""The number of masks that are made at once. Single arrays take five times as long after SQL has run."""

_move = partial(tuple.__new__, Move)  # needs all fields; takes half the time of `Move(...)`


class SeatSpaces:
    """The observation and action spaces for a seat, with conversions from views and to moves.

    Args:
        seat: the declaration of the seat.
        mask: the name of the observation field that marks the legal actions.

    Attributes:
        observations: the observation space. Each limited resource (gauge) is a field, whose space is a
            `Discrete` if the maximum is a whole number, and a `Box` of shape (1,) otherwise.
        actions: the action space. The field `kind` is an index into `seat.actions`; if the seat may wait, the
            number after the last index means waiting. The field `text` contains the text of the action, and
            `item` contains the index of a choice. Each numeric field has the shape (1,) and is scaled to the
            range from 0 to 1 (see `Rules.scale`).
        has_text_only: True if actions have only the fields `kind` and `text`. The method `move` then does not
            need the arguments `choices` and `scale`.
    """

    def __init__(self, seat: Seat, mask: str = "action_mask") -> None:
        self.observations = _observation_space(seat, mask)
        self.actions = _action_space(seat)
        self._seat = seat
        self._mask = mask
        self._masks: dict[tuple[str, ...], list[npt.NDArray[np.int8]]] = {}  # unused masks, by legal actions
        self._voices = {voice: place for place, voice in enumerate(seat.voices)}
        self._house = len(seat.voices) - 1
        self._gauges = [(name, most, isinstance(most, int)) for name, most in seat.gauges.items()]
        self.has_text_only = self.actions.spaces.keys() == {"kind", "text"}
        self._declared = dict(enumerate(seat.actions))

    def observation(self, view: View) -> dict[str, Any]:
        """Convert a view to an observation. An overlong message is truncated and ends with a note.

        Raises:
            BenchmarkError: the instruction is too long. It is not truncated, because it contains the schema.
        """
        instruction, message, legal, gauges = view.instruction, view.message, view.legal, view.gauges
        if len(instruction) > INSTRUCTION_LENGTH:
            raise BenchmarkError(
                f"the instruction of this task has {len(instruction)} characters, but at most"
                f" {INSTRUCTION_LENGTH} are allowed: leave out the task"
            )
        masks = self._masks.get(legal)
        if not masks:
            mask = np.array([kind in legal for kind in self._seat.kinds], dtype=np.int8)
            masks = self._masks[legal] = [mask.copy() for _ in range(_MASKS_AT_ONCE)]
        made: dict[str, Any] = {
            "instruction": instruction,
            "message": message if len(message) <= MAX_TEXT else _cut(message),
            "sender": self._voices.get(view.sender, self._house),
            "phase": view.phase,
            self._mask: masks.pop(),
        }
        for name, most, is_whole in self._gauges:
            left = gauges.get(name, 0)
            if left > most:
                left = most
            made[name] = left if is_whole else np.array([float(left)])
        return made

    def move(
        self, action: Any, choices: Sequence[Any] = (), scale: Mapping[str, float] = MappingProxyType({})
    ) -> Move | None:
        """Convert an action to a move, or to None if the action is to wait.

        Overlong text and numbers out of bounds are also converted; the dialogue then refuses the move.

        Args:
            action: a member of the space `actions`, or a `Move`.
            choices: the values that the field `item` selects from.
            scale: the maximum of each numeric field in this episode, keyed by name. The declared maximum
                applies to other fields.

        Raises:
            InvalidAction: the action has a wrong type or shape, a missing or unknown key, or a kind or an
                item out of range.
        """
        if type(action) is Move:
            if not isinstance(action.action, str):
                raise InvalidAction(
                    f"a birdenv.Move needs the name of an action, got {_shown(action.action)}"
                )
            return action
        if self.has_text_only and isinstance(action, dict) and len(action) == 2:
            # The usual action, as `birdenv.submit_sql` makes it. The complete check costs ten times as much.
            kind, text = action.get("kind"), action.get("text")
            declared = self._declared.get(kind) if type(kind) is int else None
            if declared is not None and type(text) is str:
                return _move((declared.name, declared.data_of_text(text), None))
        self._check(action)
        kind = int(action["kind"])
        return (
            None
            if kind == len(self._seat.actions)
            else _whole_move(self._seat.actions[kind], action, choices, scale)
        )

    def _check(self, action: Any) -> None:
        fields = self.actions.spaces
        if not isinstance(action, Mapping) or action.keys() != fields.keys():
            given = (
                f"the keys {', '.join(map(str, action))}" if isinstance(action, Mapping) else _shown(action)
            )
            raise InvalidAction(
                f"an action must be a dict with the keys {', '.join(fields)}, or a birdenv.Move; got {given}"
            )
        for name, space in fields.items():
            value = action[name]
            if isinstance(space, UnicodeText):
                fits, expected = isinstance(value, str), "a string"
            elif isinstance(space, spaces.Discrete):
                fits, expected = _is_place(value, int(space.n)), f"a whole number from 0 to {space.n - 1}"
                expected += f" ({', '.join(self._seat.kinds)})" if name == "kind" else ""
            else:
                fits, expected = _is_number(value), "a number from 0 to 1 in an array of shape (1,)"
            if not fits:
                raise InvalidAction(
                    f"the value of {name!r} in an action must be {expected}; got {_shown(value)}"
                )


def _is_place(value: Any, count: int) -> bool:
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    return isinstance(value, int | np.integer) and 0 <= int(value) < count


def _is_number(value: Any) -> bool:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return False
    return array.shape == (1,) and array.dtype.kind in "fiu"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = "something"
    return f"{text:.60} ({type(value).__name__})"


def _observation_space(seat: Seat, mask: str) -> spaces.Dict:
    fields: dict[str, spaces.Space[Any]] = {
        "instruction": UnicodeText(INSTRUCTION_LENGTH),
        "message": UnicodeText(MAX_TEXT),
        "sender": spaces.Discrete(len(seat.voices)),
        "phase": spaces.Discrete(seat.phases + 1),
        mask: spaces.MultiBinary(len(seat.actions)),
    }
    for name, most in seat.gauges.items():
        is_whole = isinstance(most, int)
        fields[name] = spaces.Discrete(int(most) + 1) if is_whole else spaces.Box(0.0, most, (1,), np.float64)
    return spaces.Dict(fields)


def _action_space(seat: Seat) -> spaces.Dict:
    fields: dict[str, spaces.Space[Any]] = {"kind": spaces.Discrete(len(seat.actions) + seat.waits)}
    declared = [field for action in seat.actions for field in action.fields]
    if any(field.is_text for field in declared):
        fields["text"] = UnicodeText(MAX_TEXT)
    if seat.items:
        fields["item"] = spaces.Discrete(seat.items)
    for field in declared:
        if field.kind in ("number", "integer"):
            fields[field.name] = spaces.Box(0.0, 1.0, (1,), np.float64)
    return spaces.Dict(fields)


def batch(made: Sequence[Mapping[str, Any]], space: spaces.Dict) -> dict[str, Any]:
    """Combine observations into a member of the batched space, with an array or a tuple for each field."""
    columns = {name: [each[name] for each in made] for name in space.spaces}
    return {
        name: tuple(column) if isinstance(field, UnicodeText) else np.array(column, dtype=field.dtype)
        for (name, field), column in zip(space.spaces.items(), columns.values(), strict=True)
    }


def _whole_move(
    declared: Action, action: Mapping[str, Any], choices: Sequence[Any], scale: Mapping[str, float]
) -> Move:
    data = declared.data_of_text(str(action["text"])) if "text" in action else None
    values = declared.arguments_of(data)
    for field in declared.fields:
        if field.kind == "item":
            place = int(action["item"])
            values[field.name] = choices[place] if place < len(choices) else None
        elif not field.is_text:
            high = scale.get(field.name, field.high)
            value = field.low + float(np.asarray(action[field.name])[0]) * (high - field.low)
            is_whole = field.kind == "integer" and math.isfinite(value)
            values[field.name] = round(value) if is_whole else value
    if not declared.fields:
        return Move(declared.name)
    return Move(declared.name, values[declared.fields[0].name] if len(declared.fields) == 1 else values)


def _cut(text: str) -> str:
    shown = MAX_TEXT - 64
    return f"{text[:shown]}… ({len(text) - shown} more characters)"
