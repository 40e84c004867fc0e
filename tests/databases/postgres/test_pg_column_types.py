"""The PostgreSQL type of a SQLite column, by what it declares and holds."""

from __future__ import annotations

from typing import Any

import pytest

from birdenv.databases.postgres.loading._column_types import came_from_postgres, column_type


@pytest.mark.parametrize(
    ("declared", "values", "type"),
    [
        ("INTEGER", [1, -5, 2**62], "bigint"),
        ("int", [], "bigint"),
        ("SMALLINT", [32767], "smallint"),
        ("SMALLINT", [32768], "bigint"),
        ("integer(16)", [-32768], "smallint"),
        ("integer(16)", [40000], "bigint"),
        ("integer(32)", [2**31 - 1], "integer"),
        ("integer(64)", [1], "bigint"),
        ("integer(24)", [0.997, 5], "real"),
        ("integer(24)", [0.1234567890123], "double precision"),
        ("integer(53)", [0.1234567890123, 3], "double precision"),
        ("INTEGER", [1, 1.5], "double precision"),
        ("INTEGER", [1, "n/a"], "text"),
        ("real(5,2)", [999.99, -1, 0.1], "numeric(5,2)"),
        ("real(5,2)", [1000], "numeric"),
        ("real(5,2)", [1.234], "numeric"),
        ("real(5,2)", [1e-07], "numeric"),
        ("real(5,2)", ["about 3"], "text"),
        ("DECIMAL(10, 0)", [5], "numeric(10,0)"),
        ("NUMERIC", [1.5], "numeric"),
        ("REAL", [0.1, 2], "double precision"),
        ("DOUBLE PRECISION", [2**53 + 1], "bigint"),
        ("FLOAT", [float("inf")], "double precision"),
        ("VARCHAR(20)", ["x" * 30], "text"),
        ("TEXT", ["2024-01-01"], "text"),
        ("DATE", ["2024-02-29", "1890-01-01"], "date"),
        ("DATE", [], "date"),
        ("DATE", ["2024-02-30"], "text"),
        ("DATE", ["2024-02-29", "unknown"], "text"),
        ("DATE", [1995], "bigint"),
        ("DATETIME", ["2024-02-29 10:00:00.0"], "timestamp"),
        ("DATETIME", ["2024-02-29 10:00:00+08"], "timestamptz"),
        ("TIME", ["23:59:59"], "time"),
        ("BOOLEAN", [0, 1], "boolean"),
        ("BOOLEAN", [0, 2], "bigint"),
        ("JSON", ['{"a": 1}'], "jsonb"),
        ("JSON", ["nonsense"], "text"),
        ("BLOB", [b"\0"], "bytea"),
        ("BLOB", [b"\0", "x"], "bytea"),
        ("TEXT", ["x", b"\0"], "bytea"),
        ("", [1], "bigint"),
        ("", ["x", 1.5], "text"),
        ("anything at all", [b"x"], "bytea"),
    ],
)
def test_a_column_written_for_sqlite(declared: str, values: list[Any], type: str) -> None:
    assert column_type(declared, values, from_postgres=False).type == type


@pytest.mark.parametrize(
    ("declared", "values", "type"),
    [
        ("TEXT", ["2024-01-01", "1999-12-31"], "date"),
        ("TEXT", ["2024-01-01", "soon"], "text"),
        ("TEXT", [], "text"),
        ("text(6)", ["2021-04-16 13:21:19.864197+08"], "timestamptz"),
        ("text(6)", ["2021-04-16 13:21:19-15:59", "2021-04-16 13:21:19Z"], "timestamptz"),
        ("text(6)", ["2021-04-16 13:21:19+16"], "text"),
        ("text(6)", ["2021-04-16 13:21:19.86", "2021-04-16 13:21:19"], "timestamp"),
        ("text(6)", ["00:00:00"], "time"),
        ("text(6)", ["short"], "text"),
        ("text(20)", ["2024-01-01"], "text"),
        ("TEXT", ['{"a": {"b": null}}', "{}"], "jsonb"),
        ("TEXT", ["[1]"], "text"),
        ("TEXT", ['{"a": "\\u0000"}'], "text"),
        ("TEXT", ['{"a": 1', "{}"], "text"),
        ("TEXT", ['{"a": "\\ud800"}'], "text"),
        ("TEXT", ['{"a": NaN}'], "text"),
        ("TEXT", ['{"a": 1.5e300}'], "jsonb"),
        ("TEXT", ['{"a": 1e200000}'], "text"),
        ("TEXT", ['{"a": -0e-20000}'], "text"),
        ("TEXT", ['{"a": 1e99999999999999999999}'], "text"),
        ("TEXT", ['{"a": {"b": 1, "b": 2}}'], "text"),
        ("TEXT", ['{"a": ' + "[" * 99 + "]" * 99 + "}"], "jsonb"),
        ("TEXT", ['{"a": ' + "[" * 100 + "]" * 100 + "}"], "text"),
    ],
)
def test_a_column_exported_from_postgresql(declared: str, values: list[Any], type: str) -> None:
    assert column_type(declared, values, from_postgres=True).type == type


def test_only_some_databases_were_exported_from_postgresql() -> None:
    assert came_from_postgres(["TEXT", "integer(64)"])
    assert not came_from_postgres(["TEXT", "INTEGER", "real(5,2)", "int(11)"])


@pytest.mark.parametrize(
    ("declared", "values", "note"),
    [
        ("INTEGER", [1], ""),
        ("real(5,2)", [7.125], "declared as real(5,2), loaded as numeric: 7.125 does not fit numeric(5,2)"),
        ("DATE", ["2024-01-01", "never"], "declared as DATE, loaded as text: 'never' does not fit date"),
        ("", [1], "declared as (no type), loaded as bigint because of its values"),
    ],
)
def test_what_is_not_as_declared_is_said(declared: str, values: list[Any], note: str) -> None:
    assert column_type(declared, values, from_postgres=False).note == note
