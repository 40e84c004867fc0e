"""Run SQL: database sources, private databases for episodes, and results as values.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

No other package runs SQL. An agent's SQL is treated as hostile: it may run forever, return too much, or
destroy data. Therefore every statement has limits, and returns a `QueryResult` or a `QueryError` instead of
raising an exception. Source files never change, so every episode starts from the same contents.
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
