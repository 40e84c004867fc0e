"""The secrets that an answer must not contain, compiled from the task's brief and the granted snippets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from birdenv.users._brief import Brief
from birdenv.users.identifiers import is_identifier
from birdenv.users.leak_guard._disguises import letters, plain, words_of
from birdenv.users.sql_in_words import in_words, read_aloud, respelt, split_words, tokenize

_LENGTHS = ((words_of, 6, 8, 5), (letters, 30, 40, 20))
"""For words and for letters: the function that splits a text into them, and how many consecutive ones count
as a leak: from hidden SQL, from the clear question, and the least from a clear question that is shorter."""

_SQL = "repeats the reference beyond what was granted"
_CLEAR = "repeats the clear question"

_SIGN = re.compile(r"\d+\.\d+|\w+|<=|>=|<>|!=|\|\||::|->|[^\w\s]")
_QUOTES = re.compile(r"['\"`‘’“”]")
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "||", "::", "->", "*", "/"})


class Runs(NamedTuple):
    """Forbidden runs: sequences of words, or of letters, that an answer must not contain.

    Attributes:
        reason: the reason for refusing an answer with a forbidden run.
        split: the function that splits a text into words or letters.
        length: the length of a run.
        forbidden: the runs.
    """

    reason: str
    split: Callable[[str], Sequence[str]]
    length: int
    forbidden: frozenset[Sequence[str]]

    def occur_in(self, text: str) -> bool:
        """Return True if a text contains a forbidden run."""
        return not self.forbidden.isdisjoint(_pieces(self.split(text), self.length))


def _pieces(run: Sequence[str], length: int) -> list[Sequence[str]]:
    return [run[i : i + length] for i in range(len(run) - length + 1)]


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets that one answer must not contain.

    Attributes:
        names: names in the schema and the gold SQL that the answer must not mention.
        names_as_letters: the letters of the longer names, to find names that are spelt with separators.
        spelt: all names in the schema and the gold SQL, including names that look like ordinary words.
        own_world: words from the task's own subject, such as "gold" in a task about metals. They do not count
            as a mention of the gold SQL.
        signs: comparisons and divisions written with operators, such as `tier = 'x'`.
        runs: forbidden runs of words and letters in the SQL and the clear question.
    """

    names: frozenset[str]
    names_as_letters: frozenset[str]
    spelt: frozenset[str]
    own_world: frozenset[str]
    signs: frozenset[tuple[str, ...]]
    runs: tuple[Runs, ...]

    def repeated_in(self, text: str) -> str:
        """Return the reason for refusing a text that contains a forbidden run, or an empty string."""
        return next((runs.reason for runs in self.runs if runs.occur_in(text)), "")


@lru_cache(maxsize=1024)
def secrets_of(brief: Brief, granted: tuple[str, ...]) -> Secrets:
    """Return what is secret in an answer that may draw on the granted snippets."""
    terms = [item.term for item in brief.ambiguities]
    protected = (*brief.gold, *(item.snippet for item in brief.ambiguities))
    spelt = {t.text for sql in protected for t in tokenize(sql) if t.kind in ("word", "quoted")}
    spelt |= brief.identifiers
    said = [read_aloud(sql, brief.identifiers).text for sql in granted]
    said += [in_words(sql, brief).text for sql in granted]
    free = [*granted, *terms, brief.request]
    may_be_said = [plain(text) for text in (*free, *said)]
    free += [token.text for text in free for token in respelt(tokenize(text), brief.identifiers)]
    own, allowed = _vocabulary([brief.clear_query]), _vocabulary(free)
    names = {plain(name) for name in spelt if is_identifier(name, own)} - allowed
    hidden = [plain(sql) for sql in protected if sql not in granted]
    return Secrets(
        names=frozenset(names),
        names_as_letters=frozenset(letters(name) for name in names if len(name) > 5),
        spelt=frozenset(map(plain, spelt)),
        own_world=own.union(allowed, _vocabulary(brief.identifiers), *map(words_of, map(plain, said))),
        signs=frozenset()
        .union(*map(signs, hidden))
        .difference(*(signs(plain(text)) for text in (*granted, brief.request))),
        runs=tuple(_forbidden(hidden, plain(brief.clear_query), may_be_said)),
    )


def _forbidden(hidden: Sequence[str], clear: str, known: Sequence[str]) -> Iterator[Runs]:
    """Yield the runs in hidden SQL and in the clear question that are in no known text."""
    for split, in_sql, in_clear, least in _LENGTHS:
        in_clear = min(in_clear, max(len(split(clear)), least))
        for reason, length, texts in ((_SQL, in_sql, hidden), (_CLEAR, in_clear, [clear])):
            secret = {run for text in texts for run in _pieces(split(text), length)}
            may_be_said = {run for text in known for run in _pieces(split(text), length)}
            yield Runs(reason, split, length, frozenset(secret - may_be_said))


def _vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """Return the words in texts, both unchanged and split into parts."""
    found = ((*re.findall(r"\w+", plain(text)), *split_words(text).split()) for text in texts)
    return frozenset().union(*found)


def quotations(brief: Brief, granted: Sequence[str]) -> list[str]:
    """Return the strings in granted snippets and the terms, in quotation marks, with the longest first."""
    strings = {" ".join(item.term.split()) for item in brief.ambiguities}
    for sql in granted:
        strings.update(t.text for t in tokenize(sql) if t.kind in ("string", "quoted") and t.text.strip())
    ordered = sorted(strings, key=lambda s: (-len(s), s))
    return [form for s in ordered for form in (f"'{s}'", f'"{s}"')]


def signs(text: str) -> set[tuple[str, ...]]:
    """Return the comparisons and divisions in a text that are written with operators, such as `a > 1`."""
    said = _SIGN.findall(_QUOTES.sub(" ", text))
    return {
        (one, sign, other)
        for one, sign, other in zip(said, said[1:], said[2:], strict=False)
        if sign in _COMPARISONS and one[0].isalnum() and other[0].isalnum()
    }
