"""The guard against the real benchmark: it refuses nothing that SQLite itself would run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from database_files import write_database

from birdenv.databases import Limits, QueryError, QueryResult, SqliteSource


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def empty_schema(database: dict[str, list[object]]) -> str:
    """CREATE statements for one entry of `tables.json`."""
    columns: dict[int, list[str]] = {}
    for (table, name), kind in zip(database["column_names_original"], database["column_types"], strict=True):  # type: ignore[misc]
        if table >= 0:  # type: ignore[has-type]
            columns.setdefault(table, []).append(f"{quoted(name)} {kind}")  # type: ignore[has-type]
    tables = enumerate(database["table_names_original"])
    return "".join(f"CREATE TABLE {quoted(str(name))} ({', '.join(columns[i])});\n" for i, name in tables)


@pytest.fixture(scope="module")
def schemas(mini_dev: Path, tmp_path_factory: pytest.TempPathFactory) -> SqliteSource:
    root = tmp_path_factory.mktemp("schemas")
    for database in json.loads((mini_dev / "tables.json").read_text()):
        write_database(root, database["db_id"], empty_schema(database))
    return SqliteSource(root)


def submissions(mini_dev: Path) -> Iterator[tuple[str, str, str]]:
    """(where from, db_id, SQL) of all golds and published predictions."""
    for task in json.loads((mini_dev / "mini_dev_sqlite.json").read_text()):
        yield "gold", task["db_id"], task["SQL"]
    for file in sorted((mini_dev / "predictions").glob("*.json")):
        for number, value in json.loads(file.read_text()).items():
            sql, _, db_id = str(value).rpartition("\t----- bird -----\t")
            yield f"{file.name}:{number}", db_id.strip(), sql


def test_every_gold_with_a_real_database_runs(mini_dev: Path) -> None:
    source = SqliteSource(mini_dev / "dev_databases")
    tasks = json.loads((mini_dev / "mini_dev_sqlite.json").read_text())
    mine = [task for task in tasks if task["db_id"] in ("superhero", "financial")]
    assert len(mine) == 84
    for db_id in ("superhero", "financial"):
        before = source.digest(db_id), source.path(db_id).stat().st_mtime_ns
        with source.open(db_id) as database:
            for task in mine:
                if task["db_id"] == db_id:
                    result = database.query(task["SQL"])
                    assert isinstance(result, QueryResult), (task["question_id"], result)
                    assert not result.truncated
            assert isinstance(database.execute("DELETE FROM sqlite_sequence"), QueryResult | QueryError)
        assert (source.digest(db_id), source.path(db_id).stat().st_mtime_ns) == before
        assert len(list(source.path(db_id).parent.glob("*.sqlite*"))) == 1


@pytest.mark.slow
def test_nothing_that_sqlite_prepares_is_refused(mini_dev: Path, schemas: SqliteSource) -> None:
    plain = {name: sqlite3.connect(schemas.path(name)) for name in schemas.names()}
    guarded = {name: schemas.open(name, Limits(seconds=10)) for name in schemas.names()}
    prepared, refused = 0, []
    for origin, db_id, sql in submissions(mini_dev):
        try:
            is_query = plain[db_id].execute(f"EXPLAIN {sql}").close() is None
        except (sqlite3.Error, sqlite3.Warning):
            assert origin != "gold"
            continue
        if is_query and sql.strip():
            prepared += 1
            result = guarded[db_id].query(sql)
            if isinstance(result, QueryError):
                refused.append((origin, result.kind, result.message))
    for connection in plain.values():
        connection.close()
    for database in guarded.values():
        database.close()
    assert refused == []
    assert prepared > 500 + 4000


def test_the_databases_of_mini_interact_open(mini_dev: Path) -> None:
    root = mini_dev.parent / "mini_interact"
    if not root.is_dir():
        pytest.skip(f"no Mini-Interact data at {root}")
    source = SqliteSource(root)
    assert len(source.names()) == 24
    for name in source.names():
        source.check(name)
