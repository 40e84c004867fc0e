"""The choice: refusals that hold in any case, the ranking for the rest, and what a mistake costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from birdenv.users._brief import Ambiguity, Brief, Call
from birdenv.users.segments import Segment
from birdenv.users.understanding._candidates import Candidate
from birdenv.users.understanding._index import Index, index_of
from birdenv.users.understanding._message import Piece, begins_as_question, pieces_of
from birdenv.users.understanding._phrases import (
    PLAIN_KINDS,
    Said,
    asks_for_output,
    is_never_answered,
    is_out_of_scope,
    quotes_sql,
)
from birdenv.users.understanding._question import SHORT_NAME, Question, called, questions_in, take_apart
from birdenv.users.understanding._ranking import Evidence, evidence, probabilities
from birdenv.users.understanding._weights import Weights, load_weights
from birdenv.users.understanding._word_forms import (
    FRAME_STEMS,
    GENERIC_STEMS,
    clean,
    content_words,
    stem,
    words,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a question is about: the call, its target, and the items or the parts that may be used.

    Attributes:
        answer: the whole answer, where it is not read from SQL.
        share: how sure the choice is, from 0 to 1.
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
        """Whether the choice tells something."""
        return self.call in ("labelled", "unlabelled")


@dataclass(frozen=True, slots=True)
class Part:
    """One question of a message, and what it is about; None if nobody has looked yet.

    `asked` is the question taken apart, where that is at hand.
    """

    text: str
    choice: Choice | None = None
    asked: Question | None = field(default=None, compare=False, repr=False)


_WRONG, _ASKED_BACK, _BACK_NOT_REFUSED, _REFUSED_FAIR = 1.0, 0.65, 0.7, 1.0
"""Costs: to tell something wrong, to ask back in vain, or instead of refusing, to refuse a fair question."""

_WRONGLY_OPEN = 1.4
"""The cost of "no preference" where there is one: it ends what another question might have brought out."""

REFUSED = Choice("unanswerable")
UNCLEAR = Choice("unclear")
ANSWERED = 2
"""So many questions of a message are answered; the others wait."""


def understand(brief: Brief, question: str | Question, weights: Weights | None = None) -> Choice:
    """Decide what a message is about, with the package's weights or others; no history is used.

    Of several questions the first two count. A `Question` is understood whole.
    """
    if isinstance(question, Question):
        return _understand_one(brief, question, weights)
    choices = [part.choice for part in understand_parts(brief, question, weights)[:ANSWERED] if part.choice]
    return together([one for one in choices if one.tells] or choices[:1])


def together(choices: Sequence[Choice]) -> Choice:
    """Return one choice that tells what several tell."""
    first, *others = choices
    for other in others:
        first = _both(first, other)
    return first


def understand_parts(brief: Brief, message: str, weights: Weights | None = None) -> list[Part]:
    """Take a message apart, and decide what each question is about; later ones are not looked at."""
    pieces = pieces_of(message)
    if len(pieces) == 1:
        return _clauses(brief, message, weights)
    parts: list[Part] = []
    for number, piece in enumerate(pieces):
        known = len(parts) if piece.lead is None else len(parts) + 1
        if known > ANSWERED or number >= _MOST_LOOKED_AT:
            rest = [Part(one.text) for one in pieces[number:] if not one.goes_on]
            return parts + rest
        if piece.lead is not None:
            parts.append(Part(piece.text, _understand_item(brief, piece, weights)))
            continue
        choice = _understand_whole(brief, piece.text, weights)
        if parts and parts[-1].choice and _belongs(piece, choice, parts[-1].text, parts[-1].choice):
            parts[-1] = _joined(brief, parts[-1], Part(piece.text, choice), weights)
        else:
            parts.append(Part(piece.text, choice))
    if any(piece.lead is not None for piece in pieces):
        return parts
    return [one for part in parts for one in _clauses(brief, part.text, weights, part.choice)]


_MOST_LOOKED_AT = 12
"""So many sentences that ask are looked at, to find out what the first two questions are."""

_SURE = 0.9
"""Likelier than this, a choice holds against doubts."""


def _telling(text: str) -> set[str]:
    return set(map(stem, content_words(words(clean(text))))) - GENERIC_STEMS


def _belongs(piece: Piece, choice: Choice, asked: str, before: Choice) -> bool:
    """Whether a sentence that asks is about what the question before it asks."""
    if choice is NEVER:
        return False
    if not begins_as_question(piece.text) and not _telling(piece.text).isdisjoint(_telling(asked)):
        return True
    if piece.goes_on or (choice.tells and choice.target == before.target and choice.target):
        return True
    return piece.refers and (not choice.tells or choice.share < _SURE)


def _joined(brief: Brief, part: Part, more: Part, weights: Weights | None) -> Part:
    """A question with the sentence that goes on with it; the surer of the two understandings holds.

    Two sentences of which neither tells anything tell nothing together: each may be a guess.
    """
    text = f"{part.text} {more.text}"
    before, choice = part.choice or UNCLEAR, _understand_whole(brief, text, weights)
    if not before.tells and not (more.choice or UNCLEAR).tells:
        return Part(text, choice if choice.call == "unanswerable" else before)
    fair = choice.call == "unclear" or (choice.call == "unanswerable" and text.rstrip().endswith("?"))
    keep = before.tells and (fair or before.share > choice.share)
    return Part(text, before if keep else choice)


def _understand_item(brief: Brief, piece: Piece, weights: Weights | None) -> Choice:
    """What an item of a list is about: by itself, or else with what introduces the list."""
    choice = _understand_whole(brief, piece.text, weights)
    if choice.call == "unclear" and piece.lead and named_points(brief, take_apart(piece.lead)):
        with_lead = _understand_whole(brief, f"{piece.lead} {piece.text}", weights)
        choice = with_lead if with_lead.tells else choice
    return choice


def _understand_whole(brief: Brief, text: str, weights: Weights | None) -> Choice:
    return _understand_one(brief, take_apart(text), weights)


def _clauses(brief: Brief, text: str, weights: Weights | None, known: Choice | None = None) -> list[Part]:
    """The questions of one sentence, "A, and B?", if they are about different things."""
    asked = take_apart(text)
    whole = known or _understand_one(brief, asked, weights)
    if whole is not NEVER and whole.tells and " and " in text and (two := _two_named(brief, asked)):
        return [Part(choice.target, choice) for choice in two]
    pieces = questions_in(text)
    if len(pieces) > 1 and (whole is not NEVER or all(map(begins_as_question, pieces))):
        parts = [Part(piece, _understand_whole(brief, piece, weights)) for piece in pieces[: ANSWERED + 2]]
        told = {
            part.choice.target or part.choice.answer for part in parts if part.choice and part.choice.tells
        }
        never = any(part.choice is NEVER for part in parts)
        if len(told) + never == len(parts) and told:
            return parts + [Part(piece) for piece in pieces[ANSWERED + 2 :]]
        if len(parts) == 2 and not whole.tells and told:
            return [Part(text, next(part.choice for part in parts if part.choice and part.choice.tells))]
    return [Part(text, whole, asked)]


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
    spaced, index = asked.spaced, index_of(brief)
    found = [
        (min(at for name in index.candidates[n].names if (at := spaced.find(f" {name} ")) >= 0), n)
        for n in called(index.names, asked)
        if index.candidates[n].items
    ]
    return [choice_of(index.candidates[number]) for _, number in sorted(found)]


def _both(one: Choice, other: Choice) -> Choice:
    if not other.target or other.target == one.target:
        return one if one.target else other
    if not one.target:
        return other
    items = tuple(dict.fromkeys(one.items + other.items))
    parts = tuple(dict.fromkeys(one.parts + other.parts))
    return Choice("labelled" if items else "unlabelled", f"{one.target} + {other.target}", items, parts)


NEVER = Choice("unanswerable")
"""Refused without a look at the ranking: SQL, secrets, or everything is asked for."""


def _understand_one(brief: Brief, asked: Question, weights: Weights | None) -> Choice:
    index = index_of(brief)
    if not asked.spaced.strip() or quotes_sql(asked.asked) or _is_spelt(asked):
        return NEVER
    named, doubtful = _named_for_certain(index, asked), False
    if is_never_answered(asked.said) or is_out_of_scope(asked.said):
        rest = _without_names(index, asked)
        doubtful = is_out_of_scope(rest, about_a_term=named is not None)
        if is_never_answered(rest):
            return NEVER
    if named is not None and not doubtful:
        return choice_of(named)
    return choose(index, asked, weights or load_weights(), doubtful)


_FRAMES = re.compile(r"\b(?:what )?(?:do|did|does|would|exactly) you mean(?: by| with)?\b|\byou mean by\b")


def _named_for_certain(index: Index, asked: Question) -> Candidate | None:
    """The point that a question names in quotation marks, or beside words that frame any question."""
    quotes, unframed = "'" in asked.text, _FRAMES.sub(" ", asked.spaced)
    found: list[tuple[int, int]] = []
    for number in range(len(index.candidates)) if quotes else sorted(called(index.names, asked)):
        candidate = index.candidates[number]
        names = [name for name in candidate.names if not asked.guesses or len(name) > SHORT_NAME]
        in_quotes = quotes and bool(names) and f"'{clean(candidate.target)}'" in asked.text
        found += [
            (-len(name), number)
            for name in names
            if in_quotes
            or (quotes and f"'{name}'" in asked.text)
            or (f" {name} " in unframed and _is_bare(unframed.replace(f" {name} ", " ")))
        ]
    return index.candidates[min(found)[1]] if found else None


def _is_bare(rest: str) -> bool:
    """Whether a text has only words that frame any question."""
    return all(stem(word) in FRAME_STEMS for word in content_words(rest.split()))


def _without_names(index: Index, asked: Question) -> Said:
    """What a question asks for without the longest name in it: a term may be called "query"."""
    names = [name for number in called(index.names, asked) for name in index.candidates[number].names]
    longest = max((name for name in names if f" {name} " in asked.spaced), key=len, default="")
    return Said.of(asked.spaced.replace(f" {longest} ", " ").strip()) if longest else asked.said


def choose(index: Index, asked: Question, weights: Weights, doubtful: bool = False) -> Choice:
    """Rank all that the question may be about, and take the first if it is sure enough.

    A `doubtful` question has words for what a user does not tell: it is answered only if the ranking is sure.
    """
    found = evidence(index, asked)
    shares = probabilities(index, asked, found, weights)
    refuse, ask = shares[-2:]
    best = shares.index(max(shares[:-2])) if index.candidates else -1
    told = shares[best] if best >= 0 else 0.0
    if doubtful and told < _SURE:
        return REFUSED
    is_open = best >= 0 and index.candidates[best].group == "open"
    costs = (
        (round((_WRONGLY_OPEN if is_open else _WRONG) * (1 - told), 6), 0),
        (round(_ASKED_BACK * (1 - ask - refuse) + _BACK_NOT_REFUSED * refuse, 6), 1),
        (round(_REFUSED_FAIR * (1 - refuse), 6), 2),
    )
    action = min(costs)[1]
    if action == 0 and best >= 0:
        return _unless_nameless(index, found, best, told)
    if asks_for_output(asked.said):
        shown = [i for i, one in enumerate(index.candidates) if "output" in one.main_kinds]
        if len(shown) == 1:
            return _unless_nameless(index, found, shown[0], shares[shown[0]])
    if action == 2:
        says_little = asked.guesses or not (found.names or asked.kinds or "personal" in asked.said.found)
        return UNCLEAR if says_little or (refuse < _SURE and _CLARIFIES.search(asked.text)) else REFUSED
    last = found.only if found.only >= 0 else _the_one_of_its_kind(index, asked)
    if last >= 0 and refuse < _MAY_BE_REFUSED:
        return _unless_nameless(index, found, last, shares[last])
    return UNCLEAR


_ALONE = PLAIN_KINDS - {"filter", "extent", "null", "tie"}


def _the_one_of_its_kind(index: Index, asked: Question) -> int:
    """The one candidate of the one kind that is asked for; -1 for several, for none, or for a point."""
    kinds = asked.kinds & _ALONE
    found = [i for i, candidate in enumerate(index.candidates) if kinds & candidate.main_kinds]
    alone = len(kinds) == 1 and len(found) == 1 and not index.candidates[found[0]].items
    return found[0] if alone else -1


_MAY_BE_REFUSED = 0.35
"""Less likely than this, a refusal leaves room for the one candidate that has the words of a question."""

_CLARIFIES = re.compile(r"\b(?:mean\w*|counts? as|counted|defin\w+|consider\w*|qualif\w+|regard\w*)\b")
"""Asks for the meaning of words: where nobody knows them, the user asks back."""


def _unless_nameless(index: Index, found: Evidence, chosen: int, share: float) -> Choice:
    """Ask back where a question names nothing, and the request does not speak of the kind of thing either.

    Else a handful of fixed questions would bring out the gold SQL of any task. Columns and the number of rows
    may be asked for in any words.
    """
    candidate = index.candidates[chosen]
    spoken_of = (index.mentioned - {"group"}) | {"output", "limit"}
    nameless = candidate.segments and not found.names and spoken_of.isdisjoint(candidate.main_kinds)
    return UNCLEAR if nameless else choice_of(candidate, share)


def choice_of(candidate: Candidate, share: float = 1.0) -> Choice:
    """Return the choice that a candidate stands for."""
    if candidate.items:
        return Choice("labelled", candidate.target, candidate.items, share=share)
    return Choice("unlabelled", candidate.target, (), candidate.segments, candidate.answer, share)


def _is_spelt(asked: Question) -> bool:
    """Whether a question is spelt letter by letter."""
    said = asked.words
    return len(said) > 6 and 2 * sum([len(word) == 1 for word in said]) > len(said)
