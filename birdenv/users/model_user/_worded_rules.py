"""The user `rule+llm`: rules decide what is granted and how it is said; the model only words it better."""

from __future__ import annotations

import re
from typing import Final

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.users._rule_player import rule_player
from birdenv.users.model_user._seat import UserSeat

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_SENSES: Final = (
    re.compile(r"\b(?:at least|more|above|over|greater|higher|minimum|exceed\w*|after|later|since|longer)\b"),
    re.compile(r"\b(?:at most|less|below|under|fewer|lower|maximum|before|earlier|until|up to|shorter)\b"),
    re.compile(r"\b(?:more than|above|over|exceed\w*|less than|below|under|fewer than)\b"),
    re.compile(r"n't\b|\b(?:not?|never|none|without|except\w*|exclud\w*|other than|all but)\b"),
)
"""What must not change: upwards, downwards, without the bound itself, and what is left out."""


class WordedRuleUser:
    """Answers as the rule-based user does, in a model's words. What is refused is refused without a model.

    Words that lack a number of the answer or have another one, or that turn it round, are not used.
    """

    def __init__(self, model: str, context: PlayerContext) -> None:
        self._seat = UserSeat(model, context)
        self._rules = rule_player("", context)
        self.usage = self._seat.usage
        self.faults = self._seat.faults

    def move(self, view: View) -> Move:
        """Answer the last question."""
        seat = self._seat
        made = self._rules.move(view)
        granted, plain = made.trace["granted"], made.data
        if not granted:
            return seat.answer(plain, **made.trace)
        values = {"question": seat.question(view), "answer": plain}
        text = seat.guarded("wording", seat.brief(view), granted, plain, plain, **values)
        if set(_NUMBER.findall(text)) != set(_NUMBER.findall(plain)):
            seat.fault("other numbers")
            text = plain
        elif _senses(text) != _senses(plain):
            seat.fault("other sense")
            text = plain
        return seat.answer(text, **made.trace)

    def remember(self, view: View, move: Move) -> None:
        """Let the rules know what was asked; the words are the model's no more."""
        self._rules.move(view)


def _senses(text: str) -> list[bool]:
    return [sense.search(text.casefold()) is not None for sense in _SENSES]


@plays("c-interact", "a-interact")
def worded_rule_user(argument: str, context: PlayerContext) -> WordedRuleUser:
    """Make the user `rule+llm:MODEL`.

    Raises:
        InputError: the model cannot be used, or the game has no such seat.
    """
    return WordedRuleUser(argument, context)
