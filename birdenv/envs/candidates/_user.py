"""The user of the candidate setting: without memory, and not able to tell some points."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from birdenv.dialogue import Move, Player, PlayerContext, View
from birdenv.users import Brief, RulePlayer

CANNOT_TELL: Final = "I cannot tell. Please decide that for yourself."


def answers_alone(argument: str, context: PlayerContext) -> RulePlayer:
    """Make the rule user without memory: a question's answer does not depend on the questions before."""
    return RulePlayer(tuple(replace(brief, converses=False) for brief in context.brief))


def points_of(briefs: Any) -> tuple[str, ...]:
    """Return the annotated points of a request; none if the seat's brief is of another kind."""
    if not isinstance(briefs, Sequence) or not briefs or not isinstance(briefs[0], Brief):
        return ()
    return tuple(dict.fromkeys(point.term for point in briefs[0].ambiguities))


class UnsureUser:
    """Another player's answers, but for those about points that the user cannot tell."""

    def __init__(self, player: Player, unknown: Collection[str]) -> None:
        self._player = player
        self._unknown = frozenset(unknown)

    def move(self, view: View) -> Move | None:
        """Answer the last question."""
        made = self._player.move(view)
        trace = None if made is None else made.trace
        if made is None or not isinstance(trace, dict) or not self._unknown.intersection(targets_of(trace)):
            return made
        return Move(made.action, CANNOT_TELL, {"call": "unanswerable", "target": "", "granted": []})


def targets_of(trace: Any) -> tuple[str, ...]:
    """Return the points that an answer is about, from its trace."""
    return tuple(str(trace.get("target", "")).split(" + "))
