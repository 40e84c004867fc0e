"""A seat in Gymnasium terms: its spaces, its view as an observation, its action as a move."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from birdenv.dialogue import Move, Seat, View
from birdenv.envs._spaces import UnicodeText
from birdenv.errors import BenchmarkError

INSTRUCTION_LENGTH: Final = 2**18
TEXT_LENGTH: Final = 2**16
"""Characters of one message, in either direction."""

_MALFORMED: Final = Move("malformed")
_SQL_FIELDS: Final = 2  # kind, text


def observation_space(seat: Seat, mask: str = "action_mask") -> spaces.Dict:
    """Return the space of a seat's observations; `mask` names the field that tells the legal actions.

    Each gauge is a field of its own: `Discrete` if its largest value is whole, else a `Box` of shape (1,).
    """
    fields: dict[str, spaces.Space[Any]] = {
        "instruction": UnicodeText(INSTRUCTION_LENGTH),
        "message": UnicodeText(TEXT_LENGTH),
        "sender": spaces.Discrete(len(seat.voices)),
        "phase": spaces.Discrete(seat.phases + 1),
        mask: spaces.MultiBinary(len(seat.actions)),
    }
    for name, most in seat.gauges.items():
        is_whole = isinstance(most, int)
        fields[name] = spaces.Discrete(int(most) + 1) if is_whole else spaces.Box(0.0, most, (1,), np.float64)
    return spaces.Dict(fields)


def action_space(seat: Seat) -> spaces.Dict:
    """Return the space of a seat's actions.

    `kind` is the position in `seat.actions`; one more means to wait, where the seat may. One field `text`
    holds the texts of all actions, `item` the place of a choice, and each number has a field of its name,
    shape (1,), from 0 to 1 between its bounds (see `Rules.scale`).
    """
    fields: dict[str, spaces.Space[Any]] = {"kind": spaces.Discrete(len(seat.actions) + seat.waits)}
    declared = [field for action in seat.actions for field in action.fields]
    if any(field.is_text for field in declared):
        fields["text"] = UnicodeText(TEXT_LENGTH)
    if seat.items:
        fields["item"] = spaces.Discrete(seat.items)
    for field in declared:
        if field.kind in ("number", "integer"):
            fields[field.name] = spaces.Box(0.0, 1.0, (1,), np.float64)
    return spaces.Dict(fields)


def observation(view: View, seat: Seat, mask: str = "action_mask") -> dict[str, Any]:
    """Return a new observation, a member of `observation_space(seat, mask)`.

    A message that is too long is cut and says so.

    Raises:
        BenchmarkError: the instruction is too long; a schema must not be cut.
    """
    _, instruction, message, sender, legal, phase, gauges = view[:7]
    if len(instruction) > INSTRUCTION_LENGTH:
        raise BenchmarkError(
            f"the instruction of this task has {len(instruction)} characters, more than {INSTRUCTION_LENGTH}"
        )
    made: dict[str, Any] = {
        "instruction": instruction,
        "message": message if len(message) <= TEXT_LENGTH else _cut(message),
        "sender": _place(seat.voices, sender),
        "phase": phase,
        mask: _mask(legal, seat.kinds).copy(),
    }
    for name, most in seat.gauges.items():
        left = min(gauges.get(name, 0), most)
        made[name] = left if isinstance(most, int) else np.array([float(left)])
    return made


def move(
    action: Any,
    seat: Seat,
    space: spaces.Dict,
    choices: Any = (),
    scale: Mapping[str, float] = MappingProxyType({}),
) -> Move | None:
    """Return an action as a move; None is to wait. What is no action becomes a move that no game accepts.

    Numbers of an action lie from 0 to 1: between the least one and that of `scale`, or the field's largest.
    """
    if type(action) is Move:
        return action
    if isinstance(action, dict) and len(action) == _SQL_FIELDS == len(space.spaces):
        # An action such as `birdenv.submit_sql` gives: Gymnasium's check says the same at ten times the cost.
        kind, text = action.get("kind"), action.get("text")
        if (
            type(kind) is int
            and 0 <= kind < len(seat.actions)
            and type(text) is str
            and len(text) <= TEXT_LENGTH
        ):
            declared = seat.actions[kind]
            return Move(declared.name, text if len(declared.fields) == 1 else declared.data_of_text(text))
    try:
        is_member = space.contains(action)
    except OverflowError:  # Gymnasium 1.2, for a number of any size
        is_member = False
    if not is_member:
        return _MALFORMED
    kind = int(action["kind"])
    return None if kind == len(seat.actions) else _whole_move(action, seat, kind, choices, scale)


def _whole_move(
    action: Mapping[str, Any], seat: Seat, kind: int, choices: Any, scale: Mapping[str, float]
) -> Move:
    declared = seat.actions[kind]
    data = declared.data_of_text(str(action["text"])) if "text" in action else None
    values = declared.arguments_of(data)
    for field in declared.fields:
        if field.kind == "item":
            place = int(action["item"])
            values[field.name] = choices[place] if place < len(choices) else None
        elif not field.is_text:
            high = scale.get(field.name, field.high)
            value = field.low + float(action[field.name][0]) * (high - field.low)
            values[field.name] = round(value) if field.kind == "integer" else value
    if not declared.fields:
        return Move(declared.name)
    return Move(declared.name, values[declared.fields[0].name] if len(declared.fields) == 1 else values)


def _place(voices: tuple[str, ...], sender: str) -> int:
    return voices.index(sender) if sender in voices else len(voices) - 1


@cache
def _mask(legal: tuple[str, ...], kinds: tuple[str, ...]) -> npt.NDArray[np.int8]:
    """Which of the kinds are legal, to be copied."""
    return np.array([kind in legal for kind in kinds], dtype=np.int8)


def _cut(text: str) -> str:
    shown = TEXT_LENGTH - 64
    return f"{text[:shown]}… ({len(text) - shown} more characters)"
