"""The choice: rules for what is certain, the ranking for the rest, and what a mistake costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from birdenv.users._brief import Ambiguity, Brief, Call
from birdenv.users._segments import Segment
from birdenv.users.understanding._candidates import Candidate
from birdenv.users.understanding._features import Evidence, evidence
from birdenv.users.understanding._index import Index, index_of
from birdenv.users.understanding._naming import find_named, is_refused, needs_no_ranking
from birdenv.users.understanding._question import (
    SHORT_NAME,
    Question,
    called,
    questions_in,
    take_apart,
)
from birdenv.users.understanding._ranking import Weights, load_weights, probabilities
from birdenv.users.understanding.vocabulary._kind_asked_for import PLAIN_KINDS
from birdenv.users.understanding.vocabulary._scope import (
    asks_for_output,
    asks_only_for_places,
    quotes_sql,
)
from birdenv.users.understanding.vocabulary._word_forms import clean


@dataclass(frozen=True, slots=True)
class Choice:
    """What a question is about: the call, its target, and the items or the parts that may be used.

    `answer` is the whole answer, where it is not read from SQL.
    """

    call: Call
    target: str = ""
    items: tuple[Ambiguity, ...] = ()
    parts: tuple[Segment, ...] = ()
    answer: str = ""

    def granted(self) -> tuple[str, ...]:
        """Return the SQL that an answer may draw on."""
        return tuple(dict.fromkeys([item.snippet for item in self.items] + [part.sql for part in self.parts]))

    @property
    def tells(self) -> bool:
        """Whether the choice tells something."""
        return self.call in ("labelled", "unlabelled")


_WRONG, _ASKED_BACK, _BACK_NOT_REFUSED, _REFUSED_FAIR = 1.0, 0.65, 0.7, 1.0
"""Costs: to tell something wrong, to ask back in vain, or instead of refusing, to refuse a fair question."""

_WRONGLY_OPEN = 1.4
"""The cost of "no preference" where there is one: it ends what another question might have brought out."""

REFUSED = Choice("unanswerable")
UNCLEAR = Choice("unclear")


def understand(brief: Brief, question: str | Question, weights: Weights | None = None) -> Choice:
    """Decide what a question is about, with the package's weights or others; no history is used.

    Of two questions in one, both are answered if both may be.
    """
    asked = take_apart(question) if isinstance(question, str) else question
    whole = _understand_one(brief, asked, weights)
    if whole is REFUSED:
        return whole
    if whole.tells and " and " in asked.asked and (two := _two_named(brief, asked)):
        return _both(*two)
    pieces = questions_in(asked.asked)
    if len(pieces) != 2:
        return whole
    choices = (_understand_one(brief, take_apart(piece), weights) for piece in pieces)
    found = [choice for choice in choices if choice.tells]
    if len(found) == 2:
        return _both(*found)
    return whole if whole.tells or not found else found[0]


def _two_named(brief: Brief, asked: Question) -> list[Choice]:
    """The two points of "what do you mean by X and Y?"."""
    named = named_points(brief, asked)
    if len(named) != 2:
        return []
    one, other = (re.escape(clean(choice.target)) for choice in named)
    pair = rf"{one}'?,? and (?:by |the |what (?:is|are) )*'?{other}"
    return named if re.search(pair, asked.text) else []


def named_points(brief: Brief, asked: Question) -> list[Choice]:
    """Return the annotated points that a question names, in the order of the question."""
    spaced = asked.spaced
    index = index_of(brief)
    found = [
        (
            min(spaced.find(f" {name} ") for name in index.candidates[number].names if f" {name} " in spaced),
            number,
        )
        for number in called(index.names, asked)
        if index.candidates[number].items
    ]
    return [choice_of(index.candidates[number]) for _, number in sorted(found)]


def _both(one: Choice, other: Choice) -> Choice:
    items = tuple(dict.fromkeys(one.items + other.items))
    parts = tuple(dict.fromkeys(one.parts + other.parts))
    if not other.target or other.target == one.target:
        return one if one.target else other
    if not one.target:
        return other
    return Choice("labelled" if items else "unlabelled", f"{one.target} + {other.target}", items, parts)


def _understand_one(brief: Brief, asked: Question, weights: Weights | None) -> Choice:
    index = index_of(brief)
    if not asked.spaced.strip() or quotes_sql(asked.asked) or _is_spelt(asked):
        return REFUSED
    named = find_named(index, asked)
    if named is not None and asked.guesses and len(named.said) <= SHORT_NAME:
        named = None
    refused = is_refused(named, asked)
    if refused and not asks_only_for_places(asked.said):
        return REFUSED
    if not refused and named is not None and needs_no_ranking(named, asked):
        return choice_of(named.candidate)
    return choose(index, asked, weights or load_weights(), _HARDLY_REFUSED if refused else 1.0)


def choose(index: Index, asked: Question, weights: Weights, most: float = 1.0) -> Choice:
    """Rank all that the question may be about, and take the first if it is sure enough.

    If a refusal is likelier than `most`, the question is refused.
    """
    found = evidence(index, asked)
    shares = probabilities(index, asked, found, weights)
    best = shares.index(max(shares[:-2])) if index.candidates else -1
    if best >= 0 and index.candidates[best].group == "open" and shares[best] < _SURELY_OPEN:
        named = [i for i in _named_in(index, asked) if index.candidates[i].items]
        if named:
            best = max(named, key=lambda i: (shares[i], -i))
            shares = _without_open(index, shares)
    refuse, ask = shares[-2:]
    if refuse > most:
        return REFUSED
    best = _longest(index, best, asked, shares)
    told = 0.0
    if best >= 0:
        alike = _alike(index, best, asked)
        told = sum(shares[i] for i in alike)
    is_open = best >= 0 and index.candidates[best].group == "open"
    cost = _WRONGLY_OPEN if is_open else _WRONG
    costs = (
        (round(cost * (1 - told), 6), 0),
        (round(_ASKED_BACK * (1 - ask - refuse) + _BACK_NOT_REFUSED * refuse, 6), 1),
        (round(_REFUSED_FAIR * (1 - refuse), 6), 2),
    )
    action = min(costs)[1]
    if action == 0 and best >= 0:
        return _unless_nameless(index, found, best)
    if asks_for_output(asked.said):
        shown = [i for i, one in enumerate(index.candidates) if "output" in one.main_kinds]
        if len(shown) == 1:
            return _unless_nameless(index, found, shown[0])
    of_nothing = _is_of_nothing(found, asked)
    says_little = asked.guesses or not (found.names or asked.kinds or "personal" in asked.said.found)
    if refuse > (_SURELY_REFUSED_FAIR if of_nothing or found.only >= 0 else _SURELY_REFUSED):
        return UNCLEAR if says_little else REFUSED
    last = found.only if found.only >= 0 else _the_one_of_its_kind(index, asked)
    if last >= 0:
        return _unless_nameless(index, found, last)
    return REFUSED if action == 2 and not (of_nothing or says_little) else UNCLEAR


def _unless_nameless(index: Index, found: Evidence, chosen: int) -> Choice:
    """Ask back where a question names nothing, and the request does not speak of the kind of thing either.

    Else a handful of fixed questions would bring out the gold SQL of any task. Columns and the number of rows
    may be asked for in any words.
    """
    candidate = index.candidates[chosen]
    spoken_of = (index.mentioned - {"group"}) | {"output", "limit"}
    nameless = candidate.segments and not found.names and spoken_of.isdisjoint(candidate.main_kinds)
    return UNCLEAR if nameless else choice_of(candidate)


_SURELY_REFUSED, _SURELY_REFUSED_FAIR = 0.35, 0.6
"""Likelier than this, a refusal holds also if one candidate only is of the kind that is asked for.

