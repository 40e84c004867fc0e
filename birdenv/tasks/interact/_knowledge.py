"""The notes about a database: its schema as text, its knowledge base, and the meanings of its columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from birdenv.databases.sqlite import is_database_name
from birdenv.errors import InputError
from birdenv.files import exists, is_directory, read_json, read_records, read_text
from birdenv.tasks.sql._records import parsed
from birdenv.users import BriefNotes


class KnowledgeEntry(BaseModel):
    """An entry in a database's knowledge base, which defines a domain term.

    Attributes:
        id: the id of the entry in the knowledge base.
        name: the defined term.
        description: a short description of the term.
        definition: the definition, such as a formula.
        children: the ids of the entries that the definition builds on.
        raw: the entry as JSON, with all fields from the file.
    """

    model_config = ConfigDict(frozen=True)

    id: StrictInt
    name: str = Field(alias="knowledge")
    description: str = ""
    definition: str = ""
    children: tuple[StrictInt, ...] = Field((), alias="children_knowledge")
    raw: str


@dataclass(frozen=True, slots=True, eq=False)
class DatabaseNotes:
    """The notes about one database in a benchmark folder. Instances are compared by identity, not by value.

    Attributes:
        schema: the CREATE statement of each table, with sample rows.
        knowledge: the entries of the knowledge base.
        column_meanings: the meaning of each column, keyed by `database|table|column`: text, or an object for
            a column that holds JSON.
    """

    schema: str
    knowledge: tuple[KnowledgeEntry, ...]
    column_meanings: Mapping[str, Any]

    @property
    def identifiers(self) -> frozenset[str]:
        """Return the names of all tables and columns that the schema or the column meanings mention."""
        names = set(_schema_names(self.schema))
        for key in self.column_meanings:
            names.update(key.split("|")[1:])
        return frozenset(names)


def read_notes(root: Path, database: str) -> DatabaseNotes:
    """Read the notes about a database from the folder `root/<database>/`.

    The files are `<database>_schema.txt`, `<database>_kb.jsonl` and, if it exists,
    `<database>_column_meaning_base.json`.

    Raises:
        InputError: a file is missing or damaged, or the name of the database is not a plain file name.
    """
    if not is_database_name(database):
        raise InputError(f"{database!r} is not a database name: expected the plain name of a folder")
    folder = root / database
    if not is_directory(folder):
        raise InputError(f"{root} has no folder {database!r} with that database's schema and knowledge")
    meanings_file = folder / f"{database}_column_meaning_base.json"
    meanings = read_json(meanings_file) if exists(meanings_file) else {}
    if not isinstance(meanings, dict):
        raise InputError(f"{meanings_file}: expected one JSON object")
    return DatabaseNotes(
        schema=read_text(folder / f"{database}_schema.txt").strip(),
        knowledge=_read_knowledge(folder / f"{database}_kb.jsonl"),
        column_meanings=meanings,
    )


@lru_cache(maxsize=64)
def user_notes(notes: DatabaseNotes) -> BriefNotes:
    """Convert the notes about a database to the form that the simulated user needs."""
    columns: dict[str, str] = {}
    for key, meaning in notes.column_meanings.items():
        name = key.split("|")[-1].lower()
        text = meaning if isinstance(meaning, str) else json.dumps(meaning, ensure_ascii=False)
        columns[name] = f"{columns[name]} {text}" if name in columns else text
    knowledge = {
        entry.id: f"{entry.name}. {entry.description} {entry.definition}" for entry in notes.knowledge
    }
    return BriefNotes(columns, knowledge, notes.schema)


@lru_cache(maxsize=1024)
def knowledge_text(notes: DatabaseNotes, deleted: frozenset[int], *, all_fields: bool, renumber: bool) -> str:
    """Return the knowledge entries that the system may see, as one JSON object per line.

    Args:
        notes: the notes about the database.
        deleted: the ids of the entries to leave out.
        all_fields: True to show all fields in the file, with the file's ids. False to show the fields that
            `shown_knowledge` returns.
        renumber: passed to `shown_knowledge`.
    """
    if all_fields:
        return "\n".join(entry.raw for entry in notes.knowledge if entry.id not in deleted)
    shown = shown_knowledge(notes, deleted, renumber=renumber)
    return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in shown)


def shown_knowledge(
    notes: DatabaseNotes, deleted: frozenset[int], *, renumber: bool = True
) -> list[dict[str, Any]]:
    """Return the knowledge entries that the system may see, with their four public fields.

    Args:
        notes: the notes about the database.
        deleted: the ids of the entries to leave out.
        renumber: True to renumber the entries from 0, so that no gap reveals a deleted entry.
    """
    visible = [entry for entry in notes.knowledge if entry.id not in deleted]
    return [
        {
            "id": number if renumber else entry.id,
            "knowledge": entry.name,
            "description": entry.description,
            "definition": entry.definition,
        }
        for number, entry in enumerate(visible)
    ]


def _read_knowledge(path: Path) -> tuple[KnowledgeEntry, ...]:
    entries: dict[int, KnowledgeEntry] = {}
    for number, record in enumerate(read_records(path, "knowledge entries"), 1):
        told = {key: value for key, value in record.items() if value is not None}
        if told.get("children_knowledge") == -1:  # -1 means "none" in the files
            told["children_knowledge"] = []
        raw = json.dumps(record, ensure_ascii=False)
        entry = parsed(KnowledgeEntry, {**told, "raw": raw}, f"{path}: entry {number}")
        if entry.id in entries:
            raise InputError(f"{path}: entry {number}: the id {entry.id} occurs twice")
        entries[entry.id] = entry
    return tuple(entries.values())


_TABLE = re.compile(r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)
_COLUMN = re.compile(r"^\s*[\"`\[]?([^\s\"`\],]+)[\"`\]]?\s+\w")
_NOT_COLUMNS = {"primary", "foreign", "unique", "check", "constraint", "first", "create"}


def _schema_names(schema: str) -> list[str]:
    names: list[str] = []
    for block in re.split(r"(?=CREATE\s+TABLE)", schema, flags=re.IGNORECASE):
        table = _TABLE.match(block)
        if table is None:
            continue
        names.append(table.group(1))
        body = block[table.end() :].split("\n);", 1)[0]
        for line in body.split("\n"):
            column = _COLUMN.match(line.lstrip('("` '))
            if column and column.group(1).lower() not in _NOT_COLUMNS:
                names.append(column.group(1).strip('"'))
    return names
