"""`Limits.bytes` counts what Python takes for rows."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from typing import Any

import pytest

from birdenv.databases import Limits
from birdenv.databases._results import bytes_of

ROWS = 20_000
NUMBERS = f"WITH RECURSIVE t(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM t WHERE x < {ROWS})"


def measured(make: Any) -> float:
    tracemalloc.start()
    rows = make()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return bytes_of(rows) / taken


@pytest.mark.parametrize(
    "cells",
    [
        "1, 2, 3, 4, 5, 6",
        "x + 1000, x * 1.5",
        "'a', 'b', 'c'",
        "'ab', ''",
        "'name ' || x, NULL",
        "x'0102'",
        "replace(printf('%50d', 1), ' ', char(128512))",
        "printf('%1000d', x)",
    ],
)
def test_cells_of_sqlite(cells: str) -> None:
    cursor = sqlite3.connect(":memory:").execute(f"{NUMBERS} SELECT {cells} FROM t")
    assert 1 / 1.5 < measured(cursor.fetchall) < 1.5


@pytest.mark.parametrize("value", ['["ab", "cd", 1000]', '{"key": "some text", "other": [1, 2.5]}'])
def test_arrays_and_json(value: str) -> None:
    assert 1 / 1.5 < measured(lambda: [(json.loads(value),) for _ in range(2_000)]) < 1.5


def test_a_million_rows_of_six_integers_are_allowed() -> None:
    rows = [(n, n + 1000, n + 2000, n + 3000, n + 4000, n + 5000) for n in range(1000, 2000)]
    assert 1_000 * bytes_of(rows) < Limits().bytes
