"""Decide which sentences in a message form one question, and what each question is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from birdenv.users._brief import Brief
from birdenv.users.understanding._choice import Choice, choice_of, understand_one
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._message import pieces_of
from birdenv.users.understanding._question import Question, called, take_apart
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
    """

    text: str
    choice: Choice | None = None

    @property
    def asked(self) -> Question:
        """Return the analysed question."""
        return take_apart(self.text)


def understand(brief: Brief, message: str, weights: Weights | None = None) -> Choice:
    """Decide what a message is about, ignoring earlier messages.

    If the message contains several questions, only the first two count.
    """
    choices = [part.choice for part in understand_parts(brief, message, weights)[:ANSWERED] if part.choice]
    named = {one.target: one for one in choices if one.tells and one.target}
    if len(named) < 2:
        return max(choices, key=lambda one: (one.target in named, one.tells, one.call == "unanswerable"))
    items = tuple(dict.fromkeys(item for one in named.values() for item in one.items))
    segments = tuple(dict.fromkeys(part for one in named.values() for part in one.parts))
    return Choice("labelled" if items else "unlabelled", " + ".join(named), items, segments)


def understand_parts(brief: Brief, message: str, weights: Weights | None = None) -> list[Part]:
    """Split a message into questions, and decide what at least the first two questions are about.

    The choices for later questions may be None.
    """
    pieces, parts = pieces_of(message), list[Part]()
    for number, piece in enumerate(pieces):
        if len(parts) > ANSWERED - (piece.needs < 0) or number >= _MOST_LOOKED_AT:
            return parts + [Part(one.text) for one in pieces[number:] if one.needs <= 1]
        part = _understood(brief, piece.text, weights)
        if parts and _continues(piece.needs, part.choice, parts[-1].choice):
            parts[-1] = _joined(brief, parts[-1], part, weights)
        else:
            parts.append(part)
    return [one for part in parts for one in _named(brief, part)]


_MOST_LOOKED_AT = 12
"""The maximum number of questions to examine in search of the first two that stand on their own."""


def _continues(needs: float, choice: Choice | None, before: Choice | None) -> bool:
    """Return whether a choice is too improbable to stand alone, or only repeats the one before it."""
    if choice is None or before is None or not choice.tells:
        return needs > 0
    same = (choice.target, choice.answer) == (before.target, before.answer)
    return choice.share < needs or (same and needs >= 0)


def _joined(brief: Brief, before: Part, after: Part, weights: Weights | None) -> Part:
    """Return a question joined with what continues it: refused, or with the most probable choice.

    If neither is answered by itself, both together are not answered either: each may be a guess.
    """
    both = _understood(brief, f"{before.text} {after.text}", weights)
    choices = [part.choice for part in (before, after, both) if part.choice]
    if choices[-1].call == "unanswerable":
        return both
    if not any(choice.tells for choice in choices[:2]):
        choices = choices[:2]
    return replace(both, choice=max(choices, key=lambda one: (one.tells, one.share)))


def _understood(brief: Brief, text: str, weights: Weights | None) -> Part:
    """Return a text as one question."""
    return Part(text, understand_one(brief, take_apart(text), weights))


def _named(brief: Brief, part: Part) -> list[Part]:
    """Return the questions for X and Y in "what do you mean by X and Y?", or the part itself."""
    if not (part.choice and part.choice.tells) or " and " not in part.text:
        return [part]
    asked, index = part.asked, index_of(brief)
    found = [
        (min(at for name in index.candidates[n].names if (at := asked.spaced.find(f" {name} ")) >= 0), n)
        for n in called(index.names, asked)
        if index.candidates[n].items and not index.candidates[n].segments
    ]
    named = [choice_of(index.candidates[number]) for _, number in sorted(found)]
    terms = (re.escape(clean(choice.target)) for choice in named)
    listed = r"(?: \w+){0,2}'?(?:,|,? and) (?:by |the |what (?:is|are) )*'?".join(terms)
    is_list = len(named) > 1 and re.search(listed, asked.text)
    return [Part(one.target, one) for one in named] if is_list else [part]
