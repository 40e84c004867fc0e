"""Starting an episode, and writing in one, against the same on a copy of the database file."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

from birdenv.databases import Limits, QueryResult, Result, SqliteSource
from birdenv_baselines.bench._databases import Size
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Skip,
    side_by_side,
    times_as_fast,
    times_as_long,
)
from birdenv_baselines.bench._peers import copy_database
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_READING = "SELECT * FROM orders LIMIT 5"
_WRITING = (
    "CREATE TABLE found (id INTEGER PRIMARY KEY, total REAL)",
    "INSERT INTO found SELECT id, total FROM orders LIMIT 5",
    "SELECT * FROM found",
)
_LIMITS = Limits()
_MEMORY_FOLDER = Path("/dev/shm")

_START = {"2 MB": 12.0, "300 MB": 1_000.0, "1.4 GB": 7_000.0}
_WRITE = {"2 MB": 1.5, "300 MB": 150.0, "1.4 GB": 800.0}
_MOST_GROWTH = 2.0


def lines(setting: Setting) -> list[Line]:
    source = SqliteSource(setting.folder)
    barred = [size for size in setting.sizes if size.label in _START]
    starts = [
        Line(
            f"start to first rows, {size.label}",
            "copy of the file, connect, read",
            partial(_start, setting, source, size),
            Bar("at least", _START[size.label]),
            (size.db_id,),
        )
        for size in barred
    ]
    flat = [
        Line(
            f"start to first rows, {larger.label}",
            f"ourselves at {smaller.label}",
            partial(_growth, setting, source, smaller, larger),
            Bar("at most", _MOST_GROWTH),
            (smaller.db_id, larger.db_id),
        )
        for smaller, larger in pairwise(barred)
    ]
    writes = [
        Line(
            f"writing episode, {size.label}",
            "the same on a copy in memory (tmpfs)",
            partial(_write, setting, source, size),
            Bar("at least", _WRITE[size.label]),
            (size.db_id,),
        )
        for size in barred
    ]
    return starts + flat + writes


def _start(setting: Setting, source: SqliteSource, size: Size) -> Figure:
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as folder:
        _check_room(Path(folder), setting.file(size))
        ours, theirs = side_by_side(
            [
                Contender(partial(_read, source, size.db_id)),
                Contender(
                    partial(_copy_and_read, setting.file(size), Path(folder)), after=sqlite3.Connection.close
                ),
            ],
            setting.effort,
        )
    return times_as_fast(ours, theirs, note="closing and deleting the copy are not counted; our closing is")


def _growth(setting: Setting, source: SqliteSource, smaller: Size, larger: Size) -> Figure:
    ours, theirs = side_by_side(
        [Contender(partial(_read, source, size.db_id)) for size in (larger, smaller)], setting.effort
    )
    return times_as_long(ours, theirs)


def _write(setting: Setting, source: SqliteSource, size: Size) -> Figure:
    if not _MEMORY_FOLDER.is_dir():
        raise Skip(f"this machine has no {_MEMORY_FOLDER} to copy into")
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-", dir=_MEMORY_FOLDER) as folder:
        _check_room(Path(folder), setting.file(size))
        ours, theirs = side_by_side(
            [
                Contender(partial(_write_in_episode, source, size.db_id)),
                Contender(partial(_copy_and_write, setting.file(size), Path(folder))),
            ],
            setting.effort,
        )
    return times_as_fast(ours, theirs)


def _read(source: SqliteSource, db_id: str) -> None:
    with source.open(db_id, _LIMITS) as database:
        _expect_rows(database.execute(_READING))


def _write_in_episode(source: SqliteSource, db_id: str) -> None:
    *changes, select = _WRITING
    with source.open(db_id, _LIMITS) as database:
        for sql in changes:
            database.execute(sql)
        _expect_rows(database.execute(select))


def _copy_and_read(database: Path, folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(copy_database(database, folder))
    connection.execute(_READING).fetchall()
    return connection


def _copy_and_write(database: Path, folder: Path) -> None:
    *changes, select = _WRITING
    copy = copy_database(database, folder)
    with closing(sqlite3.connect(copy)) as connection:
        for sql in changes:
            connection.execute(sql)
        connection.commit()
        connection.execute(select).fetchall()
    copy.unlink()


def _expect_rows(result: Result) -> None:
    if not isinstance(result, QueryResult) or len(result.rows) != 5:
        raise RuntimeError(f"expected five rows, got {result}")


def _check_room(folder: Path, database: Path) -> None:
    needed, free = database.stat().st_size, shutil.disk_usage(folder).free
    if free < 1.1 * needed:
        raise Skip(f"{folder.parent} has {free / 1e6:,.0f} MB free, a copy takes {needed / 1e6:,.0f} MB")
