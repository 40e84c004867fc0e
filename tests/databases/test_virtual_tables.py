"""Writing to virtual tables of every module: as plain `sqlite3` does it, or not at all.

A module stores values of its own (pages of an index, lists of places) through SQLite's limits. A limit of
ours may refuse a statement; it may never make a module store something else.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from attacked import kind
from database_files import write_database
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_copy import PlainCopy, answer
from samples import examples

from birdenv.databases import DatabaseState, Limits, QueryError, SqliteSource
from birdenv.databases.sqlite.images._protocol import ImageKind

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
@pytest.mark.parametrize("module", FILL)
@pytest.mark.parametrize("is_in_transaction", [False, True])
def test_three_thousand_rows_are_three_thousand_rows(
    tmp_path: Path, module: str, is_in_transaction: bool
) -> None:
    write_database(tmp_path, "town", "CREATE TABLE notes (a)")
    begin, end = (["BEGIN"], ["SELECT 1", "SAVEPOINT s", "COMMIT"]) if is_in_transaction else ([], [])
    script = [create(module), *begin, f"{COUNT.format(n=3000)} {FILL[module]}", "SELECT count(*) FROM notes"]
    with SqliteSource(tmp_path).open("town", Limits(seconds=20)) as database:
        for sql in [*script, *end, CHECKS[family(module)]]:
            assert kind(database.execute(sql)) == "ok", sql
        found = answer(database.execute(READ[family(module)][0]))
    assert found.rows[0][0] == (3000 if family(module) == "fts" else 2994)


MEGABYTES = "INSERT INTO blobs SELECT zeroblob(1000000) FROM c"
MATCHES = " OR ".join(f"a LIKE '%{number}%'" for number in range(70))  # so values may have 4,285 bytes
BESIDE = (
    "CREATE TABLE blobs (a)",
    f"{COUNT.format(n='{megabytes}')} {MEGABYTES}",
    "BEGIN",
    f"SELECT a FROM plain WHERE {MATCHES}",
    f"{COUNT.format(n=3000)} {{fill}}",
    f"SELECT a FROM plain WHERE {MATCHES}",
    f"UPDATE plain SET a = replace(a, '7', '8') WHERE {MATCHES}",
    "INSERT INTO plain VALUES (upper('x7'))",
    "PRAGMA integrity_check",
    "CREATE TABLE other AS SELECT * FROM plain",
    "DROP TABLE other",
    "SELECT changes(), last_insert_rowid()",
    "SAVEPOINT s",
    "{fill_one}",
    f"DELETE FROM plain WHERE {MATCHES}",
    "ROLLBACK TO s",
    "COMMIT",
    "SELECT * FROM plain",
    "{check}",
    "{read}",
)


@pytest.mark.contains("S42")
@pytest.mark.parametrize("megabytes", [0, 12])
@pytest.mark.parametrize("module", ["fts4", "fts5", "rtree"])
def test_statements_beside_changes_of_a_virtual_table(tmp_path: Path, module: str, megabytes: int) -> None:
    """None is refused, also where its values may not be as large as what the module has put off."""
    schema = (
        f"CREATE TABLE plain (a NOT NULL UNIQUE); INSERT INTO plain VALUES ('x6'), ('x7'); {create(module)};"
    )
    path = write_database(tmp_path, "town", schema)
    plain = PlainCopy(path, tmp_path)
    check, (read, _) = CHECKS[family(module)], READ[family(module)]
    fill = FILL["rtree"] if module == "rtree" else "INSERT INTO f SELECT 'late' FROM c"
    one = f"WITH c (x) AS (SELECT 5000) {fill}"
    with SqliteSource(tmp_path).open("town", Limits(seconds=20)) as database:
        for step in BESIDE:
            sql = step.format(megabytes=megabytes, fill=fill, fill_one=one, check=check, read=read)
            assert (answer(database.execute(sql)), sql[-200:]) == (plain.execute(sql), sql[-200:])
    plain.close()


WRITES = (
    "INSERT INTO notes VALUES (1, 'late', 'by ship'), (2, 'early', 'by train')",
    "UPDATE notes SET title = 'later' WHERE title = 'late' AND id < 3 AND body <> 'x'",
    "INSERT INTO notes (title, body) SELECT title, body FROM notes ORDER BY title",
    "DELETE FROM notes WHERE id = 1 OR title IN ('a', 'b', 'c')",
    "SELECT docid FROM f WHERE f MATCH 'train' AND title <> 'late'",
    "DROP TABLE f",
)


def test_a_full_text_index_of_a_large_database_is_kept_by_triggers(tmp_path: Path) -> None:
    made = f"CREATE TABLE blobs (a); {COUNT.format(n=12)} {MEGABYTES};"
    schema = f"""{made} CREATE TABLE notes (id INTEGER PRIMARY KEY, title, body);
        CREATE INDEX i ON notes (title); CREATE VIRTUAL TABLE f USING fts4 (content='notes', title, body);
        CREATE TRIGGER a BEFORE UPDATE ON notes BEGIN DELETE FROM f WHERE docid = old.id; END;
        CREATE TRIGGER b BEFORE DELETE ON notes BEGIN DELETE FROM f WHERE docid = old.id; END;
        CREATE TRIGGER c AFTER UPDATE ON notes BEGIN INSERT INTO f (docid, title, body)
          VALUES (new.id, new.title, new.body); END;
        CREATE TRIGGER d AFTER INSERT ON notes BEGIN INSERT INTO f (docid, title, body)
          VALUES (new.id, new.title, new.body); END;"""
    path = write_database(tmp_path, "town", schema)
    plain = PlainCopy(path, tmp_path)
    with SqliteSource(tmp_path).open("town", Limits(seconds=20)) as database:
        for sql in WRITES:
            assert (answer(database.execute(sql)), sql) == (plain.execute(sql), sql)
    plain.close()


LONG_LIST = (
    "CREATE TABLE texts (a)",
    f"{COUNT.format(n=3_000)} INSERT INTO texts SELECT replace(hex(zeroblob(1900)), '00', 'late ') FROM c",
    "CREATE VIRTUAL TABLE f USING fts4 (body, matchinfo=fts3)",
    "INSERT INTO f SELECT 'late ' || a FROM texts",
    "INSERT INTO f SELECT a FROM texts",
    "INSERT INTO f SELECT a FROM texts",
    "{optimize}",
    "INSERT INTO f (f) VALUES ('integrity-check')",
    "SELECT count(*) AS n, sum(rowid) AS s FROM f WHERE f MATCH 'late'",
    "SELECT max(length(root)) > 10000000 AS is_long FROM f_segdir",
)
"""After which one word's list of places is longer than any value of an agent may be."""


