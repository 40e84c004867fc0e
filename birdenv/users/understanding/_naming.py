"""What a question calls by name: rules for what is certain."""

from __future__ import annotations

import re
from dataclasses import dataclass

from birdenv.users.understanding._candidates import Candidate
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._question import Question, called
from birdenv.users.understanding.vocabulary._scope import Said, asks_for_everything, out_of_scope
from birdenv.users.understanding.vocabulary._word_forms import FRAME_STEMS, clean, content_words, stem, words


@dataclass(frozen=True, slots=True)
class Named:
    """A candidate that a question names, and by which words.

    `certain` if they stand in quotation marks, `outright` if they are not just a part of "what do you mean".
    """

    candidate: Candidate
    said: str
    certain: bool
    outright: bool


_FRAMES = re.compile(r"\b(?:what )?(?:do|did|does|would|exactly) you mean(?: by| with)?\b|\byou mean by\b")


def find_named(index: Index, asked: Question) -> Named | None:
    """Find the term in quotation marks, or else by name: the longest, the earliest of equally long ones."""
    named = range(len(index.candidates)) if "'" in asked.text else called(index.names, asked)
    if not named:
        return None
    found: list[tuple[int, int, int, int, str]] = []
    unframed = _FRAMES.sub(" ", asked.spaced)
    for number in named:
        candidate = index.candidates[number]
        term = clean(candidate.target) if candidate.items else ""
        in_quotes = bool(term) and f"'{term}'" in asked.text
        for said in candidate.names:
            if in_quotes or ("'" not in term and f"'{said}'" in asked.text):
                found.append((0, -len(said), number, number, said))
            for rank, place in ((1, unframed), (2, asked.spaced)):
                at = place.find(f" {said} ")
                if at >= 0:
                    found.append((rank, -len(said), at, number, said))
                    break
    if not found:
        return None
    rank, _, _, number, said = min(found)
    return Named(index.candidates[number], said, rank == 0, rank < 2)


def needs_no_ranking(named: Named, asked: Question) -> bool:
    return named.certain or (named.outright and (_is_bare(named.said, asked) or _is_defined(named, asked)))


def _is_bare(said: str, asked: Question) -> bool:
    """Whether besides the name the question has only words that frame any question."""
    rest = _FRAMES.sub(" ", asked.spaced).replace(f" {said} ", " ")
    return all(stem(word) in FRAME_STEMS for word in content_words(rest.split()))


_DEFINED = re.compile(r"\b(?:do|did|does|would) you mean (?:by|with) '[^']+'")


def _is_defined(named: Named, asked: Question) -> bool:
    """Whether the question asks for the meaning of a phrase in quotation marks that has the name in it."""
    match = _DEFINED.search(asked.text)
    return match is not None and f" {named.said} " in f" {' '.join(words(match.group()))} "


_GENERIC = frozenset(
    """columns column data database details different display duplicates fields filter filters group
    groups join joins limit list name names number order output query rank results round rounded
    rounding row rows show sort sorted sorting table tables top type values value sql""".split()
)
"""Terms of these words alone are not named by a question that merely has the word, unless it is in quotes."""


def is_refused(named: Named | None, asked: Question) -> bool:
    if named is None:
        return out_of_scope(asked.said) or asks_for_everything(asked.said)
    without = Said.of(asked.spaced.replace(f" {named.said} ", " ").strip())
    if out_of_scope(without, about_a_term=named.certain or _is_bare(named.said, asked)):
        return True
    plainly = not _GENERIC.issuperset(named.said.split())
    return not named.certain and asks_for_everything(without if plainly else asked.said)