The second one is for questions that have most words of one candidate, or ask for a kind of thing.
"""


def _is_of_nothing(found: Evidence, asked: Question) -> bool:
    """Whether a kind of thing is asked for that a task may have, and this one has not."""
    return not any(found.allowed) and not asked.kinds.isdisjoint(PLAIN_KINDS)


_HARDLY_REFUSED = 0.05
"""Likelier than this, a refusal holds for words that mention columns or names of the database."""

_ALONE = PLAIN_KINDS - {"filter", "extent", "null", "tie"}


def _the_one_of_its_kind(index: Index, asked: Question) -> int:
    """The one candidate of the one kind that is asked for; -1 for several, for none, or for a point."""
    kinds = asked.kinds & _ALONE
    found = [i for i, candidate in enumerate(index.candidates) if kinds & candidate.main_kinds]
    alone = len(kinds) == 1 and len(found) == 1 and not index.candidates[found[0]].items
    return found[0] if alone else -1


_SURELY_OPEN = 0.75
"""Less likely than this, "no preference" is not said to a question that names a point."""


def _without_open(index: Index, shares: list[float]) -> list[float]:
    """The probabilities if "no preference" is no answer."""
    is_open = [candidate.group == "open" for candidate in index.candidates] + [False, False]
    rest = sum(share for share, left in zip(shares, is_open, strict=True) if not left)
    return [
        0.0 if left or not rest else round(share / rest, 6)
        for share, left in zip(shares, is_open, strict=True)
    ]


def _named_in(index: Index, asked: Question) -> list[int]:
    """The candidates that a question names."""
    return sorted(called(index.names, asked))


def _longest(index: Index, best: int, asked: Question, shares: Sequence[float]) -> int:
    """The candidate that a question names by a longer name than the best's, if a third as likely."""
    named = called(index.names, asked)
    if best not in named:
        return best

    def length(i: int) -> int:
        return max(len(name) for name in index.candidates[i].names if f" {name} " in asked.spaced)

    name = max(index.candidates[best].names, key=len)
    longer = [
        i
        for i in sorted(named)
        if 3 * shares[i] >= shares[best]
        and any(f" {name} " in f" {other} " for other in index.candidates[i].names)
    ]
    return max(longer, key=length, default=best)


def _alike(index: Index, best: int, asked: Question) -> set[int]:
    """Which candidates speak for the best one: those that its answer holds; of several named, all of them."""
    alike, named = set(index.covers[best]), called(index.names, asked)
    return alike | named if best in named else alike


def choice_of(candidate: Candidate) -> Choice:
    """Return the choice that a candidate stands for."""
    if candidate.items:
        return Choice("labelled", candidate.target, candidate.items)
    return Choice("unlabelled", candidate.target, (), candidate.segments, candidate.answer)


def _is_spelt(asked: Question) -> bool:
    """Whether a question is spelt letter by letter."""
    said = asked.words
    return len(said) > 6 and 2 * sum([len(word) == 1 for word in said]) > len(said)
