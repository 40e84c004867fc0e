"""The conversation so far, and how to interpret messages that refer to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from birdenv.users._brief import Brief
from birdenv.users._claims import LIST_STEMS, PART_STEMS, claims_of, says
from birdenv.users._facts import facts_of, stems_of
from birdenv.users._proposal import agreed
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import in_words
from birdenv.users.understanding import ANSWERED, Choice, Part, understand_parts
from birdenv.users.understanding._candidate_words import stems_in
from birdenv.users.understanding._choice import NEVER, SURE, UNCLEAR, understand_one
from birdenv.users.understanding._gold_parts import block_of, has_snippet, shares_condition
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._left_open import NO_RESTRICTION
from birdenv.users.understanding._phrases import asks_for_output, is_out_of_scope
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import GENERIC_STEMS, clean, content_stems

_CONDITIONS = frozenset({"where", "having"})
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_PLACE = re.compile(
    rf"\b(?:(?P<word>{'|'.join(ORDINALS)}|last)|(?P<digit>\d{{1,3}})(?:st|nd|rd|th)"
    r"|(?:questions?|numbers?|items?|points?|nr|no|q|and) ?\W?(?P<number>\d{1,3}))\b"
    r"|^\W*(?:(?:and|now|then|next|what about|how about),? )?\W?(?:(?P<alone>\d{1,3})|(?P<letter>[a-e]))\W*$"
)


@dataclass(slots=True)
class Conversation:
    """The questions that were asked in one phase, and which of them were answered.

    Attributes:
        brief: what the user knows.
        told: the choices for all answered questions, oldest first.
        asked: the questions in the most recent message that contained several.
        waiting: the questions that were not yet answered.
    """

    brief: Brief
    told: list[Choice] = field(default_factory=list)
    asked: list[Part] = field(default_factory=list)
    waiting: list[Part] = field(default_factory=list)

    def understand(self, message: str, most: int = ANSWERED) -> list[Part]:
        """Split a message into questions, and decide what each is about, given the conversation so far.

        The first `most` questions are answered now. The remaining questions wait.
        """
        parts = listed = self._listed(message)
        if not listed:
            parts = understand_parts(self.brief, message)
            parts = [self._in_the_light_of_before(one) for one in parts[:most]] + parts[most:]
            if len(parts) > 1:
                self.asked = parts
        answered, waiting = parts[:most], parts[most:] or self.waiting
        if not waiting:
            return parts
        told_now = [part.choice for part in answered if part.choice is not None and part.choice.tells]
        texts = {part.text for part in answered}
        told = {choice.target for choice in [*told_now, *self.told[-1:]]}
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
        if not content_stems(_PLACE.sub(" ", text)) <= GENERIC_STEMS | LIST_STEMS | {"not"}:
            return []
        places = list(dict.fromkeys(_places(text, len(self.asked))))
        parts = [self.asked[place] for place in places if place < len(self.asked)]
        if not parts and (places or "other questions" in says(text)):
            parts = self.waiting or [Part(message, Choice("unclear"))]
        return [one if one.choice else Part(one.text, understand_one(self.brief, one.asked)) for one in parts]

    def _in_the_light_of_before(self, part: Part) -> Part:
        """Return a question, interpreted with the help of what was said before."""
        asked, choice = part.asked, part.choice
        if choice is None:
            return part
        kept = self._kept_of_the_first(asked, choice)
        if kept or choice is NEVER or not self.told:
            return Part(part.text, kept or choice)
        return Part(part.text, self._follow_up(asked, choice))

    def _kept_of_the_first(self, asked: Question, choice: Choice) -> Choice | None:
        """Return all conditions of the first request that a follow-up keeps, if a question asks for them.

        A question that is surely about something else, or about something that users never tell, does not.
        """
        if not self.brief.earlier_gold or "first request" not in says(asked.text):
            return None
        if choice is NEVER or is_out_of_scope(asked.said) or (choice.tells and choice.share >= SURE):
            return None
        kept = tuple(part for part in self._kept() if not part.is_inner)
        if len(kept) < 2 or len({block_of(part.id) for part in kept}) > 1:
            return None
        return Choice("unlabelled", " + ".join(part.id for part in kept), parts=kept, share=choice.share)

    def _kept(self) -> tuple[Segment, ...]:
        """Return the conditions of the first request that a follow-up keeps; empty if this is not one."""
        parts = (part for one in index_of(self.brief).candidates for part in one.segments)
        return tuple(
            part
            for part in parts
            if part.clause in _CONDITIONS and has_snippet(self.brief.earlier_gold, part.sql.partition(" ")[2])
        )

    def with_all_kept(self, asked: Question, choice: Choice) -> Choice:
        """Return a choice with all conditions that a follow-up keeps, if a question refers to them or to one.

        "The same conditions as before, i.e. open and roomy?" is about both.
        """
        told = choice.parts
        if not self.brief.earlier_gold or not told or not {part.clause for part in told} <= _CONDITIONS:
            return choice
        block, phrases = block_of(told[0].id), says(asked.text)
        kept = [part for part in self._kept() if block_of(part.id) == block]
        refers = "keeps" in phrases and ("only" not in phrases or set(told) <= set(kept))
        if not refers and "first request" not in phrases:
            return choice
        return replace(choice, parts=tuple(dict.fromkeys([*told, *kept])))

    def _follow_up(self, asked: Question, choice: Choice) -> Choice:
        """Return what a question after the first one is about, where its own words leave doubts.

        A question that refers to an answer or names nothing ("yes, but at least?") is about the last answer.
        """
        if is_out_of_scope(asked.said):
            return choice
        is_sure = choice.tells and choice.share >= SURE
        shows = any(part.clause == "output" for part in choice.parts)
        is_open = bool(choice.answer) and not choice.parts
        is_named = asks_for_output(asked.said) or " '" in asked.text
        if (shows or is_open) and choice.share < SURE and not is_named:
            choice = UNCLEAR
        rest = {word for word in asked.content if not word.isdigit()} - GENERIC_STEMS - PART_STEMS
        refers = "refers" in says(asked.text)
        if choice.tells and rest and (is_sure or not refers):
            return choice
        if one := next((one for one in reversed(self.told) if agreed(asked, one, self.brief)), None):
            return one
        if choice.tells or "personal" in asked.said.found:
            return choice
        return self.told[-1] if not rest or refers else choice


_LONGEST_REFERENCE = 200
"""The maximum number of characters in a message that only refers to a list."""


def _places(text: str, size: int) -> Iterator[int]:
    """Yield the indices, from 0, of the list items that a text mentions."""
    for match in _PLACE.finditer(text):
        said = match[match.lastgroup or 0]
        if not said.isdigit():
            yield size - 1 if said == "last" else (ORDINALS if said in ORDINALS else "abcde").index(said)
        elif 0 < int(said) <= size:
            yield int(said) - 1


def _is_kept(asked: Question, choice: Choice, brief: Brief) -> bool:
    """Return whether a question names what a condition of both requests says, and no other amount."""
    (sql, *more), (part, *_) = choice.granted() or ("",), (*choice.parts, None)
    if part is None or more or part.clause not in _CONDITIONS:
        return False
    own, amounts = stems_of(in_words(sql, brief).text), facts_of(sql).amounts
    said = {value for value, _ in claims_of(asked.text, months="month" in own).amounts}
    is_named = said & amounts or not (own - GENERIC_STEMS).isdisjoint(asked.content)
    return bool(is_named) and said <= amounts and has_snippet(brief.earlier_gold, sql.partition(" ")[2])


def still_holds(asked: Question, choice: Choice, brief: Brief) -> str:
    """Return "Yes" or "No" if a question asks whether a condition from the first request still holds.

    An example is "still only the roomy ones?". The result is an empty string unless the question names the
    condition, by its term or by its own words, and asks nothing else.
    """
    if not brief.inherited and not brief.earlier_gold:
        return ""
    phrases = says(asked.text)
    if len(phrases & {"keeps", "drops"}) != 1 or asked.said.found & {"choice", "enquiry"}:
        return ""
    if _is_kept(asked, choice, brief):
        if "keeps" in phrases:
            return "Yes"
        return "" if "widens" in phrases else "No"  # "all retired bikes?" need not mean all bikes
    content = set(asked.content) - GENERIC_STEMS
    subjects = index_of(brief).subjects
    telling = [(one, stems_in(one.term) - GENERIC_STEMS) for one in brief.inherited]
    named = [one for one, stems in telling if (own := stems - subjects or stems) and own <= content]
    holds = {has_snippet(brief.gold, one.snippet) for one in named}
    if len(holds) != 1:
        return ""
    still = holds.pop()
    told = choice.granted()
    if still and not any(shares_condition(sql, one.snippet) for one in named for sql in told):
        return ""
    if not still and choice.answer != NO_RESTRICTION:
        return ""
    return "Yes" if still == ("keeps" in phrases) else "No"
