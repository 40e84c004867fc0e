"""Column names in everyday words, with the help of the columns' meanings.

For example, `anomscore` becomes "anomaly score", `floor_area_m2` "floor area in m2", and `joined_on`
"joined-on date".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from birdenv.users._brief import NO_NOTES, BriefNotes
from birdenv.users.identifiers import is_identifier, words_of_names
from birdenv.users.sql_in_words._parse import LexicalUnit, split_words
from birdenv.users.sql_in_words._tables import singular

_SHORT = dict(pair.split("=") for pair in words_of_names("abbreviations"))
_UNITS = {unit: said for unit, *said in (entry.split("=") for entry in words_of_names("units"))}
"""Units by the last part of a name: how they are said, and a pattern for their column's meaning."""

_USUAL = frozenset(words_of_names("words in names"))
_LEAST, _MOST = 5, 32  # letters of a name that may be run together
_MOST_WORDS = 60
_UNKNOWN = 10  # the price of letters that stand for nothing known; at most once in a name
_MOST_UNKNOWN = 9  # letters
_PIECE = 3  # letters of a word's beginning
_WORD = re.compile(r"[a-z]+")
_JOINED = re.compile(r"(?<!\w)\w*_\w+")
_AREA = re.compile(r" ?((?:[km]?g|u?w)?c?m) ([23])$")
_FLAG = re.compile(r"[01]\b.{1,60}\b[01]\b")
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
        return words if meaning is None else _as_meant(column, words, meaning, self.notes)

    def entry(self, column: str, path: str) -> str:
        """Return the words for an entry in a JSON column, such as "size tank l" for `$.size.tank_l`."""
        keys = tuple(_KEY.findall(path))
        meaning = _entry_meaning(self.notes.columns.get(column.lower(), ""), keys)
        if not meaning:
            return split_words(path)
        return _as_meant(keys[-1].lower().replace("_", ""), split_words(keys[-1]), meaning, self.notes)

    def are_columns(self, words: Sequence[str]) -> bool:
        """Return True if at least one of these strings is the everyday name of a column."""
        return not _columns_in_words(self).isdisjoint(words)


@lru_cache(maxsize=64)
def _columns_in_words(names: Names) -> frozenset[str]:
    return frozenset(map(names.words, names.notes.columns))


