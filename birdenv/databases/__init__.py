"""The one room that runs SQL: a source of databases, private episode databases, results as values.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

SQL from an agent is hostile: it may be endless, huge or destructive. Whatever is typed, the answer is a
`QueryResult` or a `QueryError`, the source file keeps its bytes, and the next episode starts from them.
"""

from __future__ import annotations

from birdenv.databases._episode_database import EpisodeDatabase
from birdenv.databases._expendable_source import ExpendableSource
from birdenv.databases._fetching import Seer
from birdenv.databases._health import Health, examine
from birdenv.databases._image import IMAGE_KINDS, Checkpoint, ImageKind
from birdenv.databases._limits import LONGEST_SQL, Limits
from birdenv.databases._mapped_files import map_files
from birdenv.databases._opening import DIALECTS, Dialect, open_source
from birdenv.databases._postgres_queries import NoAnswerError, PostgresQueries, Server
from birdenv.databases._results import Cell, ErrorKind, QueryError, QueryResult, Result, Row
from birdenv.databases._source import DatabaseSource
from birdenv.databases._sql_text import Token, split_statements
from birdenv.databases._sql_tokens import sql_tokens
from birdenv.databases._sqlite_database import SqliteDatabase
from birdenv.databases._sqlite_file_source import SqliteFileSource
from birdenv.databases._sqlite_source import ISOLATIONS, Isolation, SqliteSource, is_database_name
from birdenv.databases._state import DatabaseState, SchemaObject
from birdenv.databases._wire import packed, receive, send, unpacked
from birdenv.databases._worker_process import WorkerDiedError, WorkerProcess

__all__ = [
    "DIALECTS",
    "IMAGE_KINDS",
    "ISOLATIONS",
    "LONGEST_SQL",
    "Cell",
    "Checkpoint",
    "DatabaseSource",
    "DatabaseState",
    "Dialect",
    "EpisodeDatabase",
    "ErrorKind",
    "ExpendableSource",
    "Health",
    "ImageKind",
    "Isolation",
    "Limits",
    "NoAnswerError",
    "PostgresQueries",
    "QueryError",
    "QueryResult",
    "Result",
    "Row",
    "SchemaObject",
    "Seer",
    "Server",
    "SqliteDatabase",
    "SqliteFileSource",
    "SqliteSource",
    "Token",
    "WorkerDiedError",
    "WorkerProcess",
    "examine",
    "is_database_name",
    "map_files",
    "open_source",
    "packed",
    "receive",
    "send",
    "split_statements",
    "sql_tokens",
    "unpacked",
]
