"""Time the start of an episode (until the first rows arrive) against copying the database file."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from birdenv.databases import QueryResult, SqliteSource
from birdenv_baselines.bench._databases import SIZES, Size
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Setting,
    Skip,
    in_rounds,
    times_as_fast,
    times_as_long,
)
from birdenv_baselines.bench._tasks import copy_database

__all__ = ["lines"]

_READING: Final = "SELECT * FROM orders LIMIT 5"
_BARS: Final = {"2 MB": 12.0, "300 MB": 1_000.0, "1,400 MB": 7_000.0}
_MOST_GROWTH: Final = 2.0


def lines(quick: bool) -> list[Line]:
    """Return the lines about episode starts; `quick` uses only the smallest database."""
    sizes = [size for size in SIZES if size.label in _BARS][: 1 if quick else None]
    made = [
        Line(
            f"start to first rows, {size.label}",
            "copy of the file, connect, read",
            partial(_start, size),
            Bar("at least", _BARS[size.label]),
            (size,),
        )
        for size in sizes
    ]
    smallest = sizes[0]
    made += [
        Line(
            f"start to first rows, {larger.label}",
            f"ourselves at {smallest.label}",
            partial(_growth, smallest, larger),
            Bar("at most", _MOST_GROWTH),
            (smallest, larger),
        )
        for larger in sizes[1:]
    ]
    return made


def _start(size: Size, setting: Setting) -> Figure:
    source, file = SqliteSource(setting.folder), setting.file(size)
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as folder:
        needed, free = file.stat().st_size, shutil.disk_usage(folder).free
        if free < 1.1 * needed:
            raise Skip(
                f"not measured: {folder} has {free / 1e6:,.0f} MB free, a copy takes {needed / 1e6:,.0f}"
            )
        contenders = [
            Contender(partial(_read, source, size.db_id)),
            Contender(partial(_copy_and_read, file, Path(folder)), after=sqlite3.Connection.close),
        ]
        ours, theirs = in_rounds(contenders, setting.rounds)
    return times_as_fast(ours, theirs, note="our closing is counted, closing and deleting the copy is not")


def _growth(smaller: Size, larger: Size, setting: Setting) -> Figure:
    source = SqliteSource(setting.folder)
    contenders = [Contender(partial(_read, source, size.db_id)) for size in (larger, smaller)]
    return times_as_long(*in_rounds(contenders, 3 * setting.rounds))


def _read(source: SqliteSource, db_id: str) -> None:
    with source.open(db_id) as database:
        result = database.execute(_READING)
    if not isinstance(result, QueryResult) or len(result.rows) != 5:
        raise RuntimeError(f"expected five rows, got {result}")


def _copy_and_read(database: Path, folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(copy_database(database, folder))
    connection.execute(_READING).fetchall()
    return connection
