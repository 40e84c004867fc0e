"""Writing to virtual tables of every module: as plain `sqlite3` does it, or not at all.

A module stores values of its own (pages of an index, lists of places) through SQLite's limits. A limit of
ours may refuse a statement; it may never make a module store something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from attacked import kind
from database_files import write_database
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_copy import Answer, PlainCopy, answer
from samples import examples

from birdenv.databases import Limits, SqliteSource

COUNT = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {n})"
FILL = {
    "fts3": "INSERT INTO f SELECT 'late delivery number ' || x FROM c",
    "fts4": "INSERT INTO f SELECT 'late delivery number ' || x FROM c",
    "fts5": "INSERT INTO f SELECT 'late delivery number ' || x FROM c",
    "rtree": "INSERT INTO f SELECT x, x, x + 1 FROM c",
    "rtree_i32": "INSERT INTO f SELECT x, x, x + 1 FROM c",
}
READ = {
    "fts": (
        "SELECT count(*) AS n, sum(rowid) AS s FROM f WHERE f MATCH 'late'",
        "SELECT count(*) AS n FROM f",
    ),
    "rtree": ("SELECT count(*) AS n, sum(id) AS s FROM f WHERE a >= 7", "SELECT rtreecheck('f') AS ok"),
}
CHECKS = {
    "fts": "INSERT INTO f (f) VALUES ('integrity-check')",
    "rtree": "SELECT count(*) AS n FROM f_node WHERE data IS NULL",
}


def family(module: str) -> str:
    return "fts" if module.startswith("fts") else "rtree"


def create(module: str) -> str:
    return f"CREATE VIRTUAL TABLE f USING {module} ({'body' if family(module) == 'fts' else 'id, a, b'})"


@pytest.mark.contains("S42")
@pytest.mark.parametrize("isolation", ["inline", "process"])
@pytest.mark.parametrize("module", FILL)
@pytest.mark.parametrize("is_in_transaction", [False, True])
def test_three_thousand_rows_are_three_thousand_rows(
    tmp_path: Path, module: str, isolation: str, is_in_transaction: bool
) -> None:
    write_database(tmp_path, "town", "CREATE TABLE notes (a)")
    begin, end = (["BEGIN"], ["SELECT 1", "SAVEPOINT s", "COMMIT"]) if is_in_transaction else ([], [])
    script = [create(module), *begin, f"{COUNT.format(n=3000)} {FILL[module]}", "SELECT count(*) FROM notes"]
    with SqliteSource(tmp_path, isolation=isolation).open("town", Limits(seconds=20)) as database:  # type: ignore[arg-type]
        for sql in [*script, *end, CHECKS[family(module)]]:
            assert kind(database.execute(sql)) == "ok", sql
        found = answer(database.execute(READ[family(module)][0]))
    assert found.rows[0][0] == (3000 if family(module) == "fts" else 2994)


STEPS = {
    "BEGIN": 2,
    "COMMIT": 2,
    "ROLLBACK": 1,
    "SAVEPOINT s": 1,
    "RELEASE s": 1,
    "fill": 4,
    "UPDATE plain SET a = a || 'x'": 1,
    "INSERT INTO plain SELECT count(*) FROM plain": 1,
    "read": 3,
    "DELETE FROM f WHERE rowid % 3 = 0": 1,
    "UPDATE f SET body = 'early ' || upper(body) WHERE rowid % 5 = 1": 1,
    "DELETE FROM f WHERE body LIKE '%1%'": 1,
    "INSERT INTO f SELECT replace(a, 'x', 'late ') FROM plain": 1,
    "INSERT INTO f (f) VALUES ('optimize')": 1,
    "ALTER TABLE f RENAME TO g": 1,
    "ALTER TABLE g RENAME TO f": 1,
    "DROP TABLE f": 1,
    "create": 1,
}
scripts = st.lists(
    st.sampled_from([step for step, often in STEPS.items() for _ in range(often)]), max_size=12
)


@given(module=st.sampled_from(sorted(FILL)), rows=st.sampled_from([3, 400, 2000]), steps=scripts)
@settings(max_examples=examples(40), deadline=None)
def test_scripts_write_what_plain_sqlite_writes(
    tmp_path_factory: pytest.TempPathFactory, module: str, rows: int, steps: Sequence[str]
) -> None:
    folder = tmp_path_factory.mktemp("modules")
    path = write_database(
        folder, "town", f"CREATE TABLE plain (a); INSERT INTO plain VALUES ('x'), ('y'); {create(module)};"
    )
    plain = PlainCopy(path, folder)
    with SqliteSource(folder).open("town", Limits(seconds=20)) as database:
        for step in [*steps, "COMMIT", "read", "check"]:
            for sql in spelled(step, module, rows):
                found = answer(database.execute(sql))
                if not is_refused(found):
                    assert (found, sql) == (plain.execute(sql), sql)
    plain.close()


def spelled(step: str, module: str, rows: int) -> Sequence[str]:
    match step:
        case "fill":
            return [f"{COUNT.format(n=rows)} {FILL[module]}"]
        case "read":
            return READ[family(module)]
        case "check":
            return [CHECKS[family(module)]]
        case "create":
            return [create(module)]
        case _:
            return [step]


def is_refused(found: Answer) -> bool:
    return "virtual table" in found.error and "ordinary table" in found.error
