"""PostgreSQL servers: the embedded one or any other, and the template databases on it.

    with find_server() as server:                       # started if need be; stopped after its last user
        load_from_sqlite(server, SqliteSource("dev_databases"), "superhero")
        template = find_template(server, "superhero")
        with server.connect(template.name) as connection: ...

A template holds what was loaded, and says so in its comment (`Stamp`); nothing but loading writes to it.
"""

from __future__ import annotations

from birdenv.databases.postgres._cluster import Cluster
from birdenv.databases.postgres._dumps import Dump, find_dumps, load_dump
from birdenv.databases.postgres._episode import PostgresDatabase
from birdenv.databases.postgres._expectations import OFFICIAL_SETS, OfficialSet, read_expectations
from birdenv.databases.postgres._folder_source import DUMP_FOLDERS, PostgresFolderSource
from birdenv.databases.postgres._from_sqlite import load_from_sqlite
from birdenv.databases.postgres._loading import OWNER, Loaded
from birdenv.databases.postgres._names import database_name
from birdenv.databases.postgres._server import DSN_VARIABLE, PostgresServer, ServerError, find_server
from birdenv.databases.postgres._server_choice import ServerChoice, server_choice
from birdenv.databases.postgres._source import PostgresSource
from birdenv.databases.postgres._templates import (
    Stamp,
    Template,
    differences,
    find_template,
    templates,
    verify_template,
)

__all__ = [
    "DSN_VARIABLE",
    "DUMP_FOLDERS",
    "OFFICIAL_SETS",
    "OWNER",
    "Cluster",
    "Dump",
    "Loaded",
    "OfficialSet",
    "PostgresDatabase",
    "PostgresFolderSource",
    "PostgresServer",
    "PostgresSource",
    "ServerChoice",
    "ServerError",
    "Stamp",
    "Template",
    "database_name",
    "differences",
    "find_dumps",
    "find_server",
    "find_template",
    "load_dump",
    "load_from_sqlite",
    "read_expectations",
    "server_choice",
    "templates",
    "verify_template",
]
