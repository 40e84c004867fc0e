"""Open private databases for episodes, and run SQL on them within limits.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

This is the only package that runs SQL. It treats an agent's SQL as hostile: the SQL could run forever, return
too much data or destroy data. Therefore every statement runs within limits and returns either a `QueryResult`
or a `QueryError`; it never raises an exception. Source files never change, so every episode starts from the
same contents.
"""

from __future__ import annotations

from birdenv.databases._limits import Limits
from birdenv.databases._open import DIALECTS, DatedSource, Dialect, open_source
from birdenv.databases._protocols import DatabaseSource, EpisodeDatabase, ScannedDatabase
from birdenv.databases._results import (
    Cell,
    Checkpoint,
    ContentId,
    DatabaseState,
    NoAnswerError,
    QueryError,
    QueryResult,
    Result,
    Row,
    RowSink,
    Scope,
    is_out_of_memory,
)
from birdenv.databases.sqlite._source import SqliteSource

__all__ = [
    "DIALECTS",
    "Cell",
    "Checkpoint",
    "ContentId",
    "DatabaseSource",
    "DatabaseState",
    "DatedSource",
    "Dialect",
    "EpisodeDatabase",
    "Limits",
    "NoAnswerError",
    "QueryError",
    "QueryResult",
    "Result",
    "Row",
    "RowSink",
    "ScannedDatabase",
    "Scope",
    "SqliteSource",
    "is_out_of_memory",
    "open_source",
]
