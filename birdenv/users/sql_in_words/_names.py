"""Column names in everyday words, with the help of the columns' meanings.

For example, `anomscore` becomes "anomaly score", `floor_area_m2` "floor area in m2", and `joined_on`
"joined-on date".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from birdenv.users._brief import NO_NOTES, BriefNotes
from birdenv.users.identifiers import is_identifier, words_of_names
from birdenv.users.sql_in_words._parse import LexicalUnit, split_words
from birdenv.users.sql_in_words._tables import plural, singular

_SHORT = dict(pair.split("=") for pair in words_of_names("abbreviations"))
_UNITS = {unit: said for unit, *said in (entry.split("=") for entry in words_of_names("units"))}
"""Units by the last part of a name: how they are said, and a pattern for their column's meaning."""

GENERAL_WORDS = frozenset(words_of_names("general words"))
"""Names that need the thing that they belong to, such as "the cost of the repair"."""

_USUAL = frozenset(words_of_names("words in names"))
_LEAST, _MOST = 5, 32  # letters of a name that may be run together
_MOST_WORDS = 60
_UNKNOWN = 10  # the price of letters that stand for nothing known; at most once in a name
_MOST_UNKNOWN = 9  # letters
_ENDINGS = ("s", "e", "ion", "ions", "ing", "ment")
_PIECE = 3  # letters of a word's beginning
_WORD = re.compile(r"[a-z]+")
_JOINED = re.compile(r"(?<!\w)\w*_\w+")
_AREA = re.compile(r" ?((?:[km]?g|u?w)?c?m) ([23])$")
_FLAG = re.compile(r"[01]\b.{1,60}\b[01]\b")
_TWICE = re.compile(r"\b(\w+) \1\b")
_COMPUTATION = re.compile(r" (?:calc|calculation|cte)s?$")
_TERM = re.compile(r"([A-Z][\w -]+) \(([A-Z][A-Za-z]{1,6})\)")
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
        if meaning is not None:
            return _as_meant(column, words, meaning, self.notes)
        return _TWICE.sub(r"\1", " ".join(_part_of_alias(part, self.notes) for part in words.split()))

    def entry(self, column: str, path: str) -> str:
        """Return the words for an entry in a JSON column, such as "size tank l" for `$.size.tank_l`."""
        keys = tuple(_KEY.findall(path))
        entries = _entry_meanings(self.notes.columns.get(column.lower(), ""))
        if keys not in entries:
            return " ".join(_part_of_alias(part, self.notes) for part in split_words(path).split())
        words = _as_meant(keys[-1].lower().replace("_", ""), split_words(keys[-1]), entries[keys], self.notes)
        is_general = words in GENERAL_WORDS or sum(path[-1] == keys[-1] for path in entries) > 1
        return f"{split_words(keys[-2])} {words}" if is_general and len(keys) > 1 else words

    def step(self, name: str) -> str:
        """Return the plural noun for a CTE, or an empty string for a table or a name not made of words."""
        words, known = _COMPUTATION.sub("", self.words(name)), _real_words(self.notes)
        if not self.identifiers or name.lower() in _best_spellings(self.identifiers):
            return ""
        is_noun = all(word in known or (len(word) > 3 and not is_identifier(word)) for word in words.split())
        return plural(words) if is_noun and (" " in words or words.endswith("s")) else ""

    def are_columns(self, words: Sequence[str]) -> bool:
        """Return True if at least one of these strings is the everyday name of a column."""
        return not _columns_in_words(self).isdisjoint(words)


@lru_cache(maxsize=64)
def _columns_in_words(names: Names) -> frozenset[str]:
    return frozenset(map(names.words, names.notes.columns))


@lru_cache(maxsize=4096)
def _part_of_alias(part: str, notes: BriefNotes) -> str:
    """Return the words for a part of a name that has no meaning: those of a column, an entry or a term."""
    if part in _USUAL or not notes.columns:
        return part
    if part in _terms(notes) or part in _real_words(notes):
        return _terms(notes).get(part, part)
    if meaning := notes.columns.get(part) or _entries(notes).get(part):
        return _as_meant(part, part, meaning, notes)
    return _SHORT.get(part) or _fewest(part, (), _vocabulary(notes), 0) or part


@lru_cache(maxsize=64)
def _terms(notes: BriefNotes) -> dict[str, str]:
    """Return the names of the knowledge entries by their abbreviations, except those with several names."""
    found: dict[str, set[str]] = {}
    for name, short in (match.groups() for text in notes.knowledge.values() if (match := _TERM.match(text))):
        found.setdefault(short.lower(), set()).add(name.lower())
    return {short: names.pop() for short, names in found.items() if len(names) == 1 and short != "per"}


