"""Find and verify the template databases on a server, and determine the names of templates and copies.

The comment of a template describes its contents in JSON, so that a run can verify them: `{"birdenv": 1,
"db_id": ..., "digest": ..., "source": ..., "tables": {name: rows}}`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict, ValidationError

from birdenv.databases._results import ContentId
from birdenv.databases.postgres._privileges import HAND_OVER, HIDE_THE_SERVER, ONLY_READING
from birdenv.databases.postgres.server._server import PostgresServer, ServerError, one_line
from birdenv.errors import InputError

LONGEST_NAME: Final = 63
"""The maximum length of a name in bytes (NAMEDATALEN - 1). PostgreSQL silently cuts longer names."""

PREFIX: Final = "birdenv_"
LOADING: Final = "birdenv_loading_"
"""Prefix of the names of incomplete databases, and of the roles that fill them."""

PUBLISHED: Final = "_template"
"""Suffix of the names of templates on the servers of BIRD-Interact's authors."""

_ROOM_FOR_MORE: Final = 16  # bytes that the names of copies add


def database_name(db_id: str) -> str:
    """Return the name of the template for a database id. Different ids have different names."""
    return shortened(f"{PREFIX}{db_id}", LONGEST_NAME - _ROOM_FOR_MORE)


def loading_name(db_id: str) -> str:
    """Return the temporary name of a template while it is being loaded."""
    return f"{LOADING}{_digest(db_id)}"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name that is at most `longest` bytes long.

    A longer name is replaced by its beginning and a digest of the whole name. A shorter name is returned
    unchanged, unless it looks like a name that was already shortened. It then also gets a digest, so that two
    different names never become equal.
    """
    if len(name.encode()) <= longest and not re.search(r"~[0-9a-f]{12}$", name):
        return name
    kept = name.encode()[: longest - 13].decode(errors="ignore")
    return f"{kept}~{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


_COLUMNS: Final = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
  FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


class Stamp(BaseModel):
    """The description of a template's contents, which is stored in the comment of the template.

    Attributes:
        birdenv: the version of the format.
        db_id: the database's id in the benchmark.
        digest: the hexadecimal SHA-256 of the loaded files and the rules for loading them, or of the contents
            if birdenv did not load the database.
        source: `sqlite` or `dump`; `published` for a database that birdenv did not load.
        tables: the number of rows in each table. Names of tables outside the schema `public` include the
            schema.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    birdenv: Literal[1] = 1
    db_id: str
    digest: str
    source: str
    tables: dict[str, int]


@dataclass(frozen=True, slots=True)
class Template:
    """A template database on a server.

    Attributes:
        name: the name on the server.
        stamp: the description of the contents.
        size: the size on the server's disk in bytes; 0 if the role may not connect to the database.
    """

    name: str
    stamp: Stamp
    size: int

    @property
    def rows(self) -> int:
        """Return the total number of rows in all tables."""
        return sum(self.stamp.tables.values())


def templates(server: PostgresServer) -> dict[str, Template]:
    """Return all templates that birdenv has loaded, keyed by database id in sorted order."""
    with server.connect() as connection:
        found = connection.execute(
            "SELECT datname, shobj_description(oid, 'pg_database'),"
            " CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) ELSE 0 END"
            " FROM pg_database WHERE starts_with(datname, %s)",
            [PREFIX],
        ).fetchall()
    read = [(name, _stamp(comment), size) for name, comment, size in found]
    ours = [Template(name, stamp, size) for name, stamp, size in read if stamp]
    return {
        each.stamp.db_id: each
        for each in sorted(ours, key=lambda each: each.stamp.db_id)
        if each.name == database_name(each.stamp.db_id)
    }


def find_template(server: PostgresServer, db_id: str) -> Template:
    """Return the template that birdenv loaded for a database or, if there is none, `<db>_template`.

    Raises `InputError` if the server has neither template.
    """
    found = templates(server).get(db_id) or published_template(server, db_id)
    if found is None:
        raise InputError(
            f"database {db_id!r} is not loaded on the PostgreSQL server at {server.shown}: "
            "run `birdenv db load` on the folder that contains it"
        )
    return found


def published_names(server: PostgresServer) -> list[str]:
    """Return the sorted ids of all databases that have a template `<db>_template` on the server."""
    with server.connect() as connection:
        found = connection.execute(
            "SELECT datname FROM pg_database WHERE datistemplate AND datname ~ %s"
            " AND NOT starts_with(datname, %s)",
            [f".{PUBLISHED}$", PREFIX],
        ).fetchall()
    return sorted(name.removesuffix(PUBLISHED) for (name,) in found)


