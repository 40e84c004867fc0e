"""SQLite databases for episodes, isolated by private copies, an authorizer, limits and worker processes."""

from birdenv.databases.sqlite._database import SqliteDatabase
from birdenv.databases.sqlite._deadline import watchdog
from birdenv.databases.sqlite._file import FileId
from birdenv.databases.sqlite._health import examine
from birdenv.databases.sqlite._process_database import crash_error
from birdenv.databases.sqlite._source import LocalSource, SqliteFileSource, is_database_name
from birdenv.databases.sqlite._worker import limit_process
from birdenv.databases.sqlite.images._protocol import ImageKind

__all__ = [
    "FileId",
    "ImageKind",
    "LocalSource",
    "SqliteDatabase",
    "SqliteFileSource",
    "crash_error",
    "examine",
    "is_database_name",
    "limit_process",
    "watchdog",
]
