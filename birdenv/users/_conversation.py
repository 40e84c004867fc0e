"""What was said before in an episode, and what a message means in its light."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from birdenv.users._brief import Brief
from birdenv.users.sql_in_words import in_words, tokenize
from birdenv.users.understanding import (
    ANSWERED,
    Choice,
    Part,
    named_points,
    take_apart,
    understand,
    understand_parts,
)
from birdenv.users.understanding._gold_parts import has_snippet
from birdenv.users.understanding._left_open import NO_RESTRICTION
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import (
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
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_PLACE = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_ORDINALS)})|(?P<last>last)|(?P<digit>\d{{1,3}})(?:st|nd|rd|th)\b"
    r"|(?:question|number|item|point) (?P<number>\d{1,3}))\b"
)
_OTHERS = re.compile(
    r"\b(?:others?|latter|next|remaining|rest|left|unanswered|outstanding|missed|skipped)\b"
    r"|\bonly (?:\w+ )?(?:answered|told|replied|one|two|some|half)\b"
    r"|\b(?:two|three|all|both) of (?:them|my)\b"
)
_OF_LISTS = frozenset(
    map(
        stem,
        """again answer another both continue fifth four fourth item last latter left less list miss missed
        next other outstanding point please question remain remaining repeat reply rest second sixth skip
        third three two unanswered you""".split(),
    )
)


@dataclass(slots=True)
class Conversation:
    """The questions of one phase so far.

    Attributes:
        brief: what the user knows.
        told: what was told, the latest last.
        asked: the questions of the last message that had several.
        waiting: those of them that were not answered, or points that a question named and that were not told.
    """

    brief: Brief
    told: list[Choice] = field(default_factory=list)
    asked: list[Part] = field(default_factory=list)
    waiting: list[Part] = field(default_factory=list)
    _last: list[Choice] = field(default_factory=list)

    def understand(self, message: str, most: int = ANSWERED) -> list[Part]:
        """Split a message into questions, and decide what they are about, given what was said before.

        The first `most` are answered; the others wait.
        """
        parts = listed = self._listed(message)
        if not listed:
            parts = understand_parts(self.brief, message)
            if len(parts) == 1:
                parts = [self._in_the_light_of_before(parts[0])]
            else:
                self.asked = parts
        answered, waiting = parts[:most], parts[most:] or self.waiting
        self._last = [part.choice for part in answered if part.choice is not None and part.choice.tells]
        texts = {part.text for part in answered}
        told = {choice.target for choice in self._last}
        self.waiting = [
            one for one in waiting if one.text not in texts and not (one.choice and one.choice.target in told)
        ]
        return parts

    def remember(self, choice: Choice) -> None:
        """Note that a choice was answered."""
        if choice.tells and choice.target:
            self.told.append(choice)

    def was_told(self, choice: Choice) -> bool:
        """Return whether the same was answered before."""
        return choice.target in [one.target for one in self.told]

    def _listed(self, message: str) -> list[Part]:
        """Return the questions of a list that a message refers to: "the second one", "the other two"."""
        if not (self.asked or self.waiting) or len(message) > _LONGEST_REFERENCE:
            return []
        text = clean(message)
        if not set(map(stem, content_words(words(text)))) <= GENERIC_STEMS | _OF_LISTS:
            return []
        places = list(dict.fromkeys(_places(text, len(self.asked))))
        parts = [self.asked[place] for place in places if place < len(self.asked)]
        if not parts and (places or _OTHERS.search(text)):
            parts = self.waiting or [Part(message, Choice("unclear"))]
        return [
            part
            if part.choice is not None
            else Part(part.text, understand(self.brief, take_apart(part.text)))
            for part in parts
        ]

    def _in_the_light_of_before(self, part: Part) -> Part:
        """Return one question, or what it refers to; the points that it names and that are not told wait."""
        asked = part.asked or take_apart(part.text)
        choice = part.choice
        assert choice is not None
        if choice.call == "unclear":
            choice = self._referred(asked.text) or choice
        named = named_points(self.brief, asked)
        if len(named) > 1:
            self.asked = self.waiting = [Part(one.target, one) for one in named]
        return Part(part.text, choice, asked)

    def _referred(self, text: str) -> Choice | None:
        """Return what "yes, but at least?" or "you said 40?" is about: what was told last."""
        if not self._last and not self.told:
            return None
        last = self._meant_of_several(text, self._last or self.told[-1:])
        literals = {t.text for sql in last.granted() for t in tokenize(sql) if t.kind in ("number", "string")}
        numbers = set(re.findall(r"\d+(?:\.\d+)?", text))
        return last if numbers & literals or _REFERS.search(text) else None

    def _meant_of_several(self, text: str, several: Sequence[Choice]) -> Choice:
        """Of what was told last the point that a question has a word of, if it is one only; else the last."""
        said = set(map(stem, content_words(words(text)))) - GENERIC_STEMS
        meant = [one for one in several if not said.isdisjoint(self._stems_of(one))]
        return meant[0] if len(meant) == 1 else several[-1]

    def _stems_of(self, choice: Choice) -> Iterator[str]:
        for sql in choice.granted():
            yield from map(stem, words(clean(in_words(sql, self.brief).text)))


_LONGEST_REFERENCE = 200
"""Characters of a message that may only refer to a list."""


def _places(text: str, size: int) -> Iterator[int]:
    """Yield the places in a list that a text speaks of, from 0 on."""
    for match in _PLACE.finditer(text):
        if match["word"]:
            yield _ORDINALS.index(match["word"])
        elif match["last"]:
            yield size - 1
        else:
            yield int(match["digit"] or match["number"]) - 1


def ordinal(place: int) -> str:
    """Return the word for a place in a list.

    >>> ordinal(1)
    'second'
    """
    return _ORDINALS[place]


_KEEPS = re.compile(
    r"\b(?:still|again|only|just|same|keeps?|stays?|remains?|as (?:before|in the \w+ \w+)|also here"
    r"|here as well)\b"
)
_DROPS = re.compile(
    r"\b(?:no longer|any ?more|not|drop\w*|gone|goes|fall\w*|left out|leave out|without|forget|instead"
    r"|now (?:also|too)|too|also the|every|all)\b"
)


def still_holds(asked: Question, choice: Choice, brief: Brief) -> str:
    """Say yes or no to whether a condition of the first request, named by its term, holds in the follow-up.

    Only where the question asks for just that: "still only the roomy ones?". Else the answer is empty.
    """
    keeps, drops = _KEEPS.search(asked.text), _DROPS.search(asked.text)
    if bool(keeps) == bool(drops) or _OR.search(asked.text) or _ENQUIRES.search(asked.text):
        return ""
    said = set(asked.content) - GENERIC_STEMS
    named = [one for one in brief.inherited if (stems := _telling(one.term)) and stems <= said]
    holds = {has_snippet(brief.gold, one.snippet) for one in named}
    if len(holds) != 1:
        return ""
    still = holds.pop()
    told = choice.granted()
    if still and not any(has_snippet(told, one.snippet) for one in named):
        return ""
    if not still and choice.answer != NO_RESTRICTION:
        return ""
    return "Yes" if still == bool(keeps) else "No"


def _telling(term: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(words(clean(term))))) - GENERIC_STEMS


_OR = re.compile(r"\bor\b")
_ENQUIRES = re.compile(r"\b(?:what|which|how|when|who|where|why)\b")
