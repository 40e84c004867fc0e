"""Graders in the process of the test, to count and to break what they ask of their databases.

The statements run in workers all the same; only the comparisons are made here.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from birdenv.databases import Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.databases._results import RowSink
from birdenv.databases.sqlite._process_database import ProcessDatabase
from birdenv.grading._ex import LocalExGrader
from birdenv.grading.interact._rules import grade_here

DEFAULT = Limits()


class ScannedDatabase(ProcessDatabase):
    def scan(self, sql: str, sink: RowSink) -> Result:
        result = self.query(sql)
        if isinstance(result, QueryError):
            return result
        sink.begin(result.columns)
        goes_on = sink.see(list(result.rows))
        return QueryResult(result.columns, [], not goes_on or result.truncated, repeatable=result.repeatable)


class CountingSource(SqliteSource):
    """Counts how often a database is opened."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.opened = 0

    def open(self, db_id: str, limits: Limits = DEFAULT) -> Any:
        self.opened += 1
        return ScannedDatabase(self._file(db_id), limits)


def local_ex(source: Any, limits: Limits = DEFAULT) -> LocalExGrader:
    return LocalExGrader(source, limits, clean=False, metrics=())


def local_interact(source: Any, limits: Limits = DEFAULT) -> Any:
    return SimpleNamespace(grade=partial(grade_here, source, limits))
