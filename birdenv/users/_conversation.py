"""What was said before in an episode, and what a question means in its light."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from birdenv.users._brief import Brief
from birdenv.users.sql_in_words import in_words, tokenize
from birdenv.users.understanding import Choice, named_points, take_apart, understand
from birdenv.users.understanding._question import Question
from birdenv.users.understanding.vocabulary._word_forms import (
    GENERIC_STEMS,
    clean,
    content_words,
    stem,
    words,
)

_REFERS = re.compile(
    r"^(?:and|but|yes|yeah|no|ok|okay|so|also|hm+|then|you said|you mean)\b"
    r"|\b(?:it|its|that|this|they|those|these|them|the same|inclusive|exactly|again|once more)\b"
)
_OTHER = re.compile(r"\b(?:second|other|latter|next|remaining|rest)\b")


def one_by_one(choice: Choice) -> list[Choice]:
    """Take apart a choice that answers two questions in one."""
    if " + " not in choice.target:
        return [choice]
    terms = dict.fromkeys(item.term for item in choice.items)
    points = [
        Choice("labelled", term, tuple(item for item in choice.items if item.term == term)) for term in terms
    ]
    return points + [Choice("unlabelled", part.id, (), (part,)) for part in choice.parts]


@dataclass(slots=True)
class Conversation:
    """The questions of one phase so far: the last one that was `asked`, and what was told.

    `open_names` are points that a question named and that were not told yet.
    """

    brief: Brief
    asked: Question | None = None
    told: list[Choice] = field(default_factory=list)
    open_names: list[Choice] = field(default_factory=list)

    def understand(self, question: str) -> Choice:
        """Decide what a question is about, with what was said before in mind."""
        asked = self.asked = take_apart(question)
        choice = understand(self.brief, asked)
        if choice.call == "unclear" or (choice.call == "unanswerable" and _OTHER.search(asked.text)):
            choice = self._referred(asked.text) or choice
        named = named_points(self.brief, asked)
        if len(named) > 1:
            self.open_names = named
        if choice.tells:
            self.open_names = [one for one in self.open_names if not set(one.items) <= set(choice.items)]
        return choice

    def remember(self, choice: Choice) -> None:
        """Note that a choice was answered."""
        if choice.tells and choice.target:
            self.told.append(choice)

    def was_told(self, choice: Choice) -> bool:
        """Return whether the same was answered before."""
        return choice.target in [one.target for one in self.told]

    def _meant_of_several(self, text: str) -> Choice:
        """What was told last; of several points the one that a question has a word of, if it is one only."""
        said = set(map(stem, content_words(words(text)))) - GENERIC_STEMS
        several = one_by_one(self.told[-1])
        meant = [one for one in several if not said.isdisjoint(self._stems_of(one))]
        return meant[0] if len(several) > 1 and len(meant) == 1 else self.told[-1]

    def _stems_of(self, choice: Choice) -> Iterator[str]:
        for sql in choice.granted():
            yield from map(stem, words(clean(in_words(sql, self.brief).text)))

    def _referred(self, text: str) -> Choice | None:
        """The point that "and the second one?", "yes, but at least?" or "you said 40?" is about."""
        if _OTHER.search(text):
            if self.open_names or not self.told:
                return self.open_names[0] if self.open_names else None
            several = one_by_one(self.told[-1])
            return several[1] if len(several) > 1 else None
        if not self.told:
            return None
        last = self._meant_of_several(text)
        snippets = [item.snippet for item in last.items] + [part.sql for part in last.parts]
        literals = {t.text for sql in snippets for t in tokenize(sql) if t.kind in ("number", "string")}
        numbers = set(re.findall(r"\d+(?:\.\d+)?", text))
        return last if numbers & literals or _REFERS.search(text) else None
