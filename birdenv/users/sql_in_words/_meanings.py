"""Words for a column from its meaning, or from the parts of its name if they are words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from birdenv.users._brief import BriefNotes
from birdenv.users.identifiers import is_identifier, words_of_names
from birdenv.users.sql_in_words._parse import split_words
from birdenv.users.sql_in_words._tables import singular

_SHORT = dict(pair.split("=") for pair in words_of_names("abbreviations"))
_UNITS = {unit: said for unit, *said in (entry.split("=") for entry in words_of_names("units"))}
"""Units by the last part of a name: how they are said, and a pattern for their column's meaning."""


def _one_of(section: str) -> str:
    """Return a pattern for the words in a section of the file with the words of names."""
    return "|".join(words_of_names(section))


_USUAL = frozenset(words_of_names("words in names"))
_LEAST, _MOST = 5, 32  # letters of a name that may be run together
_MOST_WORDS = 60
_UNKNOWN = 10  # the price of letters that stand for nothing known; at most once in a name
_MOST_UNKNOWN = 9  # letters
_PIECE = 3  # letters of a word's beginning
_ENDING = re.compile(r"(?:s|e|ions?|ing|ment)$")
_WORD = re.compile(r"[a-z]+")
_JOINED = re.compile(r"(?<!\w)\w*_\w+")
_AREA = re.compile(r" ?((?:[km]?g|u?w)?c?m) ([23])$")
_FLAG = re.compile(r"[01]\b.{1,60}\b[01]\b")
_TERM = re.compile(r"([A-Z][\w -]+) \(([A-Z][A-Za-z]{0,5}[A-Z])\)")


def words_of_part(part: str, notes: BriefNotes) -> str:
    """Return the words for a part of a name that has no meaning: those of a column, an entry or a term."""
    if not notes.columns or part in _terms(notes) or part in real_words(notes):
        return _terms(notes).get(part, part)
    if meaning := notes.columns.get(part) or _entries(notes).get(part):
        return as_meant(part, part, meaning, notes)
    return _SHORT.get(part) or _fewest(part, (), _vocabulary(notes), 0) or part


@lru_cache(maxsize=64)
def _terms(notes: BriefNotes) -> dict[str, str]:
    """Return the names of the knowledge entries by their abbreviations, except those with several names."""
    found: dict[str, set[str]] = {}
    for name, short in (match.groups() for text in notes.knowledge.values() if (match := _TERM.match(text))):
        found.setdefault(short.lower(), set()).add(name.lower())
    return {short: names.pop() for short, names in found.items() if len(names) == 1 and short != "per"}


