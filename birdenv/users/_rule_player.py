"""The rule-based user in the user's seat of a dialogue."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.errors import InputError
from birdenv.users._brief import Answer, Brief
from birdenv.users._rule_user import OUT_OF_SCOPE, RuleUser


class RulePlayer:
    """Answers each question by rules; the trace of a move says which snippets it draws on."""

    def __init__(self, briefs: Sequence[Brief]) -> None:
        self._briefs = briefs
        self._user = RuleUser()

    def move(self, view: View) -> Move:
        """Answer the last question."""
        brief = self._briefs[min(view.phase, len(self._briefs)) - 1]
        asked = next((e.data for e in reversed(view.heard) if e.action == "clarify"), view.message)
        answer = self._user.answer(brief, asked if isinstance(asked, str) else "")
        if answer.call == "unclear" and not brief.asks_back:
            answer = Answer(OUT_OF_SCOPE, "unanswerable")
        trace = {"call": answer.call, "target": answer.target, "granted": list(answer.granted)}
        return Move("answer", answer.text, trace)


def rule_player(argument: str, context: PlayerContext) -> RulePlayer:
    """Make the user `rule`, which takes no argument.

    Raises:
        InputError: there is an argument, or the game tells this seat nothing that the rules can use.
    """
    if argument:
        raise InputError("the user `rule` takes no argument")
    briefs = context.brief
    if not isinstance(briefs, tuple) or not all(isinstance(brief, Brief) for brief in briefs):
        raise InputError(
            f"the user `rule` plays the user's seat of c-interact and a-interact, not {context.game}"
        )
    return RulePlayer(briefs)
