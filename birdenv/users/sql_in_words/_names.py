"""Names as people say them, by what is written about their columns; and which tables may be named.

`anomscore` is "anomaly score", `floor_area_m2` "floor area in m2", `joined_on` "joined-on date".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from birdenv.users._brief import BriefNotes
from birdenv.users.identifiers import is_identifier
from birdenv.users.sql_in_words._meanings import column_phrases, entry_meaning, noun_phrase, real_words
from birdenv.users.sql_in_words._parse import LexicalUnit, split_words

_SHORT = {
    "acct": "account",
    "amt": "amount",
    "avg": "average",
    "bal": "balance",
    "cnt": "count",
    "curr": "current",
    "deg": "degrees",
    "dt": "date",
    "eff": "efficiency",
    "env": "environment",
    "freq": "frequency",
    "grp": "group",
    "hrs": "hours",
    "id": "id",
    "idx": "index",
    "init": "initial",
    "liabs": "liabilities",
    "lvl": "level",
    "mins": "minutes",
    "num": "number",
    "pct": "percent",
    "qty": "quantity",
    "ref": "reference",
    "reg": "registry",
    "sess": "session",
    "temp": "temperature",
    "tot": "total",
    "usd": "usd",
    "val": "value",
    "vol": "volume",
}
_UNITS = {
    "m": ("m", "metre"),
    "m2": ("m2", "square metre"),
    "km": ("km", "kilomet"),
    "min": ("minutes", "minute"),
    "mins": ("minutes", "minute"),
    "sec": ("seconds", "second"),
    "hrs": ("hours", "hour"),
    "usd": ("USD", "usd"),
    "pct": ("percent", "percent"),
    "hz": ("Hz", "hz"),
    "mhz": ("MHz", "mhz"),
    "db": ("dB", "db"),
    "dbm": ("dBm", "dbm"),
    "kg": ("kg", "kilogram"),
    "mm": ("mm", "millimet"),
    "deg": ("degrees", "degree"),
    "kw": ("kW", "kilowatt"),
    "mw": ("MW", "megawatt"),
    "gb": ("GB", "gb"),
}
"""The last part of a name, how it is said, and what the column's meaning has, so that it is a unit."""

_USUAL = frozenset(
    """account amount area average balance base calc cap capacity category channel class code content core
    cost count country customer cycle data date days delay delivery density device diff duration
    efficiency energy engine event factor fee file flow group health history hours impact income index
    key label level life list load loss mark market max member metric mid min mode month name net node
    number order output park path percent phase plan point position power price profile profit project
    quality range rank rate rating ratio record reference region registry resource response result
    revenue risk room sales sample scale score season segment sensor session share signal site size
    source span speed spend stage start state status store stress sum system tag target team temp term
    test time total trace trade trail transfer trend type unit usage user value vehicle view volume wage
    water weight work year zone""".split()
)
_LEAST = 5  # letters of a name that may be run together
_MOST = 32
_MOST_WORDS = 60
_UNKNOWN = 10  # the price of letters that stand for nothing known; at most once in a name
_MOST_UNKNOWN = 9  # letters
_PIECE = 3  # letters of a word's beginning
_WORD = re.compile(r"[a-z]+")
_ENUM = re.compile(r"(?<!\w)\w*_enum\b")
_FLAG = re.compile(r"[01]\b.{1,60}\b[01]\b")


class Names:
    """The everyday names of a database's columns.

    Args:
        identifiers: the names as the schema spells them: snippets write `freqdrifthzs` where it has
            `FreqDriftHzs`.
        notes: what is written about the columns, where something is.
    """

    def __init__(self, identifiers: frozenset[str] = frozenset(), notes: BriefNotes | None = None) -> None:
        self._identifiers = identifiers
        self._spellings = _best_spellings(identifiers)
        self._notes = notes

    def words(self, name: str) -> str:
        """Return a name in words; one with spaces or signs, which is no identifier, is kept as it is."""
        if not name.replace("_", "a").replace("$", "a").isalnum():
            return name.replace("_", " ").strip()
        return self.spelt_out(name)

    def spelt_out(self, name: str) -> str:
        """Return the words that a name is made of, by its column's meaning and by those of the others."""
        words, notes = split_words(_better_spelt(name, self._spellings)), self._notes
        if notes is None or name.lower() not in notes.columns:
            return words
        return _as_meant(name.lower(), words, notes.columns[name.lower()], notes)

    def entry(self, column: str, path: str) -> str:
        """Return what an entry of a JSON column is called: the path `$.size.tank_l` is "size tank l"."""
        words, notes = split_words(path), self._notes
        keys = tuple(_KEY.findall(path.removeprefix("$")))
        meaning = entry_meaning(notes.columns.get(column.lower(), ""), keys) if notes is not None else ""
        if not meaning or notes is None:
            return words
        return _as_meant(keys[-1].lower().replace("_", ""), split_words(keys[-1]), meaning, notes)

    def are_columns(self, words: Sequence[str]) -> bool:
        """Return whether a column is called by any of these words."""
        if self._notes is None:
            return False
        return not _columns_in_words(self._notes, self._identifiers).isdisjoint(words)