@lru_cache(maxsize=4096)
def as_meant(name: str, words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words in a name, or words from its meaning if those in the name are not English."""
    known, words = real_words(notes), _taken_apart(words, meaning, notes)
    front, link, unit = _as_said(words, meaning).partition(" in ")
    parts = _taken_apart(front, meaning, notes).split()
    said = " ".join(_part_as_meant(part, meaning, notes) for part in parts)
    full = _FULL_NAME.search(meaning[:300])
    checked = (words if full and full[1] else said).split()
    if all(word in known or not word.isalpha() for word in checked) or meaning.startswith("{"):
        return said + link + unit
    phrase = (
        _as_said((full[1] or split_words(full[2])).lower(), meaning) if full else _noun_phrase(name, meaning)
    )
    refers = said.rpartition(" ")[2] not in known - {"reference", "registry", "key"}
    if not phrase and refers and (reference := _REFERENCE.search(meaning)):
        phrase = f"{singular(split_words(reference[1]))} reference"
    return (phrase or said) + f"{link}{unit}" * (unit[:7].lower() not in phrase or not unit)


def _taken_apart(words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words in a name whose words are run together, or the same words if they are not."""
    return (words not in real_words(notes) and unmashed(words, meaning, _vocabulary(notes))) or words


def _part_as_meant(part: str, meaning: str, notes: BriefNotes) -> str:
    """Return the word in a meaning that a part of a name abbreviates, or the part if this is unclear."""
    known = real_words(notes)
    if part in known or part.upper() in re.findall(r"\b[A-Z]+(?![a-z])", meaning):
        return part
    begun = [word for word in _own_words(meaning) if word.startswith(part) and word in known]
    begun = [word for word in begun if not _NO_PHRASE.search(word)]
    if len(set(map(singular, begun))) == 1:
        single = singular(begun[0])
        return single if single in known or single == part else begun[0]
    split = is_identifier(part) and unmashed(part, meaning)
    return split or _SHORT.get(part) or _terms(notes).get(part, part)


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
        return f"{front.replace(' ', '-')}-{last} {'time' if last == 'at' else 'date'}"
    if _FLAG.match(about) and last != "flag":
        return f"{words} flag"
    return f"{front} {_SHORT.get(last, last)}".strip()


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
    return _fewest(name, own, others, 0) or (
        _fewest(name, (), others.union(own), _MOST_UNKNOWN) if others else ""
    )


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
    stem = _ENDING.sub("", piece)
    if is_long and piece in whole:
        others = (word for word in own if _ENDING.sub("", word) == stem and not word.startswith(piece))
        return next(others, piece)
    begun = (word for word in own if word.startswith(piece) and (is_long or word == piece))
    if any(word.startswith(stem) and word[:6] in piece for word in own if _PIECE <= len(stem) < len(piece)):
        return piece
    return next(begun, short if is_long else "")


_FULL_NAME = re.compile(r"Full name: '([^'(]{3,60}?)\s*(?:\([^')]*\))?'|\(was '(\w+)'\)")
_LEAD = re.compile(
    r"(?ix) (?:an?\s)? (?: [A-Z][\w ]{0,20} | \w+_enum )? \s* (?:\([^)]{0,80}\))? \s*"
    rf"(?:{_one_of('nouns before phrases')})? \s* (?:{_one_of('verbs before phrases')}|[.:]|(?<=\)))"
    r"\s* (?:(?:the|an?|each|overall|any|how\smany|type\sof|\w+[’']s)\s)*"
)
_ENUM = re.compile(r"(\w+)_enum\b")
_REFERENCE = re.compile(r"(?i)\b(?:references|referencing|(?:record|linked) to)\s([a-z]\w+)[.(]")
_END = re.compile(rf"(?is)\s*(?:[(.,;:/]|\b(?:{_one_of('words after phrases')})\b).*")
_NO_PHRASE = re.compile(rf"\b(?:the\b|{_one_of('beginnings of words that are in no phrase')})")
_PHRASE = re.compile(r"[a-z][a-z’'‑-]*(?: [a-z][a-z’'‑-]*){0,4}")


def _noun_phrase(name: str, meaning: str) -> str:
    """Return the noun phrase at the beginning of a column's meaning, if the column's name abbreviates it.

    >>> _noun_phrase("sessdur", "A NUMERIC(7,2) measuring session duration in minutes (e.g., 12.5).")
    'session duration'
    >>> _noun_phrase("teamref", "A BIGINT foreign key referencing teams.")
    ''
    """
    meaning = " ".join(meaning.split())[:300]
    lead, enum = _LEAD.match(meaning), _ENUM.search(meaning)
    found = _END.sub("", meaning[lead.end() :], count=1).strip().lower() if lead else ""
    kind = split_words(enum[1]) if enum else ""
    kind = kind if " " in kind else _fewest(kind, (), _USUAL, 12)
    for phrase in (found * (_REFERENCE.search(meaning) is None), kind):
        words, letters = phrase.split(), iter(name)  # in which the words' first letters must occur in order
        is_begun = any(_is_short_for(name[:3], word) for word in words)
        is_meant = is_begun or (words[1:] and all(word[0] in letters for word in words))
        if is_meant and _PHRASE.fullmatch(phrase) and not _NO_PHRASE.search(phrase):
            return phrase
    return ""


def _is_short_for(part: str, word: str) -> bool:
    """Return True if a word begins with the first letter of a part of a name, and has the others in order."""
    letters = iter(word)
    return part[:1] == word[:1] and all(letter in letters for letter in part)


@lru_cache(maxsize=64)
def real_words(notes: BriefNotes) -> frozenset[str]:
    """Return the ordinary words that occur in the column meanings and the knowledge entries.

    Formulas in the knowledge entries mention columns and entries of JSON columns by name: these are no words.
    """
    meant, known = (
        {word.lower() for text in texts.values() for word in _PROSE.findall(text)}
        for texts in (notes.columns, notes.knowledge)
    )
    made_up = {
        name for name in (*notes.columns, *_entries(notes)) if name not in meant or is_identifier(name)
    }
    return frozenset(_USUAL.union(_SHORT.values()) | (meant | known) - made_up - _SHORT.keys() | {"id"})


_PROSE = re.compile(r"(?<![\w'.\"])[A-Za-z][a-z]+(?![\w'.][\w])")


@lru_cache(maxsize=1024)
def entry_meanings(meaning: str) -> dict[tuple[str, ...], str]:
    """Return the descriptions of the entries in a JSON column by their paths."""
    try:
        found: Any = json.loads(meaning) if meaning.startswith("{") else {}
        return dict(_leaves(found.get("fields_meaning"), ()))
    except (ValueError, RecursionError):
        return {}


def _leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(node, str) and path:
        yield path, node
    for key, inner in node.items() if isinstance(node, dict) else ():
        yield from _leaves(inner, (*path, key))


@lru_cache(maxsize=64)
def _entries(notes: BriefNotes) -> dict[str, str]:
    """Return the descriptions of the entries in all JSON columns by their last keys in lower case."""
    every = (entry_meanings(meaning) for meaning in notes.columns.values())
    return {path[-1].lower(): text for entries in every for path, text in entries.items()}
