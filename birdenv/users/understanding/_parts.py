"""Decide which sentences in a message form one question, and what each question is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import reduce

from birdenv.users._brief import Brief
from birdenv.users.understanding._choice import NEVER, SURE, Choice, choice_of, understand_one
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._message import Piece, begins_as_question, pieces_of
from birdenv.users.understanding._question import Question, called, questions_in, take_apart
from birdenv.users.understanding._weights import Weights
from birdenv.users.understanding._word_forms import clean

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
    if len(pieces) == 1:
        return _clauses(brief, message, weights)
    if pieces[0].is_item:
        parts = [Part(one.text, _understand_whole(brief, one.text, weights)) for one in pieces[:ANSWERED]]
        return parts + [Part(one.text) for one in pieces[ANSWERED:]]
    parts = []
    for number, piece in enumerate(pieces):
        if len(parts) > ANSWERED or number >= _MOST_LOOKED_AT:
            return parts + [Part(one.text) for one in pieces[number:] if not one.goes_on]
        choice = _understand_whole(brief, piece.text, weights)
        if parts and parts[-1].choice and _belongs(piece, choice, parts[-1].choice):
            text = f"{parts[-1].text} {piece.text}"
            parts[-1] = _joined(brief, text, parts[-1].choice, choice, weights)
        else:
            parts.append(Part(piece.text, choice))
    return [one for part in parts for one in _clauses(brief, part.text, weights, part.choice)]


_MOST_LOOKED_AT = 12
"""The maximum number of questions to examine in search of the first two that stand on their own."""


def _belongs(piece: Piece, choice: Choice, before: Choice) -> bool:
    """Return whether a sentence continues the question before it. `choice` and `before` are their choices."""
    if choice is NEVER:
        return False
    if piece.goes_on or (choice.tells and choice.target == before.target and choice.target):
        return True
    return piece.refers and (not choice.tells or choice.share < SURE)


def _joined(brief: Brief, text: str, before: Choice, after: Choice, weights: Weights | None) -> Part:
    """Return a question joined with the sentence that continues it, with the most probable choice.

    `text` contains both sentences, and `before` and `after` are the choices for each alone. If neither is
    answered by itself, both together are not answered either: each may be a guess.
    """
    both = _understand_whole(brief, text, weights)
    if not before.tells and not after.tells:
        return Part(text, both if both.call == "unanswerable" else before)
    return Part(text, max(before, after, both, key=lambda one: (one.tells, one.share)))


def _understand_whole(brief: Brief, text: str, weights: Weights | None) -> Choice:
    return understand_one(brief, take_apart(text), weights)


def _clauses(brief: Brief, text: str, weights: Weights | None, known: Choice | None = None) -> list[Part]:
    """Return the questions in one sentence ("A, and B?") if they are about different things."""
    asked = take_apart(text)
    whole = known or understand_one(brief, asked, weights)
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
    """Return the choices for X and Y in "what do you mean by X and Y?"."""
    named = named_points(brief, asked)
    if len(named) != 2:
        return []
    one, other = (re.escape(clean(choice.target)) for choice in named)
    pair = rf"{one}'?,? and (?:by |the |what (?:is|are) )*'?{other}"
    return named if re.search(pair, asked.text) else []


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