@pytest.mark.slow
@pytest.mark.contains("S42")
@pytest.mark.parametrize(
    "optimize", ["INSERT INTO f (f) VALUES ('optimize')", "SELECT optimize(f) AS a FROM f LIMIT 1"]
)
def test_a_list_of_places_that_is_longer_than_a_value_may_be_is_stored_whole(
    tmp_path: Path, optimize: str
) -> None:
    path = write_database(tmp_path, "town", "CREATE TABLE notes (a)")
    plain = PlainCopy(path, tmp_path)
    with SqliteSource(tmp_path).open("town", Limits(seconds=60)) as database:
        for sql in (step.format(optimize=optimize) for step in LONG_LIST):
            found = answer(database.execute(sql))
            assert (found, sql) == (plain.execute(sql), sql)
    assert [*map(tuple, found.rows)] == [(1,)], "the list was never long"
    plain.close()


@pytest.mark.parametrize("module", FILL)
@pytest.mark.parametrize("is_in_transaction", [False, True])
def test_tables_are_altered_beside_virtual_tables(
    tmp_path: Path, module: str, is_in_transaction: bool
) -> None:
    schema = "CREATE TABLE plain (a, b); CREATE VIEW v AS SELECT a FROM plain"
    path = write_database(tmp_path, "town", f"{schema}; {create(module)}")
    plain = PlainCopy(path, tmp_path)
    script = (
        *(["BEGIN"] if is_in_transaction else []),
        f"{COUNT.format(n=3)} {FILL[module]}",
        "ALTER TABLE f RENAME TO g",
        "ALTER TABLE plain RENAME COLUMN a TO c",
        "ALTER TABLE plain DROP COLUMN b",
        "ALTER TABLE plain RENAME TO other",
        "DROP TABLE other",
        "ALTER TABLE g RENAME TO f",
        "DROP VIEW v",
        "ALTER TABLE g RENAME TO f",
        READ[family(module)][0],
    )
    with SqliteSource(tmp_path).open("town", Limits(seconds=20)) as database:
        answers = [(sql, answer(database.execute(sql)), plain.execute(sql)) for sql in script]
    plain.close()
    assert [(sql, ours) for sql, ours, _ in answers] == [(sql, theirs) for sql, _, theirs in answers]
    assert [sql for sql, ours, _ in answers if ours.error] == ["ALTER TABLE g RENAME TO f"]


