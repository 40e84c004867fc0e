"""The secrets that an answer must not contain, compiled from the task's brief and the granted snippets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from birdenv.users._brief import Brief
from birdenv.users.identifiers import is_identifier
from birdenv.users.leak_guard._disguises import letters, plain
from birdenv.users.sql_in_words import in_words, quoted, read_aloud, respelt, split_words, tokenize

_SQL_WORDS, _SQL_LETTERS = 6, 30
"""The number of consecutive words, or letters, from hidden SQL that count as a leak."""

_CLEAR_WORDS, _CLEAR_LETTERS = 8, 40
"""The number of consecutive words, or letters, from the clear question that count as a leak."""

_SQL = "repeats the reference beyond what was granted"
_CLEAR = "repeats the clear question"

_PART = re.compile(r"[^\W_]+")
_SIGN = re.compile(r"\d+\.\d+|\w+|<=|>=|<>|!=|\|\||::|->|[^\w\s]")
_COMPARED = re.compile(r"[=<>*/]|\|\||::|!=")
_QUOTES = re.compile(r"['\"`‘’“”]")
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "||", "::", "->", "*", "/"})

_Run = TypeVar("_Run", str, tuple[str, ...])


class Runs(Generic[_Run]):
    """Forbidden runs: sequences of words or letters that an answer must not contain.

    A fast test comes first. It samples short blocks of an answer at regular intervals. If no block occurs in
    a forbidden run, the answer contains no forbidden run.

    Args:
        split: the function that splits a text into words or letters.
        known: texts that an answer may repeat; their runs are not forbidden.
        forbidden: for each kind of secret text, the reason for refusing an answer, the texts, and the length
            of the forbidden runs in words or letters.
    """

    def __init__(
        self,
        split: Callable[[str], _Run],
        known: Sequence[str],
        *forbidden: tuple[str, Sequence[str], int],
    ) -> None:
        self._split: Callable[[str], _Run] = split
        self._found_in: list[tuple[str, Set[_Run], int]] = [
            (reason, self._runs(texts, length) - self._runs(known, length), length)
            for reason, texts, length in forbidden
        ]
        least = min(length for _, _, length in self._found_in)
        self._block = (least + 1) // 2
        self._step = least - self._block + 1
        self._blocks: Set[_Run] = {
            block for _, runs, _ in self._found_in for run in runs for block in _pieces(run, self._block)
        }

    def _runs(self, texts: Sequence[str], length: int) -> frozenset[_Run]:
        return frozenset(run for text in texts for run in _pieces(self._split(text), length))

    def reason(self, text: str) -> str:
        """Return the reason for refusing `text`, or an empty string if it contains no forbidden run."""
        said = self._split(text)
        if not self._blocks.isdisjoint(_pieces(said, self._block, self._step)):
            for reason, runs, length in self._found_in:
                if not runs.isdisjoint(_pieces(said, length)):
                    return reason
        return ""


def _pieces(run: _Run, length: int, step: int = 1) -> list[_Run]:
    return [run[i : i + length] for i in range(0, len(run) - length + 1, step)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_PART.findall(text))


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
        words: forbidden runs of words in the SQL and the clear question.
        letters: forbidden runs of letters in the same texts.
    """

    names: frozenset[str]
    names_as_letters: frozenset[str]
    spelt: frozenset[str]
    own_world: frozenset[str]
    signs: frozenset[tuple[str, ...]]
    words: Runs[tuple[str, ...]]
    letters: Runs[str]


class Protected:
    """The protected texts of one task, from which `secrets` computes what an answer must not contain.

    The snippets granted to an answer are not secret in this answer.
    """

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._snippets = tuple(item.snippet for item in brief.ambiguities)
        self._terms = tuple(dict.fromkeys(item.term for item in brief.ambiguities))
        self._own = _vocabulary((brief.clear_query,))
        self._free = _vocabulary(self._terms, brief.identifiers)
        names = [t for sql in (*brief.gold, *self._snippets) for t in tokenize(sql) if t.kind in _NAMES]
        self._spelt = frozenset(plain(name.text) for name in names) | frozenset(map(plain, brief.identifiers))
        self._made_up = frozenset(
            plain(name)
            for name in brief.identifiers.union(name.text for name in names)
            if is_identifier(name, self._own)
        )
        self.secrets = lru_cache(maxsize=256)(self._secrets)

    def quotations(self, granted: tuple[str, ...]) -> tuple[str, ...]:
        """Return the texts that an answer may quote, in all spellings, with the longest first."""
        return _quotations(granted, self._terms)

    def _secrets(self, granted: tuple[str, ...]) -> Secrets:
        """Return the secrets that an answer with these granted snippets must not contain."""
        brief = self._brief
        said = [read_aloud(part, brief.identifiers).text for part in granted]
        said += [in_words(part, brief).text for part in granted]
        known = tuple(map(plain, (*granted, *said, *self._terms)))
        hidden = [plain(sql) for sql in (*brief.gold, *self._snippets) if sql not in granted]
        clear = plain(brief.clear_query)
        clear_words = min(_CLEAR_WORDS, max(len(_words(clear)), 5))
        clear_letters = min(_CLEAR_LETTERS, max(len(letters(clear)), 20))
        allowed = _vocabulary(granted, brief.identifiers) | self._free
        names = self._made_up - allowed
        return Secrets(
            names=names,
            names_as_letters=frozenset(letters(name) for name in names if len(name) > 5),
            spelt=self._spelt,
            own_world=allowed.union(
                self._own, _vocabulary(tuple(sorted(brief.identifiers))), *map(_words, map(plain, said))
            ),
            signs=frozenset(sign for part in hidden for sign in signs(part))
            - frozenset(sign for part in granted for sign in signs(plain(part))),
            words=Runs(_words, known, (_SQL, hidden, _SQL_WORDS), (_CLEAR, [clear], clear_words)),
            letters=Runs(letters, known, (_SQL, hidden, _SQL_LETTERS), (_CLEAR, [clear], clear_letters)),
        )


_NAMES = ("word", "quoted")


@lru_cache(maxsize=256)
def _vocabulary(parts: tuple[str, ...], identifiers: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the words in texts, both unchanged and split into parts, also as the schema spells them."""
    found: set[str] = set()
    for part in parts:
        found.update(re.findall(r"\w+", plain(part)), split_words(part).split())
        for token in respelt(tokenize(part), identifiers):
            found.update(split_words(token.text).split())
    return frozenset(found)


@lru_cache(maxsize=256)
def _quotations(granted: tuple[str, ...], terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the strings in granted snippets and the terms, in quotation marks, with the longest first."""
    tokens = [token for part in granted for token in tokenize(part)]
    strings = {t.text for t in tokens if t.kind in ("string", "quoted") and t.text.strip()}
    strings.update(" ".join(term.split()) for term in terms)
    ordered = sorted(strings, key=lambda s: (-len(s), s))
    return tuple(dict.fromkeys(form for s in ordered for form in (quoted(s), f"'{s}'", f'"{s}"')))


def signs(text: str) -> Iterable[tuple[str, ...]]:
    """Return the comparisons and divisions in a text that are written with operators, such as `a > 1`."""
    if _COMPARED.search(text) is None:
        return
    said = _SIGN.findall(_QUOTES.sub(" ", text))
    for i in range(len(said) - 2):
        if said[i + 1] in _COMPARISONS and said[i][0].isalnum() and said[i + 2][0].isalnum():
            yield tuple(said[i : i + 3])
