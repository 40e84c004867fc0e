"""Analyse a question, and find the words that it shares with the candidates of a brief."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache

from birdenv.users.understanding._candidate import FIELDS
from birdenv.users.understanding._index import Calls, Index
from birdenv.users.understanding._phrases import Said, any_of
from birdenv.users.understanding._word_forms import (
    ASIDE_STEMS,
    GENERIC_STEMS,
    STOP_WORDS,
    SYNONYMS,
    clean,
    content_stems,
    content_words,
    stem,
    stem_list,
    words,
    written_out,
)

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question.

    Attributes:
        asked: the original text.
        text: the normalised text, for comparisons.
        spaced: the words as one string, with a single space before and after each word.
        words: the words.
        said: the words, with the phrase groups that occur in the question (see `Said`).
        stems: the stems of the words.
        content: the stems of the words that are not stop words.
        kinds: the kinds of thing that the question asks for.
        guesses: True if the question only proposes a number or a value, and does not say what it means.
    """

    asked: str
    text: str
    spaced: str
    words: tuple[str, ...]
    said: Said
    stems: tuple[str, ...]
    content: tuple[str, ...]
    kinds: frozenset[str]
    guesses: bool = False

    @property
    def confirms(self) -> bool:
        """Return True if the question asks to confirm a statement, such as "One row each. Right?"."""
        return self.stems[-1:] == (_CONFIRMS,)


@lru_cache(maxsize=64)
def take_apart(question: str) -> Question:
    """Analyse a question. Only the first 2000 characters are read.

    If "Is that right?" follows a statement, the question is about the statement.
    """
    text = written_out(clean(question[:_LONGEST]))
    sentences, asked, tags = _sentences(text)
    all_words = tuple(words(" ".join(sentences)))
    said = Said.of(" ".join(all_words))
    telling = _WORKED_OUT.sub(" ", said.text).split() if "out" in all_words else all_words
    kinds, guesses = said.kinds, _is_guess(text)
    if guesses:
        kinds = Said.of(" ".join(words(_VALUE.sub(" ", text)))).kinds
        kinds |= {"limit"} if _ROWS.search(text) else set()
    elif len(asked) < len(sentences):
        of_question = " ".join(asked)
        # "How do you wish them to be handled?" asks for what was said before it.
        if not content_stems(of_question) <= GENERIC_STEMS:
            kinds = Said.of(" ".join(words(of_question))).kinds
    stems = tuple(map(stem, all_words))
    return Question(
        asked=question,
        text=text,
        spaced=f" {said.text} ",
        words=all_words,
        said=said,
        stems=(*stems, _CONFIRMS) if tags else stems,
        content=tuple(dict.fromkeys(map(stem, content_words(telling)))),
        kinds=kinds,
        guesses=guesses,
    )


def respelt(index: Index, question: Question) -> Question:
    """Return a question in which unknown words are replaced by nearly the same long words of the task.

    An example is "what counts as late retruns?". A rare correct word may be taken for an error.
    """
    found: dict[str, str] = {}
    if not _is_readable(index, question):
        return question
    for word, one in zip(question.words, question.stems, strict=False):
        is_known = word in STOP_WORDS or one in _LEXICON or one in index.meant
        if len(word) > 4 and not is_known and (right := _alike(word, index.long_words.get(word[0], ()))):
            found[word] = right
    if not found:
        return question
    text = _WORD.sub(lambda match: found.get(match[0], match[0]), question.text)
    return replace(take_apart(text), asked=question.asked)


@lru_cache(maxsize=4096)
def _alike(word: str, others: tuple[str, ...]) -> str:
    """Return one of the words that is nearly the same as a word, or an empty string."""
    near = [other for other in others if abs(len(other) - len(word)) < 2]
    return "" if word in near else "".join(get_close_matches(word, near, 1, _NEARLY_THE_SAME))


_NEARLY_THE_SAME = 0.84
"""The minimum share of letters that two words have in common: all but one of seven."""

_WORD = re.compile(r"[^\W_]+")

_WORKED_OUT = re.compile(r"\bwork(?:s|ed|ing)? (?:(?:it|this|that|them|these|one) )?out\b")
"""Asks how something is computed, so these words do not refer to names such as "working stations"."""


