"""What child processes do in these tests: importable, so that spawned ones find it."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

from birdenv.databases import QueryResult, SqliteSource
from birdenv.databases.sqlite import SqliteDatabase
from birdenv.databases.sqlite import _file as _sqlite_file

_kept: list[SqliteDatabase] = []


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


def inherited(source: SqliteSource, answers: Any) -> None:
    """In a forked child, with the parent's source: what it took over, and what it sees."""
    idle = [len(file._idle) for file in source._files.values()]
    parents = {id(reader) for reader in _sqlite_file._of_the_parent}
    seen = episodes(source, 3)
    used = {id(reader) for file in source._files.values() for reader in file._idle}
    answers.put((idle, len(parents), len(parents & used), seen))


def drop(databases: list[SqliteDatabase]) -> None:
    """In a forked child: let go of the parent's episodes, in every way there is."""
    databases[0].close()
    while databases:
        databases.pop()
    gc.collect()


def anonymous_kib() -> int:
    """Memory of this process that is no file's, in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise AssertionError(os.uname())


def _number(database: SqliteDatabase, sql: str) -> int:
    result = database.query(sql)
    assert isinstance(result, QueryResult), result
    return int(result.rows[0][0])
