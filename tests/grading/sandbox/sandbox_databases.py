"""For the sandbox's tests: a scratch database, and a test case from the lines of its body."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from birdenv.databases import EpisodeDatabase, Limits, SqliteSource
from birdenv.grading.sandbox import _runner as reports
from birdenv.grading.sandbox._runner import SandboxLimits, run_test_cases

SHOP = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'ink', 4.25), (3, 'pen', 2.0), (4, NULL, NULL);
"""
LIMITS = SandboxLimits(seconds=30, cpu_seconds=1)
INTERPRETER = "sys = re.enum.sys\nos = sys.modules['posix']\n"
"""Lines with which a test gets at what it is not offered."""


def shop(root: Path) -> SqliteSource:
    """A source with the one database `shop`."""
    (root / "shop").mkdir(exist_ok=True)
    connection = sqlite3.connect(root / "shop" / "shop.sqlite")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(SHOP)
    connection.close()
    return SqliteSource(root)


def case(body: str) -> str:
    """The source of one test."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def test_case(pred_sqls, sol_sqls, db_name, conn):\n{lines}"


def scratch(source: SqliteSource, *scripts: str) -> EpisodeDatabase:
    """A fresh database, after some scripts."""
    database = source.open("shop", Limits(seconds=1))
    database.run(scripts)
    return database


def run(
    source: SqliteSource, *sources: str, limits: SandboxLimits = LIMITS, scripts: tuple[str, ...] = ()
) -> reports.TestReport:
    """What the tests say of a fresh database, after some scripts."""
    with scratch(source, *scripts) as database:
        return run_test_cases(sources, ["SELECT 1"], ["SELECT 2"], database, limits=limits)


def called(report: reports.TestReport) -> int:
    """How many tests were called."""
    return sum(bool(outcome.name) for outcome in report.outcomes)
