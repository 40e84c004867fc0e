"""The conversation so far, and how to interpret messages that refer to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from birdenv.users._brief import Brief
from birdenv.users.sql_in_words import in_words
from birdenv.users.understanding import (
    ANSWERED,
    Choice,
    Part,
    named_points,
    take_apart,
    understand,
    understand_parts,
)
from birdenv.users.understanding._candidate_words import subject_stems
from birdenv.users.understanding._choice import NEVER, SURE
from birdenv.users.understanding._gold_parts import has_snippet, shares_condition
from birdenv.users.understanding._left_open import NO_RESTRICTION
from birdenv.users.understanding._phrases import is_out_of_scope
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
    r"|\b(?:it|its|that|this|they|those|these|them|the same|exactly|again|once more"
    r"|inclu\w+|strictly|at (?:least|most)|or (?:more|less)|(?:more|less) than|above|below)\b"
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_PLACE = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_ORDINALS)})|(?P<last>last)|(?P<digit>\d{{1,3}})(?:st|nd|rd|th)"
    r"|(?:questions?|numbers?|items?|points?|nr|no|q|and) ?\W?(?P<number>\d{1,3}))\b"
    r"|^\W*(?:(?:and|now|then|next|what about|how about),? )?\W?(?:(?P<alone>\d{1,3})|(?P<letter>[a-e]))\W*$"
)
_OTHERS = re.compile(
    r"\b(?:others?|latter|next|remaining|rest|left|unanswered|outstanding|missed|skipped|go on|go ahead"
    r"|continue|carry on|keep going)\b"
    r"|\bonly (?:\w+ )?(?:answered|told|replied|one|two|some|half)\b"
    r"|\b(?:two|three|all|both) of (?:them|my)\b"
)
_OF_LISTS = frozenset(
    map(
        stem,
        """again ahead another answer aren both carry continue didn don fifth forgot four fourth go haven isn
        item keep last latter left less list miss missed next no nr other outstanding point q question
        remain repeat reply rest second sixth skip t third three two unanswered wasn yet""".split(),
    )
)


@dataclass(slots=True)
class Conversation:
    """The questions that were asked in one phase, and which of them were answered.

    Attributes:
        brief: what the user knows.
        told: the choices for all answered questions, oldest first.
        asked: the questions in the most recent message that contained several.
        waiting: the questions that were not yet answered, and the points that a question mentioned but the
            answer did not explain.
    """

    brief: Brief
    told: list[Choice] = field(default_factory=list)
    asked: list[Part] = field(default_factory=list)
    waiting: list[Part] = field(default_factory=list)
    _last: list[Choice] = field(default_factory=list)

    def understand(self, message: str, most: int = ANSWERED) -> list[Part]:
        """Split a message into questions, and decide what each is about, given the conversation so far.

        The first `most` questions are answered now. The remaining questions wait.
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
        """Record that a question was answered. `choice` is what the question was understood to be about."""
        if choice.tells and choice.target:
            self.told.append(choice)

    def was_told(self, choice: Choice) -> bool:
        """Return True if a question about the same point was answered before."""
        return choice.target in [one.target for one in self.told]

    def _listed(self, message: str) -> list[Part]:
        """Return the earlier questions that a message refers to by "the second one" or "the other two"."""
        if not (self.asked or self.waiting) or len(message) > _LONGEST_REFERENCE:
            return []
        text = clean(message)
        telling = content_words(words(_PLACE.sub(" ", text)))
        if not set(map(stem, telling)) <= GENERIC_STEMS | _OF_LISTS:
            return []
        places = list(dict.fromkeys(_places(text, len(self.asked))))
        parts = [self.asked[place] for place in places if place < len(self.asked)]
        if not parts and (places or _OTHERS.search(text)):
            parts = self.waiting or [Part(message, Choice("unclear"))]
        return [
            one if one.choice else Part(one.text, understand(self.brief, take_apart(one.text)))
            for one in parts
        ]

    def _in_the_light_of_before(self, part: Part) -> Part:
        """Return a question, interpreted with the help of what was said before.

        If the question names several points, those that its answer does not explain wait.
        """
        asked = part.asked or take_apart(part.text)
        choice = part.choice
        assert choice is not None
        if choice.call == "unclear" or not (
            choice.tells
            or choice is NEVER
            or is_out_of_scope(asked.said)
            or not GENERIC_STEMS.issuperset(asked.content)  # asks for more than a reference could answer
        ):
            choice = self._referred(asked) or choice
        elif choice.share < SURE and (match := _YOU_SAID.match(asked.text)):
            rest = understand(self.brief, take_apart(match["rest"]))
            choice = rest if rest.tells else choice
        named = named_points(self.brief, asked)
        if len(named) > 1:
            self.asked = self.waiting = [Part(one.target, one) for one in named]
        return Part(part.text, choice, asked)

    def _referred(self, asked: Question) -> Choice | None:
        """Return what a question such as "yes, but at least?" or "so 41 is out?" refers to.

        That is the last answer. If it covered several points, the question refers to the only point that
        shares a word with it, or otherwise to the last point.
        """
        several = self._last or self.told[-1:]
        if not several or not (asked.guesses or _REFERS.search(asked.text)):
            return None
        said = set(map(stem, content_words(words(asked.text)))) - GENERIC_STEMS
        meant = [one for one in several if not said.isdisjoint(self._stems_of(one))]
        return meant[0] if len(meant) == 1 else several[-1]

    def _stems_of(self, choice: Choice) -> Iterator[str]:
        for sql in choice.granted():
            yield from map(stem, words(clean(in_words(sql, self.brief).text)))


