"""What is counted, in words: trips, different titles, those with a rating, cases where something holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from birdenv.users.sql_in_words._keywords import ATOM, CHAIN, PREFIX, Phrase

if TYPE_CHECKING:
    from birdenv.users.sql_in_words._reader import Reader

_NOT_PLURAL = re.compile(r"(?:ss|us|is|as|ics|ies of|degrees|celsius|series|always|hours|days|minutes)$")
_ID = re.compile(r"the ([\w ]{2,60}) id")


def is_counted(name: str) -> bool:
    """Whether the words of a column are things of which there are so many: "seats", "renewals".

    >>> [is_counted(name) for name in ("seats", "weekly hours", "status", "price")]
    [True, True, False, False]
    """
    last = name.rsplit(" ", 1)[-1]
    if not last.isalpha() or len(last) < 4 or not last.endswith("s"):
        return False
    return (" " in name and last == "hours") or _NOT_PLURAL.search(last) is None


def plural(noun: str) -> str:
    """The plural of English words, by their last one.

    >>> [plural(noun) for noun in ("title id", "copy", "branch", "trips")]
    ['title ids', 'copies', 'branches', 'trips']
    """
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return noun + ("es" if re.search(r"(?:s|x|ch|sh)$", noun) else "s")


def number_of(reader: Reader, argument: Phrase) -> Phrase:
    """COUNT(..) in words."""
    say, text = reader.wording.say, argument.text
    if text.startswith("different "):
        things = text if argument.bond > PREFIX else plural(text)
    elif text == "*":
        things = source_noun(reader)
    elif match := _ID.fullmatch(text):
        things = plural(match[1])
    elif argument.bond == ATOM and text.startswith("the "):
        name = text.removeprefix("the ")
        things = f"those with {'an' if name[0] in 'aeiou' else 'a'} {name}"
    else:
        things = argument.inside(PREFIX)
    return Phrase(say("the number of {}", things), PREFIX, counted=f"{{}} {things}")


def cases_where(reader: Reader, name: str) -> Phrase | None:
    """SUM(CASE WHEN .. THEN 1 ELSE 0 END), or COUNT without the ELSE, read up to the closing bracket."""
    start = reader.at
    reader.at += 2
    condition = reader.expression()
    one = reader.take("THEN") and reader.is_number("1")
    zero = False
    if reader.take("ELSE"):
        zero = reader.take("NULL") if name == "COUNT" else reader.is_number("0")
    elif name == "COUNT":
        zero = True
    if one and zero and reader.take("END") and reader.take(")"):
        holds = condition.text if condition.condition else f"{condition.text} is true"
        where = f"{source_noun(reader)} where {holds}"
        return Phrase(reader.wording.say("the number of {}", where), CHAIN, counted=f"{{}} {where}")
    reader.at = start
    return None


def source_noun(reader: Reader) -> str:
    """What the rows are that COUNT(*) counts, where that may be said."""
    depth, index = 0, reader.at
    while index < len(reader.tokens):
        key = reader.tokens[index].key
        depth += {"(": 1, ")": -1}.get(key, 0)
        if depth < 0:
            break
        if depth == 0 and key == "FROM":
            return _noun(reader, index + 1)
        index += 1
    return reader.wording.cases


def _looks_up(reader: Reader, at: int) -> bool:
    """Whether the JOIN at a place adds one row to each: it is by the other table's own id."""
    keys = [token.key for token in reader.tokens[at + 1 : at + 13]]
    name = keys[0].removesuffix("S") if keys else ""
    stem = f"{name.removesuffix('IE')}Y" if name.endswith("IE") else name
    return "ON" in keys[1:4] and sum(key.endswith("_ID") for key in keys) == 2 and f"{stem}_ID" in keys


def _noun(reader: Reader, at: int) -> str:
    """The noun of a table that is the only source of its query."""
    if at >= len(reader.tokens):
        return reader.wording.cases
    depth = 0
    for offset, token in enumerate(reader.tokens[at:]):
        depth += {"(": 1, ")": -1}.get(token.key, 0)
        if depth < 0:
            break
        if depth == 0 and token.key == ",":
            return reader.wording.say("cases")
        if depth == 0 and token.key == "JOIN" and not _looks_up(reader, at + offset):
            return reader.wording.say("cases")
        if depth == 0 and token.key in ("WHERE", "GROUP", "ORDER", "LIMIT", "HAVING", "UNION"):
            break
    return reader.wording.nouns.get(reader.tokens[at].text.lower(), reader.wording.say("cases"))
