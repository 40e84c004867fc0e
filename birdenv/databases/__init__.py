"""The one room that runs SQL: a source of databases, private episode databases, results as values.

    source = SqliteSource("dev_databases")
    with source.open("superhero", Limits(seconds=5)) as database:
        result = database.execute("SELECT count(*) FROM superhero")

SQL from an agent is hostile: it may be endless, huge or destructive. Whatever is typed, the answer is a
`QueryResult` or a `QueryError`, the source file keeps its bytes, and the next episode starts from them.
"""

from __future__ import annotations

from birdenv.databases._limits import LONGEST_SQL, Limits
from birdenv.databases._results import Cell, ErrorKind, QueryError, QueryResult, Result, Row
from birdenv.databases._sql_text import split_statements
from birdenv.databases._sqlite_database import SqliteDatabase
from birdenv.databases._sqlite_source import SqliteSource, is_database_name
from birdenv.databases._state import DatabaseState, SchemaObject

__all__ = [
    "LONGEST_SQL",
    "Cell",
    "DatabaseState",
    "ErrorKind",
    "Limits",
    "QueryError",
    "QueryResult",
    "Result",
    "Row",
    "SchemaObject",
    "SqliteDatabase",
    "SqliteSource",
    "is_database_name",
    "split_statements",
]