def published_template(server: PostgresServer, db_id: str) -> Template | None:
    """Return the template `<db>_template`, or None if there is none.

    Because birdenv did not load this template, all rows are read to compute its digest. Raises `InputError`
    if all tables are empty, as after a failed import.
    """
    if db_id not in published_names(server):
        return None
    name = db_id + PUBLISHED
    with server.connect(name) as connection:
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        tables = row_counts(connection)
        if not any(tables.values()):
            raise InputError(f"database {name!r} on the PostgreSQL server at {server.shown} is empty")
        digest = hashlib.sha256(b"published 1\n")
        for schema, table in _tables(connection):
            rows = sql.SQL("SELECT coalesce(sum(hashtextextended(t::text, 0)), 0)::text FROM {} AS t").format(
                sql.Identifier(schema, table)
            )
            (sum_of_rows,) = connection.execute(rows).fetchone() or ("",)
            columns = connection.execute(_COLUMNS, [schema, table]).fetchall()
            digest.update(json.dumps([schema, table, sum_of_rows, columns]).encode())
    stamp = Stamp(db_id=db_id, digest=digest.hexdigest(), source="published", tables=tables)
    return Template(name, stamp, size[0] if size else 0)


def stamped(connection: psycopg.Connection[Any], name: str, stamp: Stamp) -> None:
    """Store a stamp in the comment of the database `name`."""
    connection.execute(
        sql.SQL("COMMENT ON DATABASE {} IS {}").format(
            sql.Identifier(name), sql.Literal(stamp.model_dump_json())
        )
    )


def verify_template(server: PostgresServer, template: Template) -> list[str]:
    """Compare the row counts of a template with those in its stamp, and return the `differences`.

    Raises `ServerError` if the rows cannot be counted.
    """
    try:
        with server.connect(template.name) as connection:
            present = row_counts(connection)
    except psycopg.Error as error:
        raise ServerError(f"{template.name}: {one_line(error)}") from None
    return differences(template.stamp.tables, present)


def differences(expected: dict[str, int], present: dict[str, int]) -> list[str]:
    """Return a sorted list of messages about tables that are missing, unexpected or of the wrong size."""
    lines = [f"table {name!r} is missing" for name in expected if name not in present]
    lines += [f"table {name!r} is not expected" for name in present if name not in expected]
    lines += [
        f"table {name!r} has {present[name]} rows, expected {rows}"
        for name, rows in expected.items()
        if name in present and present[name] != rows
    ]
    return sorted(lines)


def row_counts(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Return the number of rows in every ordinary table, sorted by table name."""
    counts = {}
    for schema, table in _tables(connection):
        count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
        row = connection.execute(count).fetchone()
        counts[table if schema == "public" else f"{schema}.{table}"] = row[0] if row else 0
    return dict(sorted(counts.items()))


def _tables(connection: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Return the schema and name of every ordinary table, sorted."""
    found = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')"
    ).fetchall()
    return sorted(found)


def _stamp(comment: str | None) -> Stamp | None:
    try:
        return Stamp.model_validate_json(comment or "")
    except ValidationError:
        return None


_MADE_BY: Final = "\0".join((HAND_OVER, HIDE_THE_SERVER, ONLY_READING))


@dataclass(frozen=True, slots=True)
class TemplateCopies(ContentId):
    """The names of a template and its copies on the server.

    Attributes:
        db_id: the database's id in the benchmark.
        template: the name of the template.
        master: the name of the copy that clones are made from. Nobody can connect to it.
        reading: the name of the copy that all episodes share while they only read.
    """

    db_id: str
    template: str
    master: str
    reading: str


def shared_copies(template: Template) -> TemplateCopies:
    """Return the names of a template and its copies.

    The names of the copies include a digest of the template's contents and of birdenv's rules for copies.
    """
    identity = "\0".join((template.name, template.stamp.digest, _MADE_BY))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return TemplateCopies(
        template.stamp.db_id, template.name, f"birdenv-master-{digest}", f"birdenv-reading-{digest}"
    )


def needed_names(server: PostgresServer) -> set[str]:
    """Return the names of the two shared copies of each template on the server."""
    all_copies = [shared_copies(template) for template in templates(server).values()]
    return {name for copies in all_copies for name in (copies.master, copies.reading)}