_VALUE = any_of(
    r"""
    (?:(?:exactly|only|just|at least|at most|more than|less than|above|below|over|under) )?NUMBER"""
)
_ROWS = any_of("NUMBER (?:rows?|lines?|results?|entries|records|items)")
_QUOTED = re.compile(r"'[^'\s]{1,60}'")
_ENQUIRES = re.compile(r"\b(?:what|which|how|when|who|where|why|defin\w+|clarif\w+|mean\w*|explain\w*)\b")


def _is_guess(text: str) -> bool:
    """Return whether a cleaned text proposes a number or a quoted value, and has no other telling word."""
    if _ENQUIRES.search(text):
        return False
    bare = _QUOTED.sub(" ", _VALUE.sub(" ", text))
    if bare == text:
        return False
    return content_stems(bare) <= GENERIC_STEMS | _TAG


def _sentences(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return a cleaned text's sentences, its questions, and the sentences that only ask to confirm others."""
    sentences = _SENTENCE.findall(text)
    asked = [one for one in sentences if one.rstrip(" '").endswith("?")]
    tags = [one for one in asked if is_tag(one)] if len(sentences) > 1 else []
    if not tags or len(tags) < len(asked):
        return sentences, asked, []
    rest = [one for one in sentences if one not in tags]
    return rest, rest, tags


_CONFIRMS = "=yes"
_TAG = stem_list("confirming")


def is_tag(sentence: str) -> bool:
    """Return True if a sentence only asks to confirm the sentence before it, such as "Right?"."""
    said = words(sentence)
    return len(said) < 11 and _OUTCOME.isdisjoint(said) and content_stems(sentence) <= _TAG


_OUTCOME = frozenset({"answer", "result", "results", "solution"})
"""A sentence with one of these words does not ask to confirm the statement before it."""

_SENTENCE = re.compile(r"[^.?!;]+(?:[.?!;](?!\s|$)[^.?!;]*)*[.?!;]*")


@dataclass(slots=True)
class Overlap:
    """The words that a question shares with the candidates.

    Attributes:
        by_field: the total weight of the shared words in each field of a candidate, by the candidate's index.
        named: the candidates whose names the question contains.
        known: these candidates, and those with which the question shares a distinctive word. Words that are
            common in all questions are not distinctive.
        names: True if a distinctive word in the question occurs in the request or in a candidate.
        total: the weight of all words in the question.
        unknown: the weight of the words that no candidate contains.
    """

    by_field: Mapping[int, Sequence[float]]
    named: Set[int]
    known: Set[int]
    names: bool = False
    total: float = 0.0
    unknown: float = 0.0


def overlap(index: Index, question: Question) -> Overlap:
    """Find and weight the words that a question shares with each candidate."""
    named = called(index.names, question)
    known = set(named)
    shared: dict[int, list[float]] = {}
    names = False
    total = unknown = 0.0
    readable = _is_readable(index, question)
    weights, postings = index.weight, index.postings
    for word in question.content:
        meant, is_named = index.meant.get(word, ()), word in index.named
        of_request = is_named or word in index.request
        telling = is_named or (
            word not in GENERIC_STEMS and (of_request or (readable and not word.isdigit()))
        )
        names |= telling and (of_request or bool(meant))
        if not meant:
            weight = 0.25 if word in ASIDE_STEMS else 1.0
            total += weight
            unknown += weight
            continue
        total += max([weights[other] for other, _ in meant])
        for other, share in meant:
            weight = weights[other] * share
            for number, place in postings[other]:
                fields = shared.get(number)
                if fields is None:
                    fields = shared[number] = [0.0] * len(FIELDS)
                fields[place] += weight
                if telling:
                    known.add(number)
    return Overlap(shared, named, known, names, total or 1.0, unknown)


def called(calls: Calls, question: Question) -> set[int]:
    """Return the indices of the candidates whose names or values, given in `calls`, a question mentions."""
    if calls.keys().isdisjoint(question.words):
        return set()
    return {
        number for word in question.words for name, number in calls.get(word, ()) if name in question.spaced
    }


_LEXICON = GENERIC_STEMS | SYNONYMS.keys()


def _is_readable(index: Index, question: Question) -> bool:
    """Return whether most words are known. In other languages and codes, a word is known only by chance."""
    known = [
        word in STOP_WORDS or one in _LEXICON or one in index.postings or word.isdigit()
        for word, one in zip(question.words, question.stems, strict=False)
    ]
    return 2 * sum(known) >= len(known)
