"""The system's seat in Gymnasium terms: its spaces, its view as an observation, its action as a move."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from birdenv.dialogue import Move
from birdenv.envs._spaces import UnicodeText
from birdenv.errors import BenchmarkError
from birdenv.tasks import KINDS, MAX_TEXT, SENDERS, Kind, SystemView

INSTRUCTION_LENGTH = 2**18
TEXT_LENGTH = MAX_TEXT
"""Characters of one message, in either direction."""
TURNS = 1000
"""`turns_left` is below this."""
BUDGET = 1000.0
"""`budget` is at most this."""

_ACTION_FIELDS = 2  # kind, text
_MALFORMED = Move("malformed")
_PLACES = {sender: place for place, sender in enumerate(SENDERS)}


def observation_space(
    mask: str = "action_mask", kinds: Sequence[Kind] = KINDS, *, budget: bool = False
) -> spaces.Dict:
    """What the system sees; `mask` names the field that says which of the `kinds` are legal now.

    `budget`: there is a field of that name, shape (1,), for what is left to spend.
    """
    fields: dict[str, spaces.Space[Any]] = {
        "instruction": UnicodeText(INSTRUCTION_LENGTH),
        "message": UnicodeText(TEXT_LENGTH),
        "sender": spaces.Discrete(len(SENDERS)),
        "phase": spaces.Discrete(3),
        "turns_left": spaces.Discrete(TURNS),
        mask: spaces.MultiBinary(len(kinds)),
    }
    if budget:
        fields["budget"] = spaces.Box(0.0, BUDGET, (1,), np.float64)
    return spaces.Dict(fields)


def action_space(kinds: Sequence[Kind] = KINDS) -> spaces.Dict:
    return spaces.Dict({"kind": spaces.Discrete(len(kinds)), "text": UnicodeText(TEXT_LENGTH)})


def observation(
    view: SystemView, mask: str = "action_mask", kinds: tuple[Kind, ...] = KINDS
) -> dict[str, Any]:
    """A new observation, a member of `observation_space(mask, kinds)`, with `budget` where the view has one.

    A message that is too long is cut and says so. Raises `BenchmarkError` if the instruction is too long: a
    schema must not be cut.
    """
    instruction, message, sender, phase, turns_left, legal, _, budget = view
    if len(instruction) > INSTRUCTION_LENGTH:
        raise BenchmarkError(
            f"the instruction of this task has {len(instruction)} characters, more than {INSTRUCTION_LENGTH}"
        )
    made = {
        "instruction": instruction,
        "message": message if len(message) <= TEXT_LENGTH else _cut(message),
        "sender": _PLACES[sender],
        "phase": phase,
        "turns_left": turns_left if turns_left < TURNS else TURNS - 1,
        mask: _mask(legal, kinds).copy(),
    }
    if budget is not None:
        made["budget"] = np.array([min(budget, BUDGET)])
    return made


def move(action: Any, space: spaces.Dict, kinds: Sequence[Kind] = KINDS) -> Move:
    """The action as a move; whatever is not a member of the action space becomes one that no game accepts."""
    if type(action) is dict and len(action) == _ACTION_FIELDS:
        # An action such as `birdenv.submit_sql` gives: Gymnasium's check says the same at ten times the cost.
        kind, text = action.get("kind"), action.get("text")
        if type(kind) is int and type(text) is str and 0 <= kind < len(kinds) and len(text) <= TEXT_LENGTH:
            return Move(kinds[kind], text)
    try:
        is_member = space.contains(action)
    except OverflowError:  # Gymnasium 1.2, for a number of any size
        is_member = False
    if not is_member:
        return _MALFORMED
    return Move(kinds[int(action["kind"])], str(action["text"]))


@cache
def _mask(legal: tuple[Kind, ...], kinds: tuple[Kind, ...]) -> npt.NDArray[np.int8]:
    """Which of the kinds are legal, to be copied."""
    return np.array([kind in legal for kind in kinds], dtype=np.int8)


def _cut(text: str) -> str:
    shown = TEXT_LENGTH - 64
    return f"{text[:shown]}… ({len(text) - shown} more characters)"
