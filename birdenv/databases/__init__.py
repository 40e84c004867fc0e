"""The one room that runs SQL: a source of databases, private episode databases, results as values.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

SQL from an agent is hostile: it may be endless, huge or destructive. Whatever is typed, the answer is a
`QueryResult` or a `QueryError`, the source file keeps its bytes, and the next episode starts from them.
"""

from __future__ import annotations

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
    QueryError,
    QueryResult,
    Result,
    Row,
    SchemaObject,
    Scope,
)
from birdenv.databases.postgres._queries import NoAnswerError, PostgresQueries, Server
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
    "map_files",
    "open_source",
    "result_cache",
]
