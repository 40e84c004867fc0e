"""What a statement may write for sorting and joining, besides the database, is bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from database_files import write_database

from birdenv.databases import Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite import LocalSource, _statement_guard

COUNTED = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {n})"
WIDE = "hex(zeroblob(250)) || (x * 7919)"
SPILLING = {
    "sort": f"{COUNTED} SELECT count(*) FROM (SELECT {WIDE} AS z FROM c ORDER BY z LIMIT -1 OFFSET 0)",
    "distinct": f"{COUNTED} SELECT count(*) FROM (SELECT DISTINCT {WIDE} FROM c)",
    "group": f"{COUNTED} SELECT count(*) FROM (SELECT max(x) FROM c GROUP BY {WIDE})",
    "union": f"{COUNTED} SELECT count(*) FROM (SELECT {WIDE} FROM c UNION SELECT 1)",
    "table": f"{COUNTED}, m AS MATERIALIZED (SELECT {WIDE} AS z FROM c) SELECT count(*) FROM m, m AS o",
}
LIMITS = Limits(seconds=60)
SMALL, ROWS = 2**23, 200_000  # they take 100 MB


@pytest.mark.every(3)
@pytest.mark.contains("S47")
@pytest.mark.parametrize("has_image", [False, True])
@pytest.mark.parametrize("name", SPILLING)
def test_what_spills_has_a_quota(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    local: Callable[[Path], LocalSource],
    name: str,
    has_image: bool,
) -> None:
    write_database(tmp_path, "town", "CREATE TABLE t (a)")
    monkeypatch.setattr(_statement_guard, "SPILLED_BYTES", SMALL)
    with local(tmp_path).open("town", LIMITS) as database:
        if has_image:
            database.execute("CREATE TABLE moved (a)")
        result = database.execute(SPILLING[name].format(n=ROWS))
        assert isinstance(result, QueryError)
        assert (result.kind, "temporary files" in result.message) == ("too_large", True)
        few = database.execute(SPILLING["sort"].format(n=ROWS // 100))
        assert isinstance(few, QueryResult), "the next statement has a quota of its own"


def test_what_stays_below_is_sorted(tmp_path: Path) -> None:
    write_database(tmp_path, "town", "CREATE TABLE t (a)")
    with SqliteSource(tmp_path).open("town", LIMITS) as database:
        result = database.execute(SPILLING["sort"].format(n=ROWS))
    assert isinstance(result, QueryResult) and result.rows[0][0] == ROWS


@pytest.mark.slow
@pytest.mark.contains("S47")
@pytest.mark.parametrize("name", ["sort", "group"])
def test_a_gigabyte(tmp_path: Path, name: str) -> None:
    write_database(tmp_path, "town", "CREATE TABLE t (a)")
    with SqliteSource(tmp_path).open("town", LIMITS) as database:
        result = database.execute(SPILLING[name].format(n=4_000_000))
        assert isinstance(result, QueryError)
        assert (result.kind, "temporary files" in result.message) == ("too_large", True)
