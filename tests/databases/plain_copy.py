"""A private file copy behind plain `sqlite3`: what an episode is compared with."""

from __future__ import annotations

import shutil
import sqlite3
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

from birdenv.databases import QueryError, Result

# Two sentences are Python's own, about how it was called; ours say what to do instead.
SAID_OTHERWISE = {
    "You can only execute one statement at a time.": "only one statement at a time",
    "Incorrect number of bindings supplied.": "bind markers",
}


class Answer(NamedTuple):
    """What a statement gave: columns, rows and rows affected, or the message of the error."""

    columns: tuple[str, ...] = ()
    rows: tuple[Any, ...] = ()
    affected: int = -1
    error: str = ""


class PlainCopy:
    def __init__(self, path: Path, folder: Path, *, synchronous: bool = False) -> None:
        self.file = folder / "plain.sqlite"
        shutil.copyfile(path, self.file)
        # Without the driver's own cache: of an EXPLAIN that is cached it gives the plan of the schema before.
        self._connection = sqlite3.connect(self.file, isolation_level=None, cached_statements=0)
        if not synchronous:  # no answer but that pragma's depends on it
            self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.text_factory = methodcaller("decode", "utf-8", "surrogateescape")

    def execute(self, sql: str) -> Answer:
        try:
            cursor = self._connection.execute(sql)
            columns = tuple(column[0] for column in cursor.description or ())
            rows = tuple(cursor.fetchall())
            return Answer(columns, rows, cursor.rowcount)
        except (sqlite3.Error, sqlite3.Warning) as error:
            for theirs, ours in SAID_OTHERWISE.items():
                if str(error).startswith(theirs):
                    return Answer(error=ours)
            return Answer(error=str(error))

    def close(self) -> None:
        self._connection.close()


def answer(result: Result) -> Answer:
    """An episode's result in the same form."""
    if isinstance(result, QueryError):
        for ours in SAID_OTHERWISE.values():
            if result.message.startswith(ours):
                return Answer(error=ours)
        return Answer(error=result.message)
    return Answer(result.columns, tuple(result.rows), result.rows_affected)
