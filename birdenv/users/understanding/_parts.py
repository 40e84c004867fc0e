"""Decide which sentences in a message form one question, and what each question is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import reduce

from birdenv.users._brief import Brief
from birdenv.users.understanding._choice import NEVER, SURE, Choice, choice_of, understand_one
from birdenv.users.understanding._grammar import begins_as_question, is_elliptical
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._message import Piece, pieces_of
from birdenv.users.understanding._question import Question, called, take_apart
from birdenv.users.understanding._weights import Weights
from birdenv.users.understanding._word_forms import GENERIC_STEMS, clean, content_words, stem, words

ANSWERED = 2
"""The number of questions that are answered per message; the others wait."""


@dataclass(frozen=True, slots=True)
class Part:
    """One question in a message.

    Attributes:
        text: the question.
        choice: the decision about the question; None if it is not yet decided.
        asked: the analysed question; None if the question is not yet analysed.
    """

    text: str
    choice: Choice | None = None
    asked: Question | None = field(default=None, compare=False, repr=False)


def understand(brief: Brief, question: str | Question, weights: Weights | None = None) -> Choice:
    """Decide what a message is about, ignoring earlier messages.

    If the message contains several questions, only the first two count. A `Question` is not split.
    """
    if isinstance(question, Question):
        return understand_one(brief, question, weights)
    choices = [part.choice for part in understand_parts(brief, question, weights)[:ANSWERED] if part.choice]
    refused = [one for one in choices if one.call == "unanswerable"]
    return reduce(_both, [one for one in choices if one.tells] or refused[:1] or choices[:1])


def understand_parts(brief: Brief, message: str, weights: Weights | None = None) -> list[Part]:
    """Split a message into questions, and decide what at least the first two questions are about.

    The choices for later questions may be None.
    """
    pieces = pieces_of(message)
    if pieces[0].is_item:
        parts = [_understood(brief, one.text, weights) for one in pieces[:ANSWERED]]
        return parts + [Part(one.text) for one in pieces[ANSWERED:]]
    parts = list[Part]()
    for number, piece in enumerate(pieces):
        if len(parts) > ANSWERED or number >= _MOST_LOOKED_AT:
            return parts + [Part(one.text) for one in pieces[number:] if not one.goes_on]
        part = _understood(brief, piece.text, weights)
        if parts and _belongs(piece, part, parts[-1]):
            parts[-1] = _joined(brief, parts[-1], part, weights, piece.is_clause)
        else:
            parts.append(part)
    is_sentence = all(one.is_clause for one in pieces[1:])
    if len(parts) > 1 and is_sentence and not any(part.choice and part.choice.tells for part in parts):
        parts = [_understood(brief, message, weights)]
    return [one for part in parts for one in _named(brief, part)]


_MOST_LOOKED_AT = 12
"""The maximum number of questions to examine in search of the first two that stand on their own."""


def _belongs(piece: Piece, part: Part, before: Part) -> bool:
    """Return whether a sentence or a clause, understood as `part`, continues the question before it."""
    choice, earlier = part.choice, before.choice
    if choice is None or earlier is None:
        return False
    if choice is NEVER:
        return piece.is_clause and not piece.stands
    if piece.goes_on or (piece.is_clause and piece.refers and not piece.stands):
        return True
    if choice.tells and (choice.target, choice.answer) == (earlier.target, earlier.answer):
        return True
    said, own = _telling(before.text), _telling(piece.text)
    if (
        not piece.is_clause
        and is_elliptical(piece.text)
        and not begins_as_question(piece.text)
        and not own.isdisjoint(said)
    ):
        return True  # "Which loaves count? The best loaves only?"
    if piece.is_clause and not earlier.tells and is_elliptical(before.text):
        return True  # "What income, and what age, make a customer attractive?"
    if earlier.call == "unanswerable" and (piece.refers or (piece.is_clause and choice.share < SURE)):
        return True
    if choice.tells and piece.is_clause and is_elliptical(piece.text):
        return choice.share < SURE
    if choice.tells:
        return piece.refers and choice.share < (_LIKELY if piece.stands else SURE)
    if not piece.is_clause:
        return piece.refers
    return piece.refers or not piece.stands or own <= said | _BOUNDS


_LIKELY = 0.6
"""A question that refers to the one before it stands alone if its choice is more probable than this."""

_BOUNDS = frozenset(map(stem, "border boundary draw edge enough lie line other sufficient suffice".split()))
"""A clause with no other words ("and where do I draw the line?") is about the question before it."""


def _telling(text: str) -> set[str]:
    return set(map(stem, content_words(words(clean(text))))) - GENERIC_STEMS


def _joined(brief: Brief, before: Part, after: Part, weights: Weights | None, in_sentence: bool) -> Part:
    """Return a question joined with the clause or the sentence that continues it.

    Clauses of one sentence are understood together; otherwise the most probable choice is made. If neither is
    answered by itself, both together are not answered either: each may be a guess. If the answers only say
    that there is no preference, both together tell nothing more.
    """
    both = _understood(brief, f"{before.text} {after.text}", weights)
    choices = [part.choice for part in (before, after, both) if part.choice]
    telling = [choice for choice in choices[:2] if choice.tells]
    if in_sentence and choices[-1].call != "unclear":
        return both
    if not telling:
        return both if choices[-1].call == "unanswerable" else replace(both, choice=before.choice)
    if not any(choice.target for choice in telling):
        choices = telling
    return replace(both, choice=max(choices, key=lambda one: (one.tells, one.share)))


def _understood(brief: Brief, text: str, weights: Weights | None) -> Part:
    """Return a text as one question."""
    asked = take_apart(text)
    return Part(text, understand_one(brief, asked, weights), asked)


def _named(brief: Brief, part: Part) -> list[Part]:
    """Return the questions for X and Y in "what do you mean by X and Y?", or the part itself."""
    choice, asked = part.choice, part.asked
    if choice is None or asked is None or not choice.tells or choice is NEVER or " and " not in part.text:
        return [part]
    named = named_points(brief, asked)
    terms = (re.escape(clean(choice.target)) for choice in named)
    listed = r"(?: \w+){0,2}'?(?:,|,? and) (?:by |the |what (?:is|are) )*'?".join(terms)
    return (
        [Part(one.target, one) for one in named]
        if len(named) > 1 and re.search(listed, asked.text)
        else [part]
    )


def named_points(brief: Brief, asked: Question) -> list[Choice]:
    """Return the choices for the points that a question names, in the order in which it names them."""
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