@lru_cache(maxsize=64)
def _columns_in_words(notes: BriefNotes, identifiers: frozenset[str]) -> frozenset[str]:
    names = Names(identifiers, notes)
    return frozenset(map(names.spelt_out, notes.columns))


def _as_meant(name: str, words: str, meaning: str, notes: BriefNotes) -> str:
    """Return the words of a name; what its meaning has instead, if they are no words."""
    known = real_words(notes)
    if " " not in words and not (words in known or words in _USUAL):
        words = unmashed(name, meaning, _vocabulary(notes)) or words
    if not all(word in known or word in _USUAL or not word.isalpha() for word in words.split()):
        phrases = column_phrases(notes)
        words_of_name = _as_said(words, meaning)
        phrase = phrases.get(name, "") if name in notes.columns else noun_phrase(name, meaning)
        if not phrase:
            return words_of_name
        _, _, unit = words_of_name.partition(" in ")
        return f"{phrase} in {unit}" if unit and unit[:7] not in phrase else phrase
    return _as_said(words, meaning)


_KEY = re.compile(r"[^.\[\]\"]+")


def respelt(tokens: Iterable[LexicalUnit], identifiers: frozenset[str]) -> list[LexicalUnit]:
    """Return tokens with each name spelt as the one of `identifiers` that splits it into most words."""
    best = _best_spellings(identifiers)
    return [
        LexicalUnit(token.kind, _better_spelt(token.text, best))
        if token.kind in ("word", "quoted")
        else token
        for token in tokens
    ]


def _better_spelt(name: str, best: Mapping[str, str]) -> str:
    other = best.get(name.lower(), "")
    return other if _parts(other) > _parts(name) else name


def _parts(name: str) -> int:
    return len(split_words(name).split())


@lru_cache(maxsize=256)
def _best_spellings(identifiers: frozenset[str]) -> dict[str, str]:
    best: dict[str, str] = {}
    for name in sorted(identifiers):
        if _parts(name) > _parts(best.get(name.lower(), "")):
            best[name.lower()] = name
    return best


def _as_said(words: str, meaning: str) -> str:
    """Return the words of a name with its unit, as a date, or as a flag, if the meaning says that it is
    one.
    """
    about = meaning.lower()
    words = words.replace(" m 2", " m2")
    front, _, last = words.rpartition(" ")
    if last in ("on", "at") and front:
        return f"{front}-{last} {'time' if last == 'at' else 'date'}"
    if last in _UNITS and front and _UNITS[last][1] in about:
        return f"{front} in {_UNITS[last][0]}"
    if _FLAG.match(about) and not words.endswith(" flag"):
        return f"{words} flag"
    return " ".join([*front.split(), _SHORT.get(last, last)])


@lru_cache(maxsize=64)
def _vocabulary(notes: BriefNotes) -> frozenset[str]:
    """Return the longer words of all meanings, and of all names that are split already."""
    texts = [_ENUM.sub(" ", meaning) for meaning in notes.columns.values()]
    words = {word for text in texts for word in _WORD.findall(split_words(text))}
    words |= {word for name in notes.columns if "_" in name for word in name.split("_")}
    return frozenset(word for word in words - set(notes.columns) if len(word) > 3) | _USUAL


@lru_cache(maxsize=4096)
def unmashed(name: str, meaning: str, others: frozenset[str] = frozenset()) -> str:
    """Return a run-together name as the fewest words that its letters stand for; "" if it is made of none.

    Letters stand for a word of `meaning` that they begin, for a usual abbreviation, or for one of `others`.

    >>> unmashed("anomscore", "Anomaly score of the signal, from 0 to 10")
    'anomaly score'
    >>> unmashed("seats", "Number of reading seats")
    ''
    """
    if not _LEAST <= len(name) <= _MOST or not name.isalpha():
        return ""
    own = tuple(dict.fromkeys(_WORD.findall(split_words(_ENUM.sub(" ", meaning)))))[:_MOST_WORDS]
    whole = others.union(word for word in own if len(word) >= _PIECE)
    return _fewest(name, own, others, 0) or (_fewest(name, (), whole, _MOST_UNKNOWN) if others else "")


