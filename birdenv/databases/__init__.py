"""The one room that runs SQL: a source of databases, private episode databases, results as values.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

SQL from an agent is hostile: it may be endless, huge or destructive. Whatever is typed, the answer is a
`QueryResult` or a `QueryError`, the source file keeps its bytes, and the next episode starts from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from birdenv.databases._fetching import RowSink
from birdenv.databases._open import DIALECTS, Dialect, open_source
from birdenv.databases._protocols import DatabaseSource, EpisodeDatabase
from birdenv.databases._result_cache import (
    Key,
    ResultCache,
    StaleResultError,
    result_cache,
)
from birdenv.databases._results import (
    Cell,
    DatabaseState,
    ErrorKind,
    Limits,
    NoAnswerError,
    QueryError,
    QueryResult,
    Result,
    Row,
    SchemaObject,
    Scope,
    is_out_of_memory,
)
from birdenv.databases.sqlite._database import SqliteDatabase
from birdenv.databases.sqlite._file import FileId, map_files
from birdenv.databases.sqlite._health import Health, examine
from birdenv.databases.sqlite._process_database import crash_error
from birdenv.databases.sqlite._source import (
    ISOLATIONS,
    Isolation,
    KillableSource,
    SqliteFileSource,
    SqliteSource,
    is_database_name,
)
from birdenv.databases.sqlite.images._image import IMAGE_KINDS, Checkpoint, ImageKind

if TYPE_CHECKING:
    from birdenv.databases.postgres._queries import PostgresQueries, Server

__all__ = [
    "DIALECTS",
    "IMAGE_KINDS",
    "ISOLATIONS",
    "Cell",
    "Checkpoint",
    "DatabaseSource",
    "DatabaseState",
    "Dialect",
    "EpisodeDatabase",
    "ErrorKind",
    "FileId",
    "Health",
    "ImageKind",
    "Isolation",
    "Key",
    "KillableSource",
    "Limits",
    "NoAnswerError",
    "PostgresQueries",
    "QueryError",
    "QueryResult",
    "Result",
    "ResultCache",
    "Row",
    "RowSink",
    "SchemaObject",
    "Scope",
    "Server",
    "SqliteDatabase",
    "SqliteFileSource",
    "SqliteSource",
    "StaleResultError",
    "crash_error",
    "examine",
    "is_database_name",
    "is_out_of_memory",
    "map_files",
    "open_source",
    "result_cache",
]


def __getattr__(name: str) -> Any:
    """Import PostgreSQL's client when it is asked for: it takes a tenth of a second."""
    if name in ("PostgresQueries", "Server"):
        from birdenv.databases.postgres import _queries

        return getattr(_queries, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
