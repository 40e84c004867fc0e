"""What reads the clock or random numbers, by its text; more of it in `grading/test_execution.py`."""

from __future__ import annotations

import pytest

from birdenv.sql import may_change


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT now()",
        "SELECT now/* a */ ( )",
        "SELECT '--', now()",
        "SELECT `--`, now()",
        "SELECT $$--$$, now()",
        "SELECT random() -- why not",
        "SELECT date('now') /* never closed",
        "SELECT 1 /* never closed, now()",
    ],
)
def test_what_may_change(sql: str) -> None:
    assert may_change(sql)


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "SELECT 1 /* now() */", "SELECT 1 -- now()", "SELECT age FROM t", "SELECT dates(day)"]
)
def test_what_does_not(sql: str) -> None:
    assert not may_change(sql)
