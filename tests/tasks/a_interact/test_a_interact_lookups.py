"""What the reading tools answer, and what they must not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from birdenv.tasks.a_interact._messages import LONGEST, look_up
from birdenv.tasks.c_interact import DatabaseNotes
from birdenv.tasks.interact._knowledge import KnowledgeEntry
from birdenv.tasks.sql._actions import Kind

ENTRIES = [(4, "Adult", "age >= 18"), (7, "Late Loan", "days > 30"), (9, "Risk", "uses Late Loan")]


def notes(schema: str = "CREATE TABLE member (id)", meanings: Any = None) -> DatabaseNotes:
    entries = (
        KnowledgeEntry(id=i, knowledge=name, description="d", definition=text, raw="raw")
        for i, name, text in ENTRIES
    )
    return DatabaseNotes(schema, tuple(entries), {} if meanings is None else meanings)


def read(kind: Kind, argument: Any = "", deleted: tuple[int, ...] = (), **options: Any) -> str:
    return look_up(kind, argument, notes(**options), frozenset(deleted))


MEANINGS = {"Club|Loan|Days": "length", "Club|Loan|Extra": {"fields_meaning": {"é": "e"}}}


def test_the_schema_is_the_benchmarks_own() -> None:
    assert read("get_schema") == "CREATE TABLE member (id)"


def test_column_meanings() -> None:
    everything = read("get_all_column_meanings", meanings=MEANINGS).splitlines()
    assert everything == ["Loan|Days: length", 'Loan|Extra: {"fields_meaning": {"é": "e"}}']
    for table, column in ((" loan ", " DAYS "), ("loan", "days")):
        argument = {"table": table, "column": column}
        assert read("get_column_meaning", argument, meanings=MEANINGS) == everything[0]
    for table, column in (("loan", ""), ("club", "loan|days"), ("club|loan", "days"), ("loan|days", "")):
        argument = {"table": table, "column": column}
        assert "No meaning" in read("get_column_meaning", argument, meanings=MEANINGS)
    assert "No column meanings" in read("get_all_column_meanings")


def test_knowledge_by_name_and_by_id() -> None:
    names = [json.loads(line) for line in read("get_all_external_knowledge_names").splitlines()]
    assert names == [
        {"id": 0, "knowledge": "Adult"},
        {"id": 1, "knowledge": "Late Loan"},
        {"id": 2, "knowledge": "Risk"},
    ]
    entry = {"id": 1, "knowledge": "Late Loan", "description": "d", "definition": "days > 30"}
    assert json.loads(read("get_knowledge_definition", "late loan ")) == entry
    assert json.loads(read("get_knowledge_definition", "1")) == entry
    assert "raw" not in read("get_all_knowledge_definitions")


@pytest.mark.parametrize("name", ["Late Loan", "late loan", "7"])
def test_a_deleted_entry_is_as_if_it_never_was(name: str) -> None:
    unknown = read("get_knowledge_definition", "no such name", deleted=(7,))
    assert read("get_knowledge_definition", name, deleted=(7,)) == unknown
    for kind in ("get_all_external_knowledge_names", "get_all_knowledge_definitions"):
        lines = [json.loads(line) for line in read(kind, deleted=(7,)).splitlines()]  # type: ignore[arg-type]
        assert [(line["id"], line["knowledge"]) for line in lines] == [(0, "Adult"), (1, "Risk")]
    assert "days > 30" not in read("get_all_knowledge_definitions", deleted=(7,))


def test_a_base_without_entries_says_so() -> None:
    deleted = (4, 7, 9)
    assert "no knowledge" in read("get_all_external_knowledge_names", deleted=deleted)
    assert "no knowledge" in read("get_all_knowledge_definitions", deleted=deleted)


def test_names_that_come_twice_give_both() -> None:
    entries = (KnowledgeEntry(id=i, knowledge="Same", definition=f"text {i}", raw="") for i in range(2))
    twice = DatabaseNotes("", tuple(entries), {})
    found = look_up("get_knowledge_definition", "same", twice, frozenset())
    assert [json.loads(line)["definition"] for line in found.splitlines()] == ["text 0", "text 1"]


def test_what_is_too_long_is_cut_and_counted() -> None:
    text = read("get_schema", schema="x" * (LONGEST + 5))
    assert text == "x" * LONGEST + "… (5 more characters)"


def test_only_reading_tools_read() -> None:
    with pytest.raises(ValueError, match="submit_sql"):
        read("submit_sql")
