"""Choose what a question is about: first the refusals that always apply, then the ranking."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from birdenv.users._brief import Ambiguity, Brief, Call
from birdenv.users.segments import Segment
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._index import Index, index_of
from birdenv.users.understanding._phrases import (
    PLAIN_KINDS,
    Said,
    asks_for_output,
    is_never_answered,
    is_out_of_scope,
    quotes_sql,
)
from birdenv.users.understanding._question import Question, respelt
from birdenv.users.understanding._ranking import Evidence, evidence, probabilities
from birdenv.users.understanding._weights import Weights, load_weights
from birdenv.users.understanding._word_forms import CLAUSE_STEMS, FRAME_STEMS, content_stems, words


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision about a question.

    Attributes:
        call: the class of the question, such as "labelled" or "unanswerable".
        target: the annotated term or the id of the part of the gold SQL that the question is about; otherwise
            empty.
        items: the annotated points that the answer may use.
        parts: the parts of the gold SQL that the answer may use.
        answer: the complete answer, if it is not made from SQL; otherwise empty.
        share: the probability of the choice, from 0 to 1.
    """

    call: Call
    target: str = ""
    items: tuple[Ambiguity, ...] = ()
    parts: tuple[Segment, ...] = ()
    answer: str = ""
    share: float = field(default=1.0, compare=False)

    def granted(self) -> tuple[str, ...]:
        """Return the SQL that an answer may draw on."""
        return tuple(dict.fromkeys([item.snippet for item in self.items] + [part.sql for part in self.parts]))

    @property
    def tells(self) -> bool:
        """Return True if the user answers the question, and neither refuses nor asks for a rephrasing."""
        return self.call in ("labelled", "unlabelled")


SURE = 0.9
"""A choice that is more probable than this is kept, even if other evidence speaks against it."""

_DOUBT = 0.05
"""If a question mentions something that a user does not reveal, the minimum probability of being about no
candidate at which it is refused."""

_ASKED_BACK = 0.65
"""The cost of a needless request to rephrase. A wrong answer and a wrong refusal cost 1."""

REFUSED = Choice("unanswerable")
UNCLEAR = Choice("unclear")
NEVER = Choice("unanswerable")
"""The refusal of a question for SQL, secrets or everything. The ranking cannot overrule it."""


def understand_one(brief: Brief, asked: Question, weights: Weights | None = None) -> Choice:
    """Decide what one question is about. By default, the weights that ship with the package are used."""
    index = index_of(brief)
    if not (is_never_answered(asked.said) or is_out_of_scope(asked.said)):
        asked = respelt(index, asked)
    named, said = _named_point(index, asked), asked.said
    if named is not None:  # a term may be called "query"
        rest = f" {' '.join(words(asked.text))} "
        for name in named.names:
            rest = rest.replace(f" {name} ", " ")
        said = Said.of(rest.strip())
    if not asked.spaced.strip() or quotes_sql(asked.asked) or is_never_answered(said):
        return NEVER
    doubtful = is_out_of_scope(said)
    if named is not None and not doubtful:
        return choice_of(named)
    return choose(index, asked, weights or load_weights(), doubtful)


def _named_point(index: Index, asked: Question) -> Candidate | None:
    """Return the point that a question names in quotation marks, or beside words that frame any question.

    A quotation may have small words around the name, or be a piece of that of a single critical ambiguity:
    'dead' for "dead orders".
    """
    quoted = [f" {' '.join(words(one))} " for one in _IN_QUOTES.findall(asked.text)]
    names = [(f" {name} ", number) for number, one in enumerate(index.candidates) for name in one.names]
    named = [
        (name, number)
        for name, number in names
        if any(_is_quoted(name, one) for one in quoted) or _is_bare(asked.spaced, name)
    ]
    if named or not quoted:
        return index.candidates[max(named, key=lambda pair: len(pair[0]))[1]] if named else None
    said = {one: content_stems(one) for one in quoted}
    pieces = [one for one, stems in said.items() if stems <= index.request and not stems <= FRAME_STEMS]
    critical = [one for one in index.candidates if one.group == "critical"]
    begun = [one for one in critical if any(p in f" {name} " for p in pieces for name in one.names)]
    return begun[0] if len(begun) == 1 else None


def _is_quoted(name: str, quoted: str) -> bool:
    return name in quoted and content_stems(quoted) <= content_stems(name)


def _is_bare(text: str, name: str) -> bool:
    """Return whether a text has a name and otherwise only words that frame any question."""
    return name in text and content_stems(text.replace(name, " ")) <= FRAME_STEMS


_IN_QUOTES = re.compile(r"(?<!\w)'([^'\s][^']{0,80})'")


