"""Read where records come from and go to: FROM, JOIN, INSERT, UPDATE, DELETE, CREATE. No table is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from birdenv.users.sql_in_words._keywords import CLAUSE_WORDS, LOOSE, PREFIX, enumerate_words
from birdenv.users.sql_in_words._lexer import split_words

if TYPE_CHECKING:
    from birdenv.users.sql_in_words._reader import Reader

_SAME_NAME = re.compile(r"the ([\w ]{1,80}) is the same")
JOIN_SIDES = frozenset({"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER"})
_TABLE_ENDS = CLAUSE_WORDS | frozenset({")", ",", ";", "AS", "AND", "OR", "WHEN"})
_DESCRIPTORS = frozenset("OR REPLACE TEMP TEMPORARY MATERIALIZED UNIQUE RECURSIVE IF NOT EXISTS".split())


def read_from(reader: Reader) -> str:
    sources: list[str] = []
    noun = _noun(reader)
    while not reader.ended:
        source = read_source(reader)
        if source:
            sources.append(source)
        if not reader.take(","):
            break
    return reader.wording.say("out of {}", enumerate_words(sources)) if sources else noun


def _noun(reader: Reader) -> str:
    """The table of a subquery, where it may be said and what it holds was not counted."""
    name = reader.tokens[reader.at].text.lower() if not reader.ended else ""
    before = [token.key for token in reader.tokens[max(0, reader.at - 6) : reader.at]]
    noun = reader.wording.nouns.get(name, "")
    return f"of the {noun}" if noun and reader.nested and "*" not in before else ""


def read_source(reader: Reader) -> str:
    """A table, said as nothing; a subquery or table function, in words."""
    text = ""
    reader.take("LATERAL", "ONLY")
    if reader.key() == "(":
        reader.at += 1
        inner = reader.passage()
        text = f"({inner})" if inner else ""
    elif reader.at_name() and reader.key(1) == "(":
        text = reader.operand().text
    else:
        pass_table(reader)
    reader.take("AS")
    if reader.at_name() and reader.key() not in _TABLE_ENDS:
        reader.hidden.add(reader.tokens[reader.at].text.lower())
        reader.at += 1
    return text


def pass_table(reader: Reader) -> None:
    if (
        not reader.ended
        and reader.tokens[reader.at].kind in ("word", "quoted")
        and reader.key() not in _TABLE_ENDS
    ):
        reader.hidden.add(reader.tokens[reader.at].text.lower())
        reader.at += 1
        if reader.take("."):
            pass_table(reader)
    elif not reader.ended and reader.tokens[reader.at].kind == "gap":
        reader.at += 1


def read_join(reader: Reader) -> str:
    sides: set[str] = set()
    while reader.key() in JOIN_SIDES:
        sides.add(reader.key())
        reader.at += 1
    if not reader.take("JOIN"):
        return ""
    name = reader.tokens[reader.at].text.lower() if not reader.ended else ""
    source = read_source(reader) or reader.wording.nouns.get(name) or reader.wording.say("further entries")
    words = reader.wording.say("matched with {}", source)
    if reader.take("ON"):
        condition = reader.expression().text
        same = _SAME_NAME.fullmatch(condition)
        words += f" by {same[1]}" if same else f" where {condition}"
    elif reader.take("USING"):
        words += f" with the same {reader.operand().text}"
    endings = {
        "LEFT": ", also keeping entries that have no match",
        "RIGHT": ", also keeping further entries that have no match",
        "FULL": ", also keeping what has no match on either side",
        "CROSS": " in every possible pairing",
        "INNER": ", keeping only entries that have a match",
    }
    return words + "".join(reader.wording.say(end) for side, end in endings.items() if side in sides)


def read_insert(reader: Reader) -> str:
    while reader.take("OR", "REPLACE", "IGNORE", "INTO"):
        pass
    pass_table(reader)
    columns = reader.operand().text if reader.key() == "(" else ""
    return reader.wording.say("add entries{}", f" with {columns.strip('()')}" if columns else "")


def read_values(reader: Reader) -> str:
    rows: list[str] = []
    while not reader.ended and reader.key() == "(":
        rows.append(reader.operand().text)
        if not reader.take(","):
            break
    return reader.wording.say("holding {}", enumerate_words(rows))


def read_update(reader: Reader) -> str:
    read_source(reader)
    changes: list[str] = []
    if reader.take("SET"):
        while not reader.ended:
            target = reader.operand().text if not reader.stopped() else ""
            reader.take("=")
            amount = reader.expression().inside(LOOSE)
            changes.append(reader.wording.say("set {} {}", target, f"to {amount}"))
            if not reader.take(","):
                break
    return enumerate_words(changes)


def read_delete(reader: Reader) -> str:
    noun = ""
    if reader.take("FROM"):
        noun = reader.wording.nouns.get(reader.tokens[reader.at].text.lower(), "") if not reader.ended else ""
        read_source(reader)
    return f"remove {noun}" if noun else reader.wording.say("remove entries")


def read_create(reader: Reader) -> str:
    while reader.key() in _DESCRIPTORS:
        reader.at += 1
    kind = reader.pop().lower() if not reader.ended else ""
    unless_there = False
    while reader.key() in _DESCRIPTORS:
        unless_there |= reader.key() == "EXISTS"
        reader.at += 1
    name = reader.tokens[reader.at].text if reader.at_name() else ""
    reader.at += bool(name)
    article = "an" if kind[:1] in ("a", "e", "i", "o", "u") else "a"
    noun = {"view": "a saved view", "table": "a new table"}.get(kind, f"{article} {split_words(kind)}")
    words = reader.wording.say("make {} called {}", reader.wording.say(noun), name)
    if kind == "index" and reader.take("ON") and not reader.ended:
        table = reader.wording.nouns.get(reader.tokens[reader.at].text.lower(), "")
        words += reader.wording.say(" on the {}", table) if table else ""
        pass_table(reader)
    if unless_there:
        words += reader.wording.say(" (do nothing if one of that name exists already)")
    if reader.key() == "(":
        words += f" with {reader.operand().inside(PREFIX)}"
    if reader.take("AS"):
        words += reader.wording.say(" that holds the following")
    return words
