"""How long statements take on a database, measured once and remembered in a file beside it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Final

from birdenv_baselines.bench._peers import REFUSALS, plain_connection

__all__ = ["LONGEST", "Times", "statement_times"]

Times = Mapping[str, float | None]
"""Seconds by statement, also of those that SQLite refuses; None for what takes longer than `LONGEST`."""

LONGEST: Final = 1.0
_AGAIN_BELOW: Final = 0.002  # what is quick is measured some more times, and alone: the least counts
_AGAIN: Final = 4
_HANDLER_STEPS: Final = 1_000
_ROWS: Final = 1_000


def statement_times(database: Path, statements: Collection[str]) -> Times:
    """The times of at least these `statements`: from the file, or measured now, to the last row."""
    file = database.with_suffix(".times.json")
    times: dict[str, float | None] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    missing = sorted(set(statements) - times.keys())
    if missing:
        times.update(_measured(database, missing))
        file.write_text(json.dumps(times), encoding="utf-8")
    return times


def _measured(database: Path, statements: Collection[str]) -> dict[str, float | None]:
    halves = [list(statements)[i::2] for i in range(2)]
    times: dict[str, float | None] = {}
    with ThreadPoolExecutor(len(halves)) as pool:
        for found in pool.map(lambda half: _each(database, half, _once), halves):
            times.update(found)
    quick = [sql for sql, seconds in times.items() if seconds is not None and seconds < _AGAIN_BELOW]
    return times | _each(database, quick, _least)


def _each(
    database: Path, statements: Collection[str], measure: Callable[[sqlite3.Connection, str], float]
) -> dict[str, float | None]:
    with closing(plain_connection(database)) as connection:
        seconds = [(sql, measure(connection, sql)) for sql in statements]
    return {sql: taken if taken <= LONGEST else None for sql, taken in seconds}


def _least(connection: sqlite3.Connection, sql: str) -> float:
    return min(_once(connection, sql) for _ in range(_AGAIN))


def _once(connection: sqlite3.Connection, sql: str) -> float:
    began = perf_counter()
    deadline = began + LONGEST
    connection.set_progress_handler(lambda: perf_counter() > deadline, _HANDLER_STEPS)
    try:
        cursor = connection.execute(sql)
        while cursor.fetchmany(_ROWS):
            if perf_counter() > deadline:
                break
    except REFUSALS:
        pass  # a refusal takes its time too
    return perf_counter() - began
