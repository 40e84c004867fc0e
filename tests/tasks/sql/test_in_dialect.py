"""What a record says on another engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.errors import InputError
from birdenv.tasks.bird import load_tasks
from birdenv.tasks.sql._records import in_dialect

RECORD: dict[str, Any] = {
    "sol_sql": ["SELECT ifnull(a, 0) FROM t"],
    "candidates": ["SELECT a FROM t", "SELECT b FROM t"],
    "follow_up": {"query": "And b?", "sol_sql": ["SELECT total(b) FROM t"]},
}
POSTGRES = {
    "sol_sql": ["SELECT coalesce(a, 0) FROM t"],
    "follow_up": {"sol_sql": ["SELECT sum(b) FROM t"]},
}


def test_the_variant_takes_the_place_of_the_records_own_fields() -> None:
    record = RECORD | {"by_dialect": {"postgres": POSTGRES}}
    assert in_dialect(record, "postgres", "here") == {
        "sol_sql": ["SELECT coalesce(a, 0) FROM t"],
        "candidates": RECORD["candidates"],
        "follow_up": {"query": "And b?", "sol_sql": ["SELECT sum(b) FROM t"]},
    }


def test_without_a_variant_the_record_stays_as_it_is() -> None:
    record = RECORD | {"by_dialect": {"postgres": POSTGRES}}
    assert in_dialect(record, "sqlite", "here") == RECORD
    assert in_dialect(RECORD, "postgres", "here") == RECORD
    assert in_dialect(RECORD | {"by_dialect": None}, "postgres", "here") == RECORD
    assert record["follow_up"] == RECORD["follow_up"], "the record itself is not changed"


@pytest.mark.parametrize("wrong", [["postgres"], "postgres", {"postgres": ["SELECT 1"]}, {"postgres": None}])
def test_a_variant_that_is_none_is_told(wrong: object) -> None:
    with pytest.raises(InputError, match=r"^here: the field `by_dialect` must be an object"):
        in_dialect(RECORD | {"by_dialect": wrong}, "postgres", "here")


def test_bird_tasks_are_read_in_the_dialect(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    row = {"question": "How many?", "db_id": "shop", "SQL": "SELECT total(a) FROM t"}
    file.write_text(json.dumps([row | {"by_dialect": {"postgres": {"SQL": "SELECT sum(a) FROM t"}}}]))
    [sqlite], [postgres] = load_tasks(file), load_tasks(file, "postgres")
    assert (sqlite.private.gold, postgres.private.gold) == (
        ("SELECT total(a) FROM t",),
        ("SELECT sum(a) FROM t",),
    )
    assert sqlite.public == postgres.public
