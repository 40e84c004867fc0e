"""What statements that change the database settle beside conditions and values, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from birdenv.users._brief import Brief
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import in_words, split_words

_ADDED = re.compile(r"(?is)\bADD (?:COLUMN )?[\"`]?(?P<name>\w+)[\"`]? (?P<type>\w+)(?P<rest>.*)")
_DEFAULT = re.compile(r"(?i)\bDEFAULT\s+(\(.*?\)|'[^']*'|[-\w.]+)")
_TYPES = (
    ("text", ("char", "text", "clob", "string")),
    ("whole-number", ("int",)),
    ("number", ("real", "floa", "doub", "num", "dec")),
    ("yes-or-no", ("bool",)),
    ("date", ("date", "time")),
)
_TIMED = re.compile(
    r"(?is)\b(?P<when>BEFORE|AFTER|INSTEAD\s+OF)\s+(?P<what>INSERT|DELETE|UPDATE)(?:\s+OF\s(?P<of>(?:(?!\sON\b)[\w\s,])++))?+"
    r"\s++ON\b"
)


def changes(parts: Iterable[Segment], brief: Brief) -> Iterator[tuple[tuple[Segment, ...], str]]:
    """Yield what is deleted, added and set off, each with the answer to a question about it.

    What an annotated snippet settles is left out.
    """
    parts = list(parts)
    annotated = " ".join(item.snippet for item in brief.ambiguities).upper()
    deletes = tuple(part for part in parts if part.clause == "delete")
    if deletes and "DELETE" not in annotated:
        yield deletes, _deleted([split_words(part.sql.rpartition(" ")[2]) for part in deletes])
    for part in parts:
        if part.clause == "alter" and "ALTER" not in annotated and (told := _added(part.sql)):
            yield (part,), told
        if part.clause == "trigger" and "TRIGGER" not in annotated and (told := _set_off(part.sql, brief)):
            yield (part,), told


def _deleted(names: list[str]) -> str:
    first, *rest = dict.fromkeys(names)
    return f"Delete the {', then the '.join([first, *rest])}, and nothing else."


def _added(sql: str) -> str:
    match = _ADDED.search(sql)
    if match is None:
        return ""
    kind = next((kind for kind, begun in _TYPES if match["type"].lower().startswith(begun)), "")
    default = _DEFAULT.search(match["rest"])
    needed = ", never empty" if "NOT NULL" in match["rest"].upper() else ""
    given = f"with the default value {default[1]}" if default else "without a default value"
    return f"Add a {kind} column called {match['name']}{needed}, {given}.".replace("  ", " ")


def _set_off(sql: str, brief: Brief) -> str:
    match = _TIMED.search(sql)
    if match is None:
        return ""
    when = " ".join(match["when"].lower().split())
    named = [in_words(name.strip(), brief).text for name in (match["of"] or "").split(",") if name.strip()]
    of = f" of {' or '.join(named)}" if named else ""
    return f"It acts {when} each {match['what'].lower()}{of}, on the one that it happened to."


KINDS_OF_CHANGE = {"alter": ("name", "output"), "trigger": ("period",)}
SAID_OF_CHANGE = {
    "delete": "delete remove drop go wipe erase purge cascade keep stay",
    "alter": "column type data text number default value name called new",
    "trigger": "trigger fire run event before after update insert change whenever every only",
}
"""Words by which people ask about such a statement."""
