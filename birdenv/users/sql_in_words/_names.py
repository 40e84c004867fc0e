"""Names of columns, entries of JSON columns and CTEs in everyday words.

For example, `anomscore` becomes "anomaly score", `floor_area_m2` "floor area in m2", and `joined_on`
"joined-on date".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from birdenv.users._brief import NO_NOTES, BriefNotes
from birdenv.users.identifiers import is_identifier, words_of_names
from birdenv.users.sql_in_words._meanings import as_meant, entry_meanings, real_words, words_of_part
from birdenv.users.sql_in_words._parse import LexicalUnit, split_words
from birdenv.users.sql_in_words._tables import plural

GENERAL_WORDS = frozenset(words_of_names("general words"))
"""Names that need the thing that they belong to, such as "the cost of the repair"."""

_COMPUTATION = re.compile(r" (?:calc|calculation|cte)s?$")
_KEY = re.compile(r"[^$.\[\]\"]+")


class Names(NamedTuple):
    """The everyday names of a database's columns.

    Attributes:
        identifiers: the names as the schema spells them, such as `FreqDriftHzs`. Snippets can spell them
            differently, such as `freqdrifthzs`.
        notes: notes with the columns' meanings.
    """

    identifiers: frozenset[str] = frozenset()
    notes: BriefNotes = NO_NOTES

    def words(self, name: str) -> str:
        """Return the words for a column, from its meaning or from the parts of its name.

        A name that contains spaces or punctuation is returned unchanged.
        """
        if not name.replace("_", "a").replace("$", "a").isalnum():
            return name.replace("_", " ").strip()
        words, column = split_words(_better_spelt(name, self.identifiers)), name.lower()
        meaning = self.notes.columns.get(column)
        return self._parts(words) if meaning is None else as_meant(column, words, meaning, self.notes)

    def _parts(self, words: str) -> str:
        """Return the words for the parts of a name. A word that would follow itself is said once."""
        said = " ".join(words_of_part(part, self.notes) for part in words.split()).split()
        return " ".join(word for before, word in pairwise(["", *said]) if word != before)

    def entry(self, column: str, path: str) -> str:
        """Return the words for an entry in a JSON column, such as "size tank l" for `$.size.tank_l`."""
        keys = tuple(_KEY.findall(path))
        entries = entry_meanings(self.notes.columns.get(column.lower(), ""))
        if keys not in entries:
            return self._parts(split_words(path))
        words = as_meant(keys[-1].lower().replace("_", ""), split_words(keys[-1]), entries[keys], self.notes)
        if words in _columns_in_words(self):
            return f"{words} of the {self.words(column)}"
        if keys[1:] and (words in GENERAL_WORDS or sum(path[-1] == keys[-1] for path in entries) > 1):
            return f"{split_words(keys[-2])} {words}"
        return words

    def step(self, name: str) -> str:
        """Return the plural noun for a CTE, or an empty string for a table or a name not made of words."""
        if not self.identifiers or name.lower() in _best_spellings(self.identifiers):
            return ""
        words, known = _COMPUTATION.sub("", self.words(name)), real_words(self.notes)
        is_noun = all(word in known or (len(word) > 3 and not is_identifier(word)) for word in words.split())
        return plural(words) if is_noun and (" " in words or words.endswith("s")) else ""


@lru_cache(maxsize=64)
def _columns_in_words(names: Names) -> frozenset[str]:
    return frozenset(map(names.words, names.notes.columns))


def respelt(tokens: Iterable[LexicalUnit], identifiers: frozenset[str]) -> list[LexicalUnit]:
    """Return the tokens with names respelt as in `identifiers`, if that spelling splits into more words."""
    return [
        replace(one, text=_better_spelt(one.text, identifiers)) if one.kind in ("word", "quoted") else one
        for one in tokens
    ]


def _better_spelt(name: str, identifiers: frozenset[str]) -> str:
    return max(name, _best_spellings(identifiers).get(name.lower(), ""), key=_length)


@lru_cache(maxsize=256)
def _best_spellings(identifiers: frozenset[str]) -> dict[str, str]:
    return {name.lower(): name for name in sorted(sorted(identifiers, reverse=True), key=_length)}


def _length(name: str) -> int:
    return len(split_words(name).split())