@lru_cache(maxsize=4096)
def _as_meant(name: str, words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words in a name, or words from its meaning if those in the name are not English."""
    known, words = _real_words(notes), _taken_apart(words, meaning, notes)
    front, link, unit = _as_said(words, meaning).partition(" in ")
    parts = _taken_apart(front, meaning, notes).split()
    said = " ".join(_part_as_meant(part, meaning, known) for part in parts) + link + unit
    full = _FULL_NAME.match(meaning)
    if all(word in known or not word.isalpha() for word in (words if full else said).split()):
        return said
    phrase = full[1].lower() if full else _noun_phrase(name, meaning)
    return f"{phrase}{link}{unit}" if phrase and unit[:7] not in phrase else phrase or said


def _taken_apart(words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words in a name whose words are run together, or the same words if they are not."""
    return (words not in _real_words(notes) and unmashed(words, meaning, _vocabulary(notes))) or words


def _part_as_meant(part: str, meaning: str, known: frozenset[str]) -> str:
    """Return the word in a meaning that a part of a name abbreviates, or the part if this is unclear."""
    if part in known or part.upper() in re.findall(r"\b[A-Z]+(?![a-z])", meaning):
        return part
    begun = [word for word in _own_words(meaning) if word.startswith(part) and word in known]
    begun = [word for word in begun if not _NO_PHRASE.search(word)]
    if len(set(map(singular, begun))) == 1:
        single = singular(begun[0])
        return single if single in known or single == part else begun[0]
    return (is_identifier(part) and unmashed(part, meaning)) or _SHORT.get(part, part)


def _own_words(meaning: str) -> tuple[str, ...]:
    """Return the first words in a meaning, except names that contain underscores."""
    return tuple(dict.fromkeys(_WORD.findall(split_words(_JOINED.sub(" ", meaning)))))[:_MOST_WORDS]


def _as_said(words: str, meaning: str) -> str:
    """Return the words in a name, marked as a unit, a date or a flag if the meaning indicates one."""
    about = meaning.lower()
    front, _, unit = _AREA.sub(r" \1\2", words).rpartition(" ")
    if unit in _UNITS and front and re.search(_UNITS[unit][1], about):
        return f"{front} in {_UNITS[unit][0]}"
    front, _, last = words.rpartition(" ")
    if last in ("on", "at") and front:
        return f"{front}-{last} {'time' if last == 'at' else 'date'}"
    if _FLAG.match(about) and last != "flag":
        return f"{words} flag"
    return f"{front} {_SHORT.get(last, last)}".strip()


def respelt(tokens: Iterable[LexicalUnit], identifiers: frozenset[str]) -> list[LexicalUnit]:
    """Return the tokens with names respelt as in `identifiers`, if that spelling splits into more words."""
    return [
        LexicalUnit(token.kind, _better_spelt(token.text, identifiers))
        if token.kind in ("word", "quoted")
        else token
        for token in tokens
    ]


def _better_spelt(name: str, identifiers: frozenset[str]) -> str:
    return max(name, _best_spellings(identifiers).get(name.lower(), ""), key=_parts)


@lru_cache(maxsize=256)
def _best_spellings(identifiers: frozenset[str]) -> dict[str, str]:
    return {name.lower(): name for name in sorted(sorted(identifiers, reverse=True), key=_parts)}


def _parts(name: str) -> int:
    return len(split_words(name).split())


@lru_cache(maxsize=64)
def _vocabulary(notes: BriefNotes) -> frozenset[str]:
    """Return the longer words in all meanings, and in all names that separate their words."""
    words = {word for meaning in notes.columns.values() for word in _own_words(meaning)}
    words |= {word for name in notes.columns if "_" in name for word in name.split("_")}
    return frozenset(word for word in words - set(notes.columns) if len(word) > 3) | _USUAL


def unmashed(name: str, meaning: str, others: frozenset[str] = frozenset()) -> str:
    """Split a run-together name into the fewest possible words, or return "" if that is impossible.

    Each part must be the beginning of a word in `meaning`, a common abbreviation, or a word in `others`.

    >>> unmashed("anomscore", "Anomaly score of the signal, from 0 to 10")
    'anomaly score'
    >>> unmashed("seats", "Number of reading seats")
    ''
    """
    own = _own_words(meaning)
    if not _LEAST <= len(name) <= _MOST or not name.isalpha() or name in own:
        return ""
    every = (*own, *(word for word in split_words(meaning).split() if not is_identifier(word)))
    found = _fewest(name, own, others, 0) or _fewest(name, every, others, 0)
    return found or (_fewest(name, (), others.union(own), _MOST_UNKNOWN) if others else "")


def _fewest(name: str, own: tuple[str, ...], whole: frozenset[str], unknown: int) -> str:
    """Return the fewest words for a name, in which one run of up to `unknown` letters may have no meaning."""
    best: dict[int, tuple[int, tuple[str, ...]]] = {0: (0, ())}
    for start in range(len(name)):
        if start not in best:
            continue
        cost, said = best[start]
        for end in range(min(start + 2, len(name)), len(name) + 1):
            piece = name[start:end]
            word = _word_for(piece, end == len(name), own, whole)
            if piece == name or not (word or _PIECE <= len(piece) <= unknown):
                continue
            price = cost + (1 if word else _UNKNOWN + len(piece))
            if end not in best or price < best[end][0]:
                best[end] = price, (*said, word or piece)
    cost, said = best.get(len(name), (0, ()))
    return " ".join(said) if cost < 2 * (_UNKNOWN + _PIECE) else ""


def _word_for(piece: str, is_last: bool, own: tuple[str, ...], whole: frozenset[str]) -> str:
    """Return the word that a piece of a name stands for, or "" if there is no such word."""
    if len(piece) == 1:
        return piece if piece in _UNITS and any(re.match(_UNITS[piece][1], word) for word in own) else ""
    short, is_long = _SHORT.get(piece, ""), len(piece) >= _PIECE
    if short and is_last:
        return short
    if is_long and piece in whole:
        return piece
    begun = (word for word in own if word.startswith(piece) and (is_long or word == piece))
    return next(begun, short if is_long else "")


_FULL_NAME = re.compile(r"Full name: '([^'(]{3,60}?)\s*(?:\([^')]*\))?'")
_LEAD = re.compile(
    r"(?ix) (?:an?\s)? (?: [A-Z][\w ]{0,20} | \w+_enum )? \s* (?:\([^)]{0,80}\))? \s*"
    r"(?:field|value|flag|column|timestamp|rank|count|text)? \s*"
    r"(?:storing|tracking|indicating|capturing|noting|recording|specifying|describing|measuring|counting|for"
    r"|giving|labell?ing|enumerating|providing|representing|showing|defining|rating|covering|documenting"
    r"|[.:]) \s+ (?:(?:the|an?|each|overall|any)\s)*"
)
_END = re.compile(
    r"(?is)\s*(?:[(.,;:/]|\b(?:for|of|in|by|with|when|where|used|from|on|at|as|is|are|was|per|to|that|which"
    r"|associated|during|between|under|within|using|if|or|and|linked|measured|based|currently|possible"
    r"|expressed|including|how|what|whether|this|these)\b).*"
)
_NO_PHRASE = re.compile(
    r"\b(?:key|describ|referenc|unique|identif|link|serial|column|jsonb?|example|data|enum|numeric|varchar)"
)
_PHRASE = re.compile(r"[a-z][a-z’'‑-]*(?: [a-z][a-z’'‑-]*){0,4}")


def _noun_phrase(name: str, meaning: str) -> str:
    """Return the noun phrase at the beginning of a column's meaning, if the column's name abbreviates it.

    >>> _noun_phrase("sessdur", "A NUMERIC(7,2) measuring session duration in minutes (e.g., 12.5).")
    'session duration'
    >>> _noun_phrase("teamref", "A BIGINT foreign key referencing teams.")
    ''
    """
    meaning = meaning[:300]
    lead = _LEAD.match(meaning)
    found = _END.sub("", meaning[lead.end() :], count=1).strip().lower() if lead else ""
    if not _PHRASE.fullmatch(found) or _NO_PHRASE.search(found):
        return ""
    if " " not in found:
        return found if name[:3] == found[:3] else ""
    letters = iter(name)  # in which those of the words must occur in order
    return found if all(word[0] in letters for word in found.split()) else ""


@lru_cache(maxsize=64)
def _real_words(notes: BriefNotes) -> frozenset[str]:
    """Return the ordinary words that occur in the column meanings and the knowledge entries."""
    texts = [*notes.columns.values(), *notes.knowledge.values()]
    found = {word.lower() for text in texts for word in _PROSE.findall(text)}
    return frozenset(_USUAL | found - {name for name in notes.columns if is_identifier(name)})


_PROSE = re.compile(r"(?<![\w'.\"])[A-Za-z][a-z]+(?![\w'.][\w])")


@lru_cache(maxsize=1024)
def _entry_meaning(meaning: str, path: tuple[str, ...]) -> str:
    """Return the description of an entry in a JSON column, or an empty string."""
    try:
        found: Any = json.loads(meaning) if meaning.startswith("{") else {}
    except ValueError:
        return ""
    for key in ("fields_meaning", *path):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