@lru_cache(maxsize=4096)
def _as_meant(name: str, words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words in a name, or words from its meaning if those in the name are not English."""
    known, words = _real_words(notes), _taken_apart(words, meaning, notes)
    front, link, unit = _as_said(words, meaning).partition(" in ")
    parts = _taken_apart(front, meaning, notes).split()
    said = " ".join(_part_as_meant(part, meaning, notes) for part in parts)
    full = _FULL_NAME.search(meaning)
    checked = (words if full and full[1] else said).split()
    if all(word in known or not word.isalpha() for word in checked) or meaning.startswith("{"):
        return said + link + unit
    if full and full[2]:
        return _as_said(split_words(full[2]), meaning)
    phrase = full[1].lower() if full else _noun_phrase(name, meaning)
    refers = said.rpartition(" ")[2] not in known - {"reference", "registry", "key"}
    if not phrase and refers and (reference := _REFERENCE.search(meaning)):
        phrase = f"{singular(split_words(reference[1]))} reference"
    said = " ".join(_spelt_out(part, meaning, known) for part in said.split())
    return (phrase or said) + f"{link}{unit}" * (unit[:7].lower() not in phrase or not unit)


def _taken_apart(words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words in a name whose words are run together, or the same words if they are not."""
    return (words not in _real_words(notes) and unmashed(words, meaning, _vocabulary(notes))) or words


def _part_as_meant(part: str, meaning: str, notes: BriefNotes) -> str:
    """Return the word in a meaning that a part of a name abbreviates, or the part if this is unclear."""
    known = _real_words(notes)
    if part in known or part.upper() in re.findall(r"\b[A-Z]+(?![a-z])", meaning):
        return part
    own = [word for word in _own_words(meaning) if word in known and not _NO_PHRASE.search(word)]
    begun = [word for word in own if word.startswith(part)]
    if len(set(map(singular, begun))) == 1:
        single = singular(begun[0])
        return single if single in known or single == part else begun[0]
    return (
        (is_identifier(part) and unmashed(part, meaning)) or _SHORT.get(part) or _terms(notes).get(part, part)
    )


def _spelt_out(part: str, meaning: str, known: frozenset[str]) -> str:
    """Return the only word in a meaning that a part of a name can be short for, or the part."""
    own = [word for word in _own_words(meaning) if word in known and not _NO_PHRASE.search(word)]
    found = {singular(word) for word in own if word[-3:] != "ing" and _is_short_for(part, word)}
    return found.pop() if len(found) == 1 and len(part) > 2 and part not in known else part


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
    stems = [piece.removesuffix(ending) for ending in _ENDINGS if piece.endswith(ending)]
    if any(
        word.startswith(stem) and word[:6] in piece for stem in stems if len(stem) >= _PIECE for word in own
    ):
        return piece
    return next(begun, short if is_long else "")


_FULL_NAME = re.compile(r"Full name: '([^'(]{3,60}?)\s*(?:\([^')]*\))?'|\(was '(\w+)'\)")
_LEAD = re.compile(
    r"(?ix) (?:an?\s)? (?: [A-Z][\w ]{0,20} | \w+_enum )? \s* (?:\([^)]{0,80}\))? \s*"
    r"(?:field|value|flag|column|timestamp|rank|count|text|fraction)? \s*"
    r"(?:storing|tracking|indicating|capturing|noting|recording|specifying|describing|measuring|counting|for"
    r"|giving|labell?ing|enumerating|providing|representing|showing|defining|rating|covering|documenting"
    r"|referencing|summarizing|[.:]|(?<=\)))"
    r"\s* (?:(?:the|an?|each|overall|any|how\smany|type\sof|\w+[’']s)\s)*"
)
_ENUM = re.compile(r"(\w+)_enum\b")
_REFERENCE = re.compile(r"(?i)\b(?:references|referencing|to)\s([a-z]\w+)[.(]\w")
_END = re.compile(
    r"(?is)\s*(?:[(.,;:/]|\b(?:for|of|in|by|with|when|where|used|from|on|at|as|is|are|was|per|to|that|which"
    r"|associated|during|between|under|within|using|versus|across|if|or|and|linked|measured|based|currently|possible"
    r"|expressed|including|how|what|whether|this|these)\b).*"
)
_NO_PHRASE = re.compile(
    r"\b(?:the\b|key|describ|referenc|unique|identif|link|serial|column|jsonb?|example|data|enum|numeric|varchar)"
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
    lead, enum = _LEAD.match(meaning), _ENUM.search(meaning)
    found = _END.sub("", meaning[lead.end() :], count=1).strip().lower() if lead else ""
    kind = split_words(enum[1]) if enum else ""
    kind = kind if " " in kind else _fewest(kind, (), _USUAL, 12)
    for phrase in (found * (_REFERENCE.search(meaning) is None), kind):
        letters = iter(name)  # in which those of the words must occur in order
        if not _PHRASE.fullmatch(phrase) or _NO_PHRASE.search(phrase):
            continue
        words = phrase.split()
        if any(_is_short_for(name[:3], word) for word in words) or (
            words[1:] and all(word[0] in letters for word in words)
        ):
            return phrase
    return ""


def _is_short_for(part: str, word: str) -> bool:
    """Return True if a word begins with the first letter of a part of a name, and has the others in order."""
    letters = iter(word)
    return part[:1] == word[:1] and all(letter in letters for letter in part)


@lru_cache(maxsize=64)
def _real_words(notes: BriefNotes) -> frozenset[str]:
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
    return frozenset(_USUAL | (meant | known) - made_up - _SHORT.keys() | {"id"})


_PROSE = re.compile(r"(?<![\w'.\"])[A-Za-z][a-z]+(?![\w'.][\w])")


@lru_cache(maxsize=1024)
def _entry_meanings(meaning: str) -> dict[tuple[str, ...], str]:
    """Return the descriptions of the entries in a JSON column by their paths."""
    try:
        found: Any = json.loads(meaning) if meaning.startswith("{") else {}
    except ValueError:
        return {}
    return dict(_leaves(found.get("fields_meaning"), ()))


def _leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(node, str):
        yield path, node
    for key, inner in node.items() if isinstance(node, dict) else ():
        yield from _leaves(inner, (*path, key))


@lru_cache(maxsize=64)
def _entries(notes: BriefNotes) -> dict[str, str]:
    """Return the descriptions of the entries in all JSON columns by their last keys in lower case."""
    every = (_entry_meanings(meaning) for meaning in notes.columns.values())
    return {path[-1].lower(): text for entries in every for path, text in entries.items() if path}
