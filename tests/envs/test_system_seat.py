"""An action is a move exactly if it is a member of the action space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.error import InvalidAction

from birdenv import clarify, execute_sql, submit_sql
from birdenv.dialogue import Move
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.envs._seat_spaces import SeatSpaces
from birdenv.tasks.c_interact import GAME
from birdenv.tasks.sql._actions import KINDS

SPACES = SeatSpaces(GAME.seats[0])
SPACE = SPACES.actions

KINDS_GIVEN = [
    *(-1, *range(len(KINDS) + 1), 10**30, True, False, None, 1.0, "1", [1]),
    *(np.int8(2), np.int64(3), np.uint8(1), np.array(1), np.array([1]), np.float64(1)),
]
TEXTS_GIVEN = ["", "x", "x" * MAX_TEXT, "x" * (MAX_TEXT + 1), np.str_("x"), None, 1, b"x", ["x"]]
ODD_ACTIONS = [None, 0, "SELECT 1", (0, "x"), [], {}, {"kind": 0}, {"text": "x"}]
ODD_ACTIONS += [{"kind": 0, "text": "x", "more": 0}, {"kind": 0, "txt": "x"}, {0: "x"}]


def is_member(action: Any) -> bool:
    try:
        return bool(SPACE.contains(action))
    except OverflowError:  # Gymnasium 1.2, for a number of any size
        return False


def _shortened(action: Any) -> Any:
    text = action.get("text") if isinstance(action, dict) else None
    return {**action, "text": text[:MAX_TEXT]} if isinstance(text, str) else action


def test_members_of_the_action_space_are_moves_and_nothing_else_is() -> None:
    """But for a text that is too long, which is a move that the dialogue refuses."""
    actions = [{"kind": kind, "text": text} for kind in KINDS_GIVEN for text in TEXTS_GIVEN]
    for action in (*actions, *ODD_ACTIONS):
        if is_member(action) or is_member(_shortened(action)):
            assert SPACES.move(action) == Move(KINDS[int(action["kind"])], str(action["text"]))
        else:
            with pytest.raises(InvalidAction):
                SPACES.move(action)


@pytest.mark.parametrize("action", [clarify("a?"), execute_sql("SELECT 1"), submit_sql("SELECT 2")])
def test_built_actions_are_moves(action: Any) -> None:
    assert SPACES.move(action) == Move(KINDS[action["kind"]], action["text"])
