"""c-Interact benchmark folders as they are found: every flaw is one line that says where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy_tasks import KNOWLEDGE, QUERY, write_benchmark

from birdenv.databases import SqliteSource
from birdenv.errors import InputError
from birdenv.tasks.c_interact import load_benchmark, parse_record, read_notes
from birdenv.tasks.interact._knowledge import knowledge_text

AMBIGUITY = {"term": "x", "sql_snippet": "y"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"instance_id": ""}, "`instance_id` is empty"),
        ({"instance_id": None}, "`instance_id` must be text"),
        ({"amb_user_query": " \n"}, "`amb_user_query` is empty"),
        ({"selected_database": 5}, "`selected_database` must be text"),
        ({"category": "query"}, "`category` must be 'Query' or 'Management'"),
        ({"test_cases": {}}, "`test_cases` must be a list"),
        ({"follow_up": [1]}, "`follow_up` must be a JSON object"),
        ({"follow_up": {"query": 1}}, "`follow_up.query` must be text"),
        ({"conditions": {"order": "x"}}, "`conditions.order` must be true or false"),
        ({"conditions": {"decimal": 1e400}}, "`conditions.decimal` must be a whole number"),
        ({"external_knowledge": [True]}, "`external_knowledge.0` must be a whole number"),
        (
            {"knowledge_ambiguity": [AMBIGUITY | {"deleted_knowledge": 1.7}]},
            "`knowledge_ambiguity.0.deleted_knowledge` must be a list",
        ),
    ],
)
def test_faults_of_a_record_in_words(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_record(QUERY | change, "tasks.jsonl: record 1")
    assert str(caught.value) == f"tasks.jsonl: record 1: the field {says}"


def test_a_missing_field() -> None:
    record = {key: value for key, value in QUERY.items() if key != "selected_database"}
    with pytest.raises(InputError, match="the field `selected_database` is missing"):
        parse_record(record, "here")


@pytest.mark.parametrize("text", ["[" * 100_000, f"[{'1' * 5000}]", '["\\ud800"]', "[" * 150 + "]" * 150])
def test_text_that_only_looks_like_a_list_is_one_statement(text: str) -> None:
    assert parse_record(QUERY | {"sol_sql": text}, "here").sol_sql == (text,)


def kb(*entries: Any) -> str:
    return "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in entries)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty: expected a JSON list of knowledge entries"),
        ("[]", "contains no knowledge entries"),
        (kb('{"id": 1e400, "knowledge": "a"}'), "entry 1: the field `id` must be a whole number"),
        (kb(KNOWLEDGE[0], KNOWLEDGE[1] | {"id": 1.7}), "entry 2: the field `id` must be a whole number"),
        (kb(KNOWLEDGE[0] | {"id": True}), "`id` must be a whole number"),
        (kb({"knowledge": "a"}), "`id` is missing"),
        (kb({"id": 1}), "`knowledge` is missing"),
        (kb(KNOWLEDGE[0] | {"definition": 5}), "`definition` must be text"),
        (
            kb(KNOWLEDGE[0] | {"children_knowledge": ["x"]}),
            "`children_knowledge.0` must be a whole number",
        ),
        (kb(KNOWLEDGE[0], KNOWLEDGE[0]), "entry 2: the id 0 occurs twice"),
        (kb(KNOWLEDGE[0], "[" * 100_000), "line 2: the JSON is nested too deeply"),
        (
            kb(KNOWLEDGE[0], '{"id": ' + "1" * 5000 + "}"),
            "line 2: the JSON contains a number with too many digits",
        ),
        (
            kb(KNOWLEDGE[0] | {"knowledge": "\ud800"}),
            "record 1: the field 'knowledge' contains half a character",
        ),
    ],
)
def test_unusable_knowledge(tmp_path: Path, text: str, says: str) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    (folder / "club" / "club_kb.jsonl").write_text(text)
    with pytest.raises(InputError) as caught:
        read_notes(folder, "club")
    assert says in str(caught.value)
    assert "club_kb.jsonl" in str(caught.value)
    assert "task" not in str(caught.value).removeprefix(str(folder))


@pytest.mark.parametrize("text", ["[1]", "{", "[" * 100_000, '{"a": ' + "1" * 5000 + "}", '{"a": "\\ud800"}'])
def test_unusable_column_meanings(tmp_path: Path, text: str) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    (folder / "club" / "club_column_meaning_base.json").write_text(text)
    with pytest.raises(InputError, match="column_meaning"):
        read_notes(folder, "club")


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", "a\0b", "x" * 300, ".club", "c:club"])
def test_database_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not a database name"):
        read_notes(tmp_path, name)


def test_folders_and_files_with_names_that_are_too_long(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    long = tmp_path / ("x" * 300)
    calls: list[Callable[[], object]] = [
        lambda: load_benchmark(long),
        lambda: load_benchmark(folder, long),
        lambda: load_benchmark(folder, source=SqliteSource(long)),
    ]
    for call in calls:
        with pytest.raises(InputError, match="File name too long"):
            call()


def test_a_folder_read_again_shows_its_new_knowledge(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    shown = {"all_fields": False, "renumber": True}
    before = read_notes(folder, "club")
    assert knowledge_text(before, frozenset({1}), **shown) is knowledge_text(before, frozenset({1}), **shown)

    (folder / "club" / "club_kb.jsonl").write_text(kb(KNOWLEDGE[0] | {"definition": "age >= 21"}))
    after = read_notes(folder, "club")
    assert "age >= 21" in knowledge_text(after, frozenset(), **shown)
    assert "age >= 18" in knowledge_text(before, frozenset(), **shown)
