"""What the six reading tools answer: schema, column meanings, knowledge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from birdenv.tasks.interact._knowledge import DatabaseNotes, shown_knowledge
from birdenv.tasks.sql._actions import Kind

LONGEST = 60_000
"""Characters of one answer; the notes of the public benchmarks are shorter."""


def look_up(
    kind: Kind, argument: Any, notes: DatabaseNotes, deleted: frozenset[int], *, renumber: bool = True
) -> str:
    """The answer of one reading tool, cut to `LONGEST`. Entries in `deleted` are as if they never were.

    `argument` is `{"table", "column"}` for a column meaning, and an entry's name or shown id for a
    definition; case does not matter. With `renumber`, ids count the visible entries, so that no gap tells of
    a deleted one. Raises `ValueError` for a tool that reads nothing.
    """
    entries = shown_knowledge(notes, deleted, renumber=renumber)
    match kind:
        case "get_schema":
            text = notes.schema
        case "get_all_column_meanings":
            text = _all_meanings(notes.column_meanings)
        case "get_column_meaning":
            text = _meaning(notes.column_meanings, argument)
        case "get_all_external_knowledge_names":
            text = _lines({"id": entry["id"], "knowledge": entry["knowledge"]} for entry in entries)
        case "get_knowledge_definition":
            text = _definition(entries, argument)
        case "get_all_knowledge_definitions":
            text = _lines(entries)
        case _:
            raise ValueError(f"{kind} reads no notes")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST} more characters)"


def _lines(entries: Iterable[Mapping[str, Any]]) -> str:
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    return "\n".join(lines) or "There is no knowledge about this database."


def _definition(entries: Iterable[Mapping[str, Any]], wanted: str) -> str:
    """Every entry of that name: names may come twice."""
    name = wanted.strip().casefold()
    found = [entry for entry in entries if name in (entry["knowledge"].strip().casefold(), str(entry["id"]))]
    return _lines(found) if found else "There is no knowledge of that name."


def _all_meanings(meanings: Mapping[str, Any]) -> str:
    lines = [f"{_column(key)}: {_text(meaning)}" for key, meaning in meanings.items()]
    return "\n".join(lines) or "No column meanings are recorded for this database."


def _meaning(meanings: Mapping[str, Any], wanted: Mapping[str, str]) -> str:
    parts = [wanted[name].strip().lower() for name in ("table", "column")]
    for key, meaning in meanings.items():
        if _column(key).lower().split("|") == parts:
            return f"{_column(key)}: {_text(meaning)}"
    return "No meaning is recorded for that column."


def _column(key: str) -> str:
    """`table|column` of a key `database|table|column`."""
    return key.partition("|")[2]


def _text(meaning: Any) -> str:
    """Columns that hold JSON have a meaning for each field."""
    return meaning if isinstance(meaning, str) else json.dumps(meaning, ensure_ascii=False)