STEPS = {
    "BEGIN": 2,
    "COMMIT": 2,
    "ROLLBACK": 1,
    "SAVEPOINT s": 1,
    "RELEASE s": 1,
    "fill": 4,
    "UPDATE plain SET a = a || 'x'": 1,
    "INSERT INTO plain SELECT count(*) FROM plain": 1,
    f"UPDATE plain SET a = upper(a) WHERE {MATCHES}": 2,
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
@settings(max_examples=examples(40))
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
                assert (answer(database.execute(sql)), sql) == (plain.execute(sql), sql)
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


ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
TRAPS = {
    "fts5": ("config", f"{ENDLESS} SELECT x AS k, x AS v FROM c WHERE x < 0"),
    "fts4": ("stat", f"{ENDLESS} SELECT x AS id, x AS value FROM c WHERE x < 0"),
    "rtree": ("node", f"{ENDLESS} SELECT x AS nodeno, x AS data FROM c WHERE x < 0"),
}


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.contains("S46")
@pytest.mark.parametrize("module", TRAPS)
def test_a_hostile_file_is_opened_and_read_in_time(tmp_path: Path, module: str) -> None:
    shadow, view = TRAPS[module]
    trap = f"DROP TABLE f_{shadow}; CREATE VIEW f_{shadow} AS {view};"
    write_database(tmp_path, "town", f"CREATE TABLE plain (a); {create(module)}; {trap}")
    began = time.monotonic()
    source = SqliteSource(tmp_path)
    source.check("town")
    with source.open("town", Limits(seconds=0.1)) as database:
        for run in (database.query, database.execute):
            assert kind(run("SELECT count(*) FROM f")) in ("timeout", "engine", "missing", "denied", "ok")
        assert kind(database.execute("CREATE TABLE moved (a)")) == "ok"
        for run in (database.query, database.execute):
            assert kind(run("SELECT count(*) FROM f")) in ("timeout", "engine", "missing", "denied", "ok")
        database.state()
    assert time.monotonic() - began < 12, "nothing endless ran"


# Views in the places of a module's own tables: the second one does what no agent may.
CONFIG = {
    "plain": "SELECT 'version' AS k, 4 AS v",
    "forbidden": "SELECT 'version' AS k, 4 AS v FROM pragma_hard_heap_limit",
}


@pytest.mark.contains("S46")
@pytest.mark.parametrize("name", ["f", "json_each", "pragma_table_info"])
def test_connecting_runs_under_the_rules_of_agents(tmp_path: Path, name: str) -> None:
    for config, expected in (("plain", "ok"), ("forbidden", "denied")):
        schema = f"CREATE TABLE plain (a); {create('fts5').replace(' f ', f' {name} ')};"
        trap = f"DROP TABLE {name}_config; CREATE VIEW {name}_config AS {CONFIG[config]};"
        write_database(tmp_path, config, schema + trap)
        with SqliteSource(tmp_path).open(config, Limits(seconds=5)) as database:
            for run in (database.query, database.execute):
                assert kind(run(f"SELECT count(*) FROM {name}")) == expected
            assert kind(database.execute("CREATE TABLE moved (a)")) == "ok"
            for run in (database.query, database.execute):
                assert kind(run(f"SELECT count(*) FROM {name}")) == expected
            state = database.state()
            assert isinstance(state, DatabaseState)
            assert kind(state.contents[name]) == expected


@pytest.mark.contains("S46")
@pytest.mark.parametrize("image", ["memory-map", "copy"])
@pytest.mark.parametrize("module", TRAPS)
def test_nobody_but_a_module_changes_its_tables(tmp_path: Path, module: str, image: ImageKind) -> None:
    shadow, view = TRAPS[module]
    path = write_database(tmp_path, "town", f"CREATE TABLE plain (a); {create(module)};")
    with SqliteSource(path.parent.parent, image=image).open("town", Limits(seconds=5)) as database:
        for sql in (
            f"DROP TABLE f_{shadow}",
            f"DELETE FROM f_{shadow}",
            f"ALTER TABLE f_{shadow} RENAME TO g",
        ):
            result = database.execute(sql)
            assert isinstance(result, QueryError), sql
            assert "may not be" in result.message
        assert kind(database.execute(f"CREATE VIEW f_{shadow} AS {view}")) != "ok"
        assert kind(database.query("SELECT count(*) FROM f")) == "ok"
