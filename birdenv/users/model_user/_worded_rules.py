"""The user `rule+llm`: rules decide what is granted and how it is said; the model only words it better."""

from __future__ import annotations

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.users._decoder import RuleUser
from birdenv.users.model_user._seat import UserSeat


class WordedRuleUser:
    """Answers as the rule-based user does, in a model's words. What is refused is refused without a model."""

    def __init__(self, model: str, context: PlayerContext) -> None:
        self._seat = UserSeat(model, context)
        self._rules = RuleUser()
        self.usage = self._seat.usage
        self.faults = self._seat.faults

    def move(self, view: View) -> Move:
        """Answer the last question."""
        seat = self._seat
        brief, question = seat.brief(view), seat.question(view)
        answer = self._rules.answer(brief, question)
        text = answer.text
        if answer.granted:
            text = seat.guarded("wording", brief, answer.granted, text, text, question=question, answer=text)
        trace = {"call": answer.call, "target": answer.target, "granted": list(answer.granted)}
        return Move("answer", text, trace)


def worded_rule_user(argument: str, context: PlayerContext) -> WordedRuleUser:
    """Make the user `rule+llm:MODEL`.

    Raises:
        InputError: the model cannot be used, or the game has no such seat.
    """
    return WordedRuleUser(argument, context)
