"""Read-only queries on a live PostgreSQL server: values, limits, and what must not get through."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from postgres_server import PASSWORD, Postgres, start_postgres

from birdenv.databases import Limits, NoAnswerError, QueryError, QueryResult
from birdenv.databases.postgres import PostgresQueries
from birdenv.databases.postgres._read_only_queries import ServerVersion
from birdenv.errors import InputError


@pytest.fixture(scope="module")
def postgres() -> Postgres:
    return start_postgres()


@pytest.fixture(scope="module")
def queries(postgres: Postgres) -> PostgresQueries:
    return PostgresQueries(postgres.reader)


def rows(queries: PostgresQueries, sql: str, **limits: Any) -> list[tuple[Any, ...]]:
    result = queries.query(sql, Limits(**limits))
    assert isinstance(result, QueryResult), result
    return list(result.rows)


def error(queries: PostgresQueries, sql: str, **limits: Any) -> QueryError:
    result = queries.query(sql, Limits(**limits))
    assert isinstance(result, QueryError), result
    return result


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "(SELECT 1)",
        "VALUES (1)",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
        "/* c */ SELECT 1 -- end",
        "SELECT 1 ;",
        "SELECT 1 ORDER BY 1",
        "SELECT 1 WHERE 'a%s' LIKE 'a%' AND ':x' <> '?'",
    ],
)
def test_plain_queries(queries: PostgresQueries, sql: str) -> None:
    assert rows(queries, sql) == [(1,)]


def test_columns_of_an_empty_result(queries: PostgresQueries) -> None:
    result = queries.query("SELECT id, name AS n FROM item WHERE id < 0")
    assert isinstance(result, QueryResult)
    assert (result.columns, list(result.rows)) == (("id", "n"), [])


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("'infinity'::date", "infinity"),
        ("'-infinity'::timestamp", "-infinity"),
        ("'0044-03-15 BC'::date", "0044-03-15 BC"),
        ("'99999-01-01'::date", "99999-01-01"),
        ("'99999-01-01 00:00+00'::timestamptz", "99999-01-01 00:00:00+00"),
        ("'24:00'::time", "24:00:00"),
        ("'2024-05-01'::date", date(2024, 5, 1)),
        ("'2024-05-01 02:00+02'::timestamptz", datetime(2024, 5, 1, tzinfo=UTC)),
        ("'1 month'::interval", "1 mon"),
        ("'2 days 3 hours'::interval", timedelta(days=2, hours=3)),
        ("'ab'::char(5)", "ab"),
        ("1.50::numeric", Decimal("1.50")),
        ("0.1::float8 + 0.2", 0.1 + 0.2),
        ("ARRAY['infinity'::date, NULL]", ["infinity", None]),
        ("'{\"a\": [1, null]}'::jsonb", {"a": [1, None]}),
        (r"'\xff00'::bytea", b"\xff\x00"),
        ("true", True),
        ("NULL", None),
    ],
)
def test_values(queries: PostgresQueries, sql: str, value: Any) -> None:
    [(found,)] = rows(queries, f"SELECT {sql}")
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("sql", "kind", "state"),
    [
        ("SELECT nothing FROM item", "missing", "42703"),
        ("SELECT 1 FROM nowhere", "missing", "42P01"),
        ("SELECT nofunction(1)", "missing", "42883"),
        ("SELEC 1", "syntax", "42601"),
        ("SELECT 1/0", "engine", "22012"),
        ("SELECT * FROM hidden", "engine", "42501"),
        ("SELECT * FROM a.b.c", "missing", "0A000"),
        # No plain queries: the kind is `denied` where the server can tell.
        ("SELECT 1 INTO t2", "denied", "42601"),
        ("WITH d AS (DELETE FROM item RETURNING 1) SELECT 1 FROM d", "denied", "0A000"),
        ("SELECT nextval('numbers')", "denied", "25006"),
        ("SELECT 1; DROP TABLE item", "syntax", "42601"),
        ("SELECT 1) AS q; DROP TABLE item; SELECT * FROM (SELECT 2", "syntax", "42601"),
        ("DELETE FROM item", "syntax", "42601"),
        ("COMMIT", "syntax", "42601"),
        ("SET TRANSACTION READ WRITE", "syntax", "42601"),
        ("SET statement_timeout = 0", "syntax", "42601"),
        ("DO $$ BEGIN END $$", "syntax", "42601"),
        ("EXPLAIN ANALYZE SELECT 1", "syntax", "42601"),
        ("COPY item TO STDOUT", "syntax", "42601"),
        ("SELECT $1", "syntax", "08P01"),
        ("", "syntax", ""),
        ("-- nothing", "syntax", ""),
        ("SELECT '\0'", "syntax", ""),
        ("SELECT '\ud800'", "syntax", ""),
    ],
)
def test_errors(queries: PostgresQueries, sql: str, kind: str, state: str) -> None:
    found = error(queries, sql)
    assert found.kind == kind
    assert state in found.message
    assert not isinstance(found, NoAnswerError)


def test_locking_rows_is_no_plain_query(postgres: Postgres) -> None:
    assert error(PostgresQueries(postgres.admin), "SELECT * FROM item FOR UPDATE").kind == "denied"


def test_nothing_of_it_happened(postgres: Postgres) -> None:
    with psycopg.connect(postgres.admin) as connection:
        assert connection.execute("SELECT count(*) FROM item").fetchone() == (4,)
        assert connection.execute("SELECT is_called FROM numbers").fetchone() == (False,)


def test_settings_of_one_query_do_not_meet_the_next(queries: PostgresQueries) -> None:
    for name, value in (("timezone", "Asia/Tokyo"), ("default_transaction_read_only", "off")):
        rows(queries, f"SELECT set_config('{name}', '{value}', false)")
    shown = "SELECT current_setting('timezone'), current_setting('transaction_read_only')"
    assert rows(queries, shown) == [("UTC", "on")]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_sleep(30)",
        "SELECT count(*) FROM generate_series(1, 10000000000)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n, pg_sleep(0.01) FROM r",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(30)",
    ],
)
def test_one_deadline_for_everything(queries: PostgresQueries, sql: str) -> None:
    began = time.monotonic()
    found = error(queries, sql, seconds=0.4)
    assert found.kind == "timeout"
    assert found.message == "stopped after 0.4 s of wall time"
    assert time.monotonic() - began < 2.4
    assert found.elapsed >= 0.4


def test_row_cap(queries: PostgresQueries) -> None:
    result = queries.query("SELECT generate_series(1, 1000000000)", Limits(rows=10))
    assert isinstance(result, QueryResult)
    assert (len(result.rows), result.truncated) == (10, True)
    exact = queries.query("SELECT generate_series(1, 10)", Limits(rows=10))
    assert isinstance(exact, QueryResult)
    assert (len(exact.rows), exact.truncated) == (10, False)


def test_a_value_that_cannot_be_read_says_nothing_of_the_query(queries: PostgresQueries) -> None:
    found = error(queries, "SELECT (repeat('[', 2000) || repeat(']', 2000))::json")
    assert isinstance(found, NoAnswerError)
    assert "cannot be read" in found.message


def test_byte_cap(queries: PostgresQueries) -> None:
    found = error(queries, "SELECT repeat('x', 1000000) FROM generate_series(1, 1000000)", bytes=3_000_000)
    assert (found.kind, found.message) == ("too_large", "the rows take more than 3000000 bytes")
    assert found.elapsed < 5


def test_a_session_that_ends_itself(queries: PostgresQueries) -> None:
    found = error(queries, "SELECT pg_terminate_backend(pg_backend_pid())")
    assert isinstance(found, NoAnswerError)
    assert "57P01" not in found.message or "lost" in found.message
    assert rows(queries, "SELECT 1") == [(1,)]


def test_server(postgres: Postgres, queries: PostgresQueries) -> None:
    server = queries.server()
    assert isinstance(server, ServerVersion)
    assert server.engine.startswith("PostgreSQL ")
    assert not server.superuser
    admin = PostgresQueries(postgres.admin).server()
    assert isinstance(admin, ServerVersion)
    assert admin.superuser


def test_a_wrong_password_is_not_repeated(postgres: Postgres) -> None:
    wrong = "Wr0ng/P@ss:word?"
    found = PostgresQueries(postgres.dsn(password=wrong)).server()
    assert isinstance(found, NoAnswerError)
    assert "password authentication failed" in found.message
    assert wrong not in found.message


def test_a_message_of_the_server_that_holds_the_password(queries: PostgresQueries) -> None:
    found = error(queries, f"SELECT '{PASSWORD}'::integer")
    assert "***" in found.message
    assert PASSWORD not in found.message


def test_out_of_reach(postgres: Postgres) -> None:
    queries = PostgresQueries(postgres.dsn(host="127.0.0.1", port="1"))
    assert PASSWORD not in queries.shown
    for _ in range(4):
        found = queries.query("SELECT 1")
        assert isinstance(found, NoAnswerError)
        assert PASSWORD not in found.message
    assert "was not run" in found.message


@pytest.mark.parametrize(
    "dsn",
    [
        "hunter2",
        "host=x hunter2",
        "postgresql://u:hun/ter2@host/db",
        "postgresql://u:p@hunter2/x@host/db",
        "postgresql://u:hunter2%zz@host/db",
        "mysql://u:hunter2@host/db",
        "postgresql://u:hunter2@host/db?nonsense=1",
        "host=\0hunter2",
    ],
)
def test_unusable_connection_strings_are_not_shown(dsn: str) -> None:
    with pytest.raises(InputError, match="the DSN") as refused:
        PostgresQueries(dsn)
    assert "ter2" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_port_that_is_no_number() -> None:
    found = PostgresQueries("postgresql://u:hunter2@host:port/db").server()
    assert isinstance(found, NoAnswerError)
    assert "port" in found.message
    assert "hunter2" not in found.message


def test_passwords_with_special_characters_when_encoded() -> None:
    queries = PostgresQueries("postgresql://u:p%40ss%2Fw%3A@host:5/db")
    assert queries.shown == "user=u host=host port=5 dbname=db"
    assert PostgresQueries("postgresql://u:p?x#y@host/db").shown == "user=u host=host dbname=db"
    assert PostgresQueries("host=h password='p@ss w' dbname=d").shown == "host=h dbname=d"