_YOU_SAID = re.compile(
    r"^(?:\w+,? ){0,2}you (?:said|told|mentioned|wrote|answered)\b[^:;]*[:;] (?P<rest>.+)$"
)
"""A reminder of an earlier answer before a new question: "You said 40 seats: for all branches?"."""

_LONGEST_REFERENCE = 200
"""The maximum number of characters in a message that only refers to a list."""


def _places(text: str, size: int) -> Iterator[int]:
    """Yield the indices, from 0, of the list items that a text mentions."""
    for match in _PLACE.finditer(text):
        if match["word"]:
            yield _ORDINALS.index(match["word"])
        elif match["last"]:
            yield size - 1
        elif match["letter"]:
            yield "abcde".index(match["letter"])
        else:
            number = int(match["digit"] or match["number"] or match["alone"])
            if match["digit"] or number <= size:
                yield number - 1


def ordinal(place: int) -> str:
    """Return the ordinal number for an index from 0 to 9.

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
    """Return "Yes" or "No" if a question asks whether a condition from the first request still holds.

    An example is "still only the roomy ones?". The result is an empty string unless the question names the
    condition by its term and asks nothing else.
    """
    if not brief.inherited:
        return ""
    keeps, drops = _KEEPS.search(asked.text), _DROPS.search(asked.text)
    if bool(keeps) == bool(drops) or _OR.search(asked.text) or _ENQUIRES.search(asked.text):
        return ""
    said = set(asked.content) - GENERIC_STEMS
    subjects = subject_stems(brief)
    telling = ((one, _telling(one.term)) for one in brief.inherited)
    named = [one for one, stems in telling if (own := stems - subjects or stems) and own <= said]
    holds = {has_snippet(brief.gold, one.snippet) for one in named}
    if len(holds) != 1:
        return ""
    still = holds.pop()
    told = choice.granted()
    if still and not any(shares_condition(sql, one.snippet) for one in named for sql in told):
        return ""
    if not still and choice.answer != NO_RESTRICTION:
        return ""
    return "Yes" if still == bool(keeps) else "No"


def _telling(term: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(words(clean(term))))) - GENERIC_STEMS


_OR = re.compile(r"\bor\b")
_ENQUIRES = re.compile(r"\b(?:what|which|how|when|who|where|why)\b")
