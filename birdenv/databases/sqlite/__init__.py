"""SQLite sources and episode databases: images, guards, limits and worker processes."""

from birdenv.databases.sqlite._database import SqliteDatabase
from birdenv.databases.sqlite._file_id import FileId
from birdenv.databases.sqlite._health import Health, examine
from birdenv.databases.sqlite._process_database import crash_error
from birdenv.databases.sqlite._source import LocalSource, SqliteFileSource, is_database_name

__all__ = [
    "FileId",
    "Health",
    "LocalSource",
    "SqliteDatabase",
    "SqliteFileSource",
    "crash_error",
    "examine",
    "is_database_name",
]
