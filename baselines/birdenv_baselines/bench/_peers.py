"""Other ways of doing what birdenv does, as plain and quick as they can honestly be.

Each does what the programs known for it do, and nothing besides: no containers, no logging, no data frames.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from birdenv_baselines.bench._episode_tasks import Task, statements

__all__ = [
    "LEAST",
    "REFUSALS",
    "ConnectionPerStatement",
    "FileCopyHarness",
    "RawStatements",
    "copy_database",
    "official_verdict",
    "plain_connection",
]

Rows: TypeAlias = list[tuple[Any, ...]]

REFUSALS = (sqlite3.Error, sqlite3.Warning, ValueError)
"""What Python's sqlite3 raises for SQL that fails: `Warning` for several statements, before Python 3.12, and
`ValueError` for a NUL in the text."""

LEAST = "an authorizer that always agrees and str() of the cells"
"""What watched statements (`RawStatements`) cost besides."""

_SECONDS = 30.0
_HANDLER_STEPS = 10_000


def copy_database(database: Path, folder: Path) -> Path:
    return Path(shutil.copy2(database, folder / "copy.sqlite"))


def plain_connection(database: Path) -> sqlite3.Connection:
    """The quickest that Python has to read a file with: no locks are taken for a statement."""
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def official_verdict(database: Path, gold: str, prediction: str) -> bool:
    """BIRD's official rule (mini_dev evaluation_ex.py): both queries run, their rows equal as sets.

    A query that fails is a wrong answer. The original has its own timeout, a thread for each pair; here the
    deadline is a progress handler, which is cheaper.
    """
    with closing(_connection_with_deadline(database)) as connection:
        try:
            predicted = connection.execute(prediction).fetchall()
            expected = connection.execute(gold).fetchall()
        except REFUSALS:
            return False
    return set(predicted) == set(expected)


def _connection_with_deadline(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database)
    deadline = time.monotonic() + _SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _HANDLER_STEPS)
    return connection


class FileCopyHarness:
    """A copy of the file for each task, so that the agent may write; scored by the official script's rule."""

    def __init__(self, databases: Mapping[str, Path]) -> None:
        self._databases = databases

    def play(self, task: Task) -> bool:
        database = self._databases[task.db_id]
        *exploring, prediction = statements(task)
        with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as folder:
            with closing(_connection_with_deadline(copy_database(database, Path(folder)))) as connection:
                for sql in exploring:
                    _rows_or_none(connection, sql)
            return official_verdict(database, task.gold, prediction)


class ConnectionPerStatement:
    """A thread and a connection for each statement, waited for until a deadline; rows become text."""

    def __init__(self, databases: Mapping[str, Path]) -> None:
        self._databases = databases

    def play(self, task: Task) -> bool:
        database = self._databases[task.db_id]
        *exploring, prediction = statements(task)
        for sql in exploring:
            self._text(database, sql)
        predicted, expected = self._rows(database, prediction), self._rows(database, task.gold)
        return predicted is not None and expected is not None and set(predicted) == set(expected)

    def _text(self, database: Path, sql: str) -> str:
        rows = self._rows(database, sql)
        return "error" if rows is None else "\n".join(map(str, rows))

    def _rows(self, database: Path, sql: str) -> Rows | None:
        return _in_thread(lambda: _rows_of_own_connection(database, sql))


class RawStatements:
    """The floor below every environment: statements on open connections; no text, no verdict, no guard.

    `is_watched`: the floor below every environment in Python that is asked what a statement may do and shows
    its rows: with an authorizer, which always agrees, and the cells as text.
    """

    def __init__(self, databases: Mapping[str, Path], *, is_watched: bool = False) -> None:
        self._connections = {db_id: plain_connection(path) for db_id, path in databases.items()}
        self._is_watched = is_watched
        if is_watched:
            for connection in self._connections.values():
                connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK)

    def run(self, db_id: str, texts: Sequence[str]) -> None:
        connection = self._connections[db_id]
        for sql in texts:
            rows = _rows_or_none(connection, sql)
            if self._is_watched:
                "\n".join([" | ".join(map(str, row)) for row in rows or ()])

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def _rows_or_none(connection: sqlite3.Connection, sql: str) -> Rows | None:
    try:
        return connection.execute(sql).fetchall()
    except REFUSALS:
        return None


def _rows_of_own_connection(database: Path, sql: str) -> Rows | None:
    with closing(sqlite3.connect(database)) as connection:
        return _rows_or_none(connection, sql)


def _in_thread(work: Callable[[], Rows | None]) -> Rows | None:
    results: list[Rows | None] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(_SECONDS)
    return results[0] if results else None
