"""What child processes do in these tests: importable, so that spawned ones find it."""

from __future__ import annotations

import gc
from typing import Any

from birdenv.databases import QueryResult, SqliteSource
from birdenv.databases.sqlite._process_database import ProcessDatabase

_kept: list[ProcessDatabase] = []


def write_and_leave_open(root: str) -> None:
    """A writing episode in a file of its own, in a transaction, never closed."""
    database = SqliteSource(root, image="copy").open("town")
    assert isinstance(database.run(["CREATE TABLE x (a); BEGIN; INSERT INTO x VALUES (1)"]), QueryResult)
    _kept.append(database)


def episodes(source: SqliteSource, number: int, rounds: int = 5) -> list[tuple[int, int, int]]:
    """Rows seen when reading, after writing `number` rows, and by the neighbour that did not write."""
    seen = []
    count = "SELECT count(*) FROM t"
    for _ in range(rounds):
        with source.open("town") as writing, source.open("town") as reading:
            before = _number(reading, count)
            for value in range(number):
                writing.execute(f"INSERT INTO t VALUES ({value})")
            seen.append((before, _number(writing, count), _number(reading, count)))
    return seen


def episodes_in_child(root: str, image: str, number: int, answers: Any) -> None:
    answers.put((number, episodes(SqliteSource(root, image=image), number)))  # type: ignore[arg-type]


def drop(databases: list[ProcessDatabase]) -> None:
    """In a forked child: let go of the parent's episodes, in every way there is."""
    databases[0].close()
    while databases:
        databases.pop()
    gc.collect()


def _number(database: ProcessDatabase, sql: str) -> int:
    result = database.query(sql)
    assert isinstance(result, QueryResult), result
    return int(result.rows[0][0])
