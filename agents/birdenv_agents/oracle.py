"""The oracle player, which submits the gold SQL to prove that a benchmark can be solved."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv.tasks import as_script
from birdenv.tasks.bird import PrivateBirdTask

__all__ = ["oracle"]


@plays("bird", "c-interact", "a-interact")
def oracle(argument: str, context: PlayerContext) -> Oracle:
    """Return a player that submits the gold SQL. `context.brief` must be the private part of the task.

    Raises:
        InputError: the game has no gold SQL.
    """
    private = context.brief
    if not hasattr(private, "gold"):
        raise InputError(
            f"oracle submits gold SQL, but {context.game} has none: choose another player, such as rulebased"
        )
    if isinstance(private, PrivateBirdTask):
        return Oracle([private.gold[0]])  # several golds are alternatives
    follow_up = private.follow_up.gold if private.follow_up else ()
    return Oracle([as_script(private.gold), as_script(follow_up)])


oracle.sees_private = True  # type: ignore[attr-defined]


class Oracle:
    """A player that submits the gold SQL of each phase."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = answers

    def move(self, view: View) -> Move:
        """Return a move that submits the gold SQL of the current phase."""
        return Move("submit_sql", self._answers[view.phase - 1])
