"""A small shop as a template on a server, and episodes on it that are attacked beside their neighbours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from birdenv.databases import EpisodeDatabase, Limits, QueryError, QueryResult, Result
from birdenv.databases.postgres import PostgresServer, PostgresSource, find_dumps, load_dump
from birdenv.databases.postgres.server._paths import ADMIN

SHOP = """
CREATE TYPE mood AS ENUM ('calm', 'cross');
CREATE DOMAIN price AS numeric(8,2) CHECK (VALUE >= 0);
CREATE SEQUENCE numbers;
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL UNIQUE, city text, mood mood);
CREATE TABLE orders (id serial PRIMARY KEY, customer integer REFERENCES customers, total price,
  made date DEFAULT '2024-01-01');
CREATE INDEX orders_by_customer ON orders (customer);
CREATE VIEW spending AS SELECT name, sum(total) AS total FROM customers
  JOIN orders ON orders.customer = customers.id GROUP BY name;
CREATE FUNCTION doubled(x integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 2 * x';
INSERT INTO customers VALUES (1, 'Ada', 'London', 'calm'), (2, 'Kurt', 'Brno', 'cross'),
  (3, 'Grace', NULL, NULL);
INSERT INTO orders (customer, total) VALUES (1, 10.5), (1, 4.5), (2, 7);
"""

DOORS = ("grading", "grading what was written", "agent", "agent that wrote before")
"""Where SQL comes in: `query` and `execute`, each before and after the episode has a clone of its own."""

SECONDS = 0.3
MOST_SECONDS = 25.0  # that a machine with other things to do may take for it; what is endless takes longer
LIMITS = Limits(seconds=SECONDS, rows=1_000, bytes=20_000_000)
NEIGHBOURS = "SELECT id, name, city FROM customers ORDER BY id"
SETTINGS = (
    "SELECT current_setting('timezone'), current_setting('datestyle'), current_setting('search_path'),"
    " current_setting('statement_timeout'), current_setting('transaction_read_only'), current_user"
)
OUTSIDE = """
SELECT 'database', datname::text, datacl::text, datistemplate::text, datallowconn::text
  FROM pg_database WHERE NOT starts_with(datname, 'birdenv-episode-')
UNION ALL SELECT 'role', rolname::text, rolsuper::text, rolcreatedb::text, rolconfig::text
  FROM pg_roles WHERE NOT starts_with(rolname, 'birdenv-agent-')
UNION ALL SELECT 'member', roleid::regrole::text, member::regrole::text, '', '' FROM pg_auth_members
UNION ALL SELECT 'setting', name, setting, '', '' FROM pg_settings WHERE source = 'configuration file'
ORDER BY 1, 2, 3
"""
LOCKS = """
SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
  WHERE l.locktype = 'advisory' AND d.datname = %s
"""
INSIDE = """
SELECT (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_class WHERE oid >= 16384),
  (SELECT count(*) FROM pg_proc WHERE oid >= 16384), (SELECT last_value FROM numbers)
"""


ELSEWHERE = "shop_elsewhere"
"""Its name on a server that other tests use, too: those have a `shop` of their own there."""


def load_shop(server: PostgresServer, folder: Path, name: str = "shop") -> None:
    """Make the shop a template on the server, if it is not there yet."""
    file = folder / f"{name}.sql"
    file.write_text(SHOP)
    (dump,) = find_dumps(file)
    load_dump(server, dump)


class Neighbours:
    """Beside an attacked episode: one that only reads, one that wrote something of its own, and new ones."""

    def __init__(self, server: PostgresServer, source: PostgresSource) -> None:
        self.source = source
        self._reading = source.open("shop")
        self._writing = source.open("shop")
        self._writing.execute("INSERT INTO customers VALUES (9, 'Neighbour', NULL)")
        ((self.process,),) = rows(self._writing.query("SELECT pg_backend_pid()"))
        self._admin = server.connect()
        self._shared = source.open("shop")._around.copies.reading
        self._inside = server.connect(self._shared, ADMIN)
        self.seen_before = self.seen()
        assert self.seen_before[0] == self.seen_before[2] != self.seen_before[1]

    def seen(self) -> list[Any]:
        """What they and the server's superuser see."""
        with self.source.open("shop") as new:
            seen: list[Any] = [rows(each.query(NEIGHBOURS)) for each in (self._reading, self._writing, new)]
            seen += [rows(new.query(SETTINGS)), rows(self._writing.execute(SETTINGS))]
        seen.append(self._admin.execute(OUTSIDE).fetchall())
        seen.append(self._admin.execute(LOCKS, [self._shared]).fetchall())
        seen.append(self._inside.execute(INSIDE).fetchall())
        return seen

    def close(self) -> None:
        for each in (self._reading, self._writing, self._admin, self._inside):
            each.close()


class Attacked:
    """An episode beside neighbours."""

    def __init__(self, neighbours: Neighbours, folder: Path, door: str) -> None:
        self.elsewhere = folder / "elsewhere"
        self.neighbour = str(neighbours.process)
        self.is_grading = door.startswith("grading")
        self.database: EpisodeDatabase = neighbours.source.open("shop", LIMITS)
        if "wr" in door:
            assert isinstance(self.database.execute("CREATE TABLE moved (a int)"), QueryResult)

    def run(self, sql: str) -> Result:
        """The answer, which comes."""
        began = time.monotonic()
        result = (self.database.query if self.is_grading else self.database.execute)(sql)
        taken = time.monotonic() - began
        assert taken < MOST_SECONDS, f"{taken:.1f} s for {sql[:200]}"
        return result

    def close(self) -> None:
        self.database.close()


def kind(result: Result) -> str:
    return result.kind if isinstance(result, QueryError) else "ok"


def rows(result: Result) -> list[tuple[Any, ...]]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)
