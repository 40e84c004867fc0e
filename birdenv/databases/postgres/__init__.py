"""Manage PostgreSQL servers, embedded or external, and the template databases on them.

    with find_server() as server:                       # started if necessary; stopped after its last user
        load_from_sqlite(server, SqliteSource("dev_databases"), "superhero")
        template = find_template(server, "superhero")
        with server.connect(template.name) as connection: ...

A template database contains the data of one benchmark database. Its comment describes the data (`Stamp`). A
template changes only when its database is reloaded.
"""

from __future__ import annotations

from birdenv.databases.postgres._read_only_queries import PostgresQueries
from birdenv.databases.postgres._source import PostgresFolderSource, PostgresSource
from birdenv.databases.postgres.clones._leftovers import Leftover, leftovers, remove_leftovers
from birdenv.databases.postgres.loading._dumps import find_dumps, load_dump
from birdenv.databases.postgres.loading._from_sqlite import load_from_sqlite
from birdenv.databases.postgres.loading._loading import OFFICIAL_SETS, Loaded, read_expectations
from birdenv.databases.postgres.loading._templates import (
    Template,
    differences,
    find_template,
    templates,
    verify_template,
)
from birdenv.databases.postgres.server._cluster import Cluster
from birdenv.databases.postgres.server._server import (
    DSN_VARIABLE,
    PostgresServer,
    ServerError,
    find_server,
    server_choice,
)

__all__ = [
    "DSN_VARIABLE",
    "OFFICIAL_SETS",
    "Cluster",
    "Leftover",
    "Loaded",
    "PostgresFolderSource",
    "PostgresQueries",
    "PostgresServer",
    "PostgresSource",
    "ServerError",
    "Template",
    "differences",
    "find_dumps",
    "find_server",
    "find_template",
    "leftovers",
    "load_dump",
    "load_from_sqlite",
    "read_expectations",
    "remove_leftovers",
    "server_choice",
    "templates",
    "verify_template",
]
