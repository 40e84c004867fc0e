"""The rule-based MutualFriends player. It answers and asks questions, and selects a friend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Final, Self

from birdenv.dialogue import Move, View
from birdenv_agents._phrase_bank import PhraseBank
from birdenv_agents.mutual_friends._belief import Belief, Item, distinct, has_all
from birdenv_agents.mutual_friends._own_phrases import listed
from birdenv_agents.mutual_friends._reader import Claim, Reader

GUESS: Final = 3
"""The number of remaining friends at which the player selects one of them."""

MOST_VALUES: Final = 5
"""The default for the largest number of values in one message."""

_MANNERS: Final = ((MOST_VALUES, GUESS), (MOST_VALUES, 0), (1, 0), (MOST_VALUES, 20))
"""The styles of play, as pairs of `most_values` and `guess`: usual, talkative, terse, selecting at once."""


class FriendsPlayer:
    """A rule-based player for either seat of MutualFriends.

    Args:
        items: the player's friends.
        bank: the phrases that the player can say.
        most_values: the maximum number of values that the player names in a message.
        guess: the number of remaining friends at which the player stops talking and selects a friend.
    """

    def __init__(
        self, items: Sequence[Item], bank: PhraseBank, most_values: int = MOST_VALUES, guess: int = GUESS
    ) -> None:
        self._mind = Belief(items)
        self._reader = Reader(items)
        self._bank = bank
        self._most = most_values
        self._guess = guess
        self._seen = 0
        self._selected: Item | None = None
        self._told: set[tuple[str, frozenset[str]]] = set()
        self._asked: dict[str, set[str]] = {}

    def move(self, view: View) -> Move | None:
        """Return the next move: answer, ask, tell, or select a friend."""
        questions: list[Claim] = []
        news = view.heard[self._seen :]
        self._seen = len(view.heard)
        for event in news:
            if event.agent != 1 - view.seat:
                continue
            if event.action == "select" and event.data in self._mind.items:
                return Move("select", event.data)
            if self._selected is not None:  # it was wrong, or the dialogue would be over
                self._mind.rule_out(self._selected)
                self._selected = None
            if event.action == "message" and isinstance(event.data, str):
                questions += self._hear(event.data)
        if self._selected is not None:
            return None  # it is the other player's turn
        living = self._mind.living()
        text = "" if len(living) <= self._guess else self._message(questions, living)
        if text:
            return Move("message", text)
        self._selected = self._mind.best()
        return Move("select", self._selected)

    def variants(self) -> Iterator[Self]:
        """Yield a copy of the player for each of its styles of play, the usual style first."""
        for most, guess in _MANNERS:
            other = deepcopy(self, {id(self._reader): self._reader})  # the reader never changes
            other._most, other._guess = most, guess
            yield other

    def _hear(self, text: str) -> list[Claim]:
        """Update the belief with the claims in a message, and return the questions in the message."""
        questions = []
        for claim in self._reader.read(text):
            self._mind.hear(claim)
            if claim.kind in ("ask", "open"):
                questions.append(claim)
        return questions

    def _message(self, questions: Sequence[Claim], living: Sequence[Item]) -> str:
        """Return a message with answers and new information, or an empty string if there is nothing new."""
        room = self._most
        said: list[str] = []
        for question in questions:
            if question.kind == "ask" and len(said) < 2:
                words, used = self._answer(question, room)
                said.append(words)
                room -= used
        news = self._news(living, room, [name for q in questions if q.kind == "open" for name in q.values])
        if not news and (room == self._most or not said):
            return ""
        return " ".join([*said, news]).strip()

    def _answer(self, question: Claim, room: int) -> tuple[str, int]:
        """Answer a question with the number of friends that fit and, if there is room, their other values.

        Returns:
            The answer, and the number of values in it.
        """
        values = question.values
        found = [item for item in self._mind.items if has_all(item, values)] if values else []
        words = self._count(question, len(found))
        others = [name for name in found[0] if name not in values] if found else []
        for name in sorted(others, key=lambda name: len(distinct(found, name))):
            shared = distinct(found, name)
            if len(shared) <= room:
                return f"{words} {self._say('they', name, shared)}", len(shared)
        return words, 0

    def _count(self, question: Claim, count: int) -> str:
        """Return the answer to a question, given the number of friends that fit."""
        if question.counts and self._bank.knows("many"):
            return self._bank.say("many", count=count)
        return self._bank.say("yes", count=count) if count else self._bank.say("no")

    def _news(self, living: Sequence[Item], room: int, wanted: Sequence[str]) -> str:
        """Return all values of one or two attributes if there is room, and otherwise a question."""
        names = sorted(living[0], key=lambda name: (name not in wanted, len(distinct(living, name))))
        said: list[str] = []
        for name in names:
            values = distinct(living, name)
            told = (name, frozenset(values))
            if len(values) <= room and told not in self._told and len(said) < 2:
                self._told.add(told)
                said.append(
                    self._say("only" if len(living) == len(self._mind.items) else "must", name, values)
                )
                room -= len(values)
        if said:
            self._mind.asked = {}
            return " ".join(said)
        return self._question(living, room) if room > 0 else ""

    def _question(self, living: Sequence[Item], room: int) -> str:
        """Return a question about the values that most possible friends have, or an empty string if the
        player has asked about all values."""
        best: tuple[float, str, list[str]] | None = None
        for name in living[0]:
            values = [v for v in distinct(living, name) if v not in self._asked.get(name, ())][:room]
            covered = sum(item[name] in values for item in living) / len(living)
            if values and (best is None or covered > best[0]):
                best = covered, name, values
        if best is None:
            return ""
        _, name, values = best
        self._asked.setdefault(name, set()).update(values)
        self._mind.asked = {name: frozenset(values)}
        return self._say("ask", name, values)

    def _say(self, act: str, name: str, values: Sequence[str]) -> str:
        return self._bank.say(act, name, values=listed(values), attribute=name.lower())