def choose(index: Index, asked: Question, weights: Weights, doubtful: bool = False) -> Choice:
    """Choose the reply with the lowest expected cost.

    The options are an answer about the most probable candidate, a request to rephrase, and a refusal. A
    `doubtful` question mentions something that a user never reveals. It is refused unless it is almost surely
    about one of the candidates. Another question is refused only if a refusal is very probable; otherwise the
    probabilities are those of the other replies. That nothing is left to decide must be probable by itself,
    and the question must ask for this kind of thing.
    """
    found = evidence(index, asked)
    shares = probabilities(index, asked, found, weights)
    refuse, ask = shares[-2:]
    kinds = asked.kinds | asked.said.kinds
    # "should discontinued products be on the list?" asks for no columns
    no_columns = asked.kinds & PLAIN_KINDS == {"filter"}
    columns = {i for i, one in enumerate(index.candidates) if no_columns and one.clause == "output"}
    may_be = [i for i, one in enumerate(index.candidates) if _may_be_told(one, kinds) and i not in columns]
    best = max(may_be, key=shares.__getitem__, default=-1)
    told = shares[best] if best >= 0 else 0.0
    if doubtful and refuse + ask >= _DOUBT:
        return REFUSED
    may_refuse = doubtful or refuse >= _SURELY_REFUSED
    is_open = best >= 0 and index.candidates[best].group == "open"
    rest = 1.0 if may_refuse or is_open else 1 - refuse
    rest = max(rest - sum(shares[i] for i in sorted(columns)), _LEAST_REST)
    costs = {"answer": 1 - told / rest, "ask back": _ASKED_BACK * (1 - ask / rest)}
    if may_refuse:
        costs["refuse"] = 1 - refuse / rest
    reply = min(costs, key=lambda name: round(costs[name], 6))  # the first of equal ones
    if reply == "answer" and best >= 0:
        return _unless_nameless(index, found, best, told)
    wants_output = asks_for_output(asked.said)
    only = _the_one_of_its_kind(index, frozenset({"output"}) if wants_output else asked.kinds & _ALONE)
    is_bare = CLAUSE_STEMS | index.request >= set(asked.content)  # "the direction of the ranking?"
    if only >= 0 and (wants_output or is_bare or (reply != "refuse" and refuse < _MAY_BE_REFUSED)):
        return _unless_nameless(index, found, only, shares[only])
    return REFUSED if doubtful or reply == "refuse" else UNCLEAR


def _may_be_told(candidate: Candidate, kinds: frozenset[str]) -> bool:
    """Return False for an answer that fits any task, if its kind of thing is not among those asked for."""
    is_fixed = candidate.group == "part" and candidate.clause in ("distinct", "limit")
    fits_any = is_fixed or (candidate.group == "open" and candidate.clause != "filter")
    return not fits_any or candidate.clause in kinds


_LEAST_REST = 0.01
"""The minimum probability of all replies that are considered."""

_ALONE = PLAIN_KINDS - {"filter", "extent", "null", "tie"}


def _the_one_of_its_kind(index: Index, kinds: frozenset[str]) -> int:
    """Return the index of the only candidate of the only kind asked for.

    The result is -1 if there are several such candidates or none, or if the candidate is a critical point or
    something that the gold SQL leaves open.
    """
    found = [i for i, candidate in enumerate(index.candidates) if kinds & candidate.main_kinds]
    if len(kinds) > 1 or len(found) != 1:
        return -1
    candidate = index.candidates[found[0]]
    return found[0] if candidate.group in ("part", "said", "non_critical") else -1


_MAY_BE_REFUSED = 0.5
"""A refusal less probable than this yields to the only candidate of the only kind asked for."""

_SURELY_REFUSED = 0.8
"""The minimum probability of a refusal if no phrase asks for a secret. Below it, no refusal is considered."""


def _unless_nameless(index: Index, found: Evidence, chosen: int, share: float) -> Choice:
    """Return the choice of a candidate, unless neither the question nor the request names what is asked for.

    Otherwise a handful of fixed questions would extract the gold SQL of any task. Output columns and the
    number of rows can always be asked for.
    """
    candidate = index.candidates[chosen]
    spoken_of = (index.mentioned - {"group"}) | {"output", "limit", "order", "round"}
    nameless = candidate.group == "part" and not found.names and spoken_of.isdisjoint(candidate.main_kinds)
    return UNCLEAR if nameless else choice_of(candidate, share)


def choice_of(candidate: Candidate, share: float = 1.0) -> Choice:
    """Return the choice that answers a question about a candidate."""
    if candidate.items:
        return Choice("labelled", candidate.target, candidate.items, candidate.segments, share=share)
    return Choice("unlabelled", candidate.target, (), candidate.segments, candidate.answer, share)
