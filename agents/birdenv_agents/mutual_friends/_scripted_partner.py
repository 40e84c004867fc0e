"""A scripted partner for MutualFriends. It talks as people do, in words from a phrase bank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Final

from birdenv_agents._phrase_bank import PhraseBank
from birdenv_agents.mutual_friends._belief import Item, distinct
from birdenv_agents.mutual_friends._own_phrases import PHRASES
from birdenv_agents.mutual_friends._player import FriendsPlayer
from birdenv_agents.mutual_friends._reader import Claim

_QUESTIONS: Final = [
    re.compile(
        re.escape(phrase["text"])
        .replace(r"\{values\}", "(?P<values>[^.?]{0,300})")
        .replace(r"\{attribute\}", ".*")
    )
    for phrase in PHRASES
    if phrase["act"] == "ask"
]
"""The questions of the rule-based player, so that a denial can repeat their values."""

_LAST: Final = 2  # if there are at most this many friends in question, the partner selects one
_PATIENCE: Final = 2  # after this many messages, one friend more may be in question


class ScriptedFriend(FriendsPlayer):
    """A partner that makes one or two true statements in a message, mostly about a single value.

    Args:
        items: the partner's friends.
        bank: the phrases that the partner can say.
        rng: the random generator for the partner's choices.
    """

    def __init__(self, items: Sequence[Item], bank: PhraseBank, rng: Random) -> None:
        super().__init__(items, bank, most_values=2, guess=_LAST)
        self._rng = rng
        self._asked_for: list[str] = []
        self._greeted = False
        self._messages = 0

    def _hear(self, text: str) -> list[Claim]:
        found = [match.group("values") for each in _QUESTIONS if (match := each.search(text))]
        self._asked_for = re.split(r", | or ", found[0]) if found else []
        return super()._hear(text)

    def _message(self, questions: Sequence[Claim], living: Sequence[Item]) -> str:
        self._messages += 1
        self._guess = _LAST + self._messages // _PATIENCE
        said: list[str] = []
        if not self._greeted and self._bank.knows("greet") and self._rng.random() < 0.5:
            said.append(self._bank.say("greet"))
        self._greeted = True
        if questions:
            said.append(self._answer_to(questions[0], living))
        if not said or self._rng.random() < 0.8:
            said.append(self._remark(living))
        return " ".join(filter(None, said))

    def _answer_to(self, question: Claim, living: Sequence[Item]) -> str:
        if question.kind == "open":
            name = next(iter(question.values))
            return self._inform(name, distinct(living, name)[0])
        found = [item for item in self._mind.items if question.values and self._fits(item, question)]
        if found:
            return self._bank.say("yes", count=len(found))
        if self._asked_for and len(question.values) == 1 and self._rng.random() < 0.5:
            [name] = question.values
            return self._say("deny", name, self._asked_for)
        return self._bank.say("no")

    def _fits(self, item: Item, question: Claim) -> bool:
        return all(item[name] in each for name, each in question.values.items())

    def _remark(self, living: Sequence[Item]) -> str:
        """Return a question, or a statement about the partner's own friends."""
        act = self._rng.choice(("ask", "ask", "ask", "inform", "inform", "pair", "only", "open"))
        name = self._rng.choice(list(living[0]))
        values = distinct(living, name)
        everyone = distinct(self._mind.items, name)
        if act == "only" and len(everyone) <= _LAST and self._bank.knows("only", name):
            return self._say("only", name, everyone)
        if act == "pair" and len(living[0]) > 1 and self._bank.knows("pair"):
            item = self._rng.choice(list(living))
            other = self._rng.choice([each for each in item if each != name])
            return self._bank.say("pair", name, values=item[name], other=item[other], attribute=name.lower())
        if act == "open" and self._bank.knows("open", name):
            self._mind.asked = {}
            return self._bank.say("open", name, attribute=name.lower())
        new = [value for value in values if value not in self._asked.get(name, ())]
        if act == "inform" or not new:
            return self._inform(name, self._rng.choice(values))
        chosen = new[: self._rng.choice((1, 1, 2))]
        self._asked.setdefault(name, set()).update(chosen)
        self._mind.asked = {name: frozenset(chosen)}
        return self._say("ask", name, chosen)

    def _inform(self, name: str, value: str) -> str:
        count = sum(item[name] == value for item in self._mind.items)
        return self._bank.say("inform", name, values=value, count=count, attribute=name.lower())
