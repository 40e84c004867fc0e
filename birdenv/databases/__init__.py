"""The only package that runs SQL: database sources, private episode databases, and results as values.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

SQL from an agent is hostile: it may be endless, huge or destructive. Every statement returns a `QueryResult`
or a `QueryError`, the source file never changes, and the next episode starts from the unchanged file.
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
