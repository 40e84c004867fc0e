"""Names as people say them, by what is written about their columns.

`anomscore` is "anomaly score", `floor_area_m2` "floor area in m2", `joined_on` "joined-on date".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from birdenv.users._brief import Notes
from birdenv.users.sql_in_words._lexer import Token, split_words

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
_FLAG = re.compile(r"[01]\b.{1,60}\b[01]\b")


def spelt_out(tokens: Sequence[Token], notes: Notes) -> list[Token]:
    """`tokens` with each column name as the words of its meaning, or of the meanings of the database."""
    spelt, meanings = list(tokens), notes.columns
    for i, token in enumerate(tokens):
        name = token.text.lower()
        after = tokens[i + 1].key if i + 1 < len(tokens) else ""
        if token.kind not in ("word", "quoted") or after in ("(", ".") or name not in meanings:
            continue
        words = split_words(token.text)
        if " " not in words:
            words = unmashed(name, meanings[name], _vocabulary(notes)) or words
        words = _as_said(words, meanings[name])
        if words != split_words(token.text):
            spelt[i] = Token("quoted", words)
    return spelt


def _as_said(words: str, meaning: str) -> str:
    """The words of a name with its unit, as a date, or as a flag, if the meaning says that it is one."""
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
def _vocabulary(notes: Notes) -> frozenset[str]:
    """The longer words of all meanings, and of all names that are split already."""
    words = {word for meaning in notes.columns.values() for word in _WORD.findall(split_words(meaning))}
    words |= {word for name in notes.columns if "_" in name for word in name.split("_")}
    return frozenset(word for word in words - set(notes.columns) if len(word) > 3) | _USUAL


@lru_cache(maxsize=4096)
def unmashed(name: str, meaning: str, others: frozenset[str] = frozenset()) -> str:
    """A run-together name as the fewest words that its letters stand for; "" if it is made of none.

    Letters stand for a word of `meaning` that they begin, for a usual abbreviation, or for one of `others`.

    >>> unmashed("anomscore", "Anomaly score of the signal, from 0 to 10")
    'anomaly score'
    >>> unmashed("seats", "Number of reading seats")
    ''
    """
    if not _LEAST <= len(name) <= _MOST or not name.isalpha():
        return ""
    own = tuple(dict.fromkeys(_WORD.findall(split_words(meaning))))[:_MOST_WORDS]
    whole = others.union(word for word in own if len(word) >= _PIECE)
    return _fewest(name, own, others, 0) or (_fewest(name, (), whole, _MOST_UNKNOWN) if others else "")


def _fewest(name: str, own: tuple[str, ...], whole: frozenset[str], unknown: int) -> str:
    """The fewest words; of letters that stand for nothing, at most one run of up to `unknown`."""
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
    """The beginnings of `rest` that stand for a word, with that word; "" for letters that stay."""
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