def _fewest(name: str, own: tuple[str, ...], whole: frozenset[str], unknown: int) -> str:
    """Return the fewest words; of letters that stand for nothing, at most one run of up to `unknown`."""
    best: dict[int, tuple[int, tuple[str, ...]]] = {0: (0, ())}
    for start in range(len(name)):
        if start not in best:
            continue
        cost, said = best[start]
        for length, word in _pieces(name[start:], own, whole, unknown):
            if length == len(name):
                continue
            price = cost + (1 if word else _UNKNOWN + length)
            end = start + length
            if end not in best or price < best[end][0]:
                best[end] = (price, (*said, word or name[start:end]))
    cost, said = best.get(len(name), (0, ()))
    return " ".join(said) if cost < 2 * (_UNKNOWN + _PIECE) else ""


def _pieces(rest: str, own: tuple[str, ...], whole: frozenset[str], unknown: int) -> list[tuple[int, str]]:
    """Return the beginnings of `rest` that stand for a word, with that word; "" for letters that stay."""
    found = [(len(short), word) for short, word in _SHORT.items() if rest == short]
    found += [(size, rest[:size]) for size in range(_PIECE, len(rest) + 1) if rest[:size] in whole]
    for word in own:
        length = 0
        while length < min(len(rest), len(word)) and rest[length] == word[length]:
            length += 1
        shortest = min(_PIECE, len(word))
        found += [(size, word) for size in range(length, shortest - 1, -1) if size >= 2]
    found += [(size, _SHORT[rest[:size]]) for size in range(3, 6) if rest[:size] in _SHORT]
    found += [(size, "") for size in range(_PIECE, min(len(rest), unknown) + 1)]
    return found


_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+(?:\w+\.)?[\"`]?(\w+)")
_UNCOUNTED = ("maintenance", "equipment", "information", "data", "news", "staff", "traffic", "weather")
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=256)
def spoken_tables(request: str, identifiers: frozenset[str]) -> Mapping[str, str]:
    """Return the plural words for each name of the schema, in lower case, whose words the request says.

    >>> spoken_tables("List trips and each order line.", frozenset({"trips", "order_lines", "bikes"}))
    {'order_lines': 'order lines', 'trips': 'trips'}
    """
    said = {singular(word) for word in re.findall(r"[a-z]+", request.lower())}
    found = {}
    for name in sorted(identifiers):
        words = split_words(name)
        if words and said.issuperset(map(singular, words.split())):
            found[name.lower()] = words if words.endswith(_UNCOUNTED) else plural(words)
    return found


def plain_sources(snippet: str) -> Mapping[str, str]:
    """Return the tables of a snippet whose names are everyday plurals, such as trips.

    >>> plain_sources("SELECT COUNT(*) FROM trips t JOIN trkdata d ON t.id = d.id")
    {'trips': 'trips'}
    """
    names = {name.lower() for name in _SOURCE.findall(snippet)}
    return {name: name for name in sorted(names) if name.endswith("s") and not is_identifier(name)}


def counted_noun(snippet: str, gold: Sequence[str], nouns: Mapping[str, str]) -> str:
    """Return the noun for what COUNT(*) counts in a fragment of a query on one table; "" where that is not
    known.
    """
    wanted = _flat(snippet)
    for statement in gold:
        text = _flat(statement)
        if wanted in text and len(tables := _SOURCE.findall(text)) == 1:
            return nouns.get(tables[0].lower(), "")
    return ""


def _flat(sql: str) -> str:
    return _SPACE.sub(" ", sql).strip(" ;").lower()


def singular(word: str) -> str:
    """Return the singular of an English word: "copies" are of a "copy"."""
    for ending, single in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x")):
        if word.endswith(ending):
            return word.removesuffix(ending) + single
    return word.removesuffix("s") if not word.endswith("ss") else word


_NOT_PLURAL = re.compile(r"(?:ss|us|is|as|ics|ies of|degrees|celsius|series|always|hours|days|minutes)$")


def is_counted(name: str) -> bool:
    """Return whether the words of a column are things of which there are so many: "seats", "renewals".

    >>> [is_counted(name) for name in ("seats", "weekly hours", "status", "price")]
    [True, True, False, False]
    """
    last = name.rsplit(" ", 1)[-1]
    if not last.isalpha() or len(last) < 4 or not last.endswith("s"):
        return False
    return (" " in name and last == "hours") or _NOT_PLURAL.search(last) is None


def plural(noun: str) -> str:
    """Return the plural of English words, by their last one.

    >>> [plural(noun) for noun in ("title id", "copy", "branch", "trips")]
    ['title ids', 'copies', 'branches', 'trips']
    """
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return noun + ("es" if re.search(r"(?:s|x|ch|sh)$", noun) else "s")
