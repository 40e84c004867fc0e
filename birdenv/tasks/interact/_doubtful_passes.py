"""Passes that may be none: grading compares rows, and of a Management task what its test cases look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from birdenv.dialogue.measures import Record

_LONGEST: Final = 20_000  # characters of a submission that is looked at


def doubtful_passes(records: Sequence[Record], private: Sequence[Record]) -> dict[str, int]:
    """Count passed submissions that read no table, and those that left another state than the gold's.

    Only what there is at least one of stands in the result.
    """
    log = (entry for record in private for entry in record.get("log", ()))
    other = sum(
        entry.get("status") == "passed" and "state_disagrees" in entry.get("flags", ()) for entry in log
    )
    without = sum(reads_no_table(sql) for record in records for sql in _passed(record))
    counts = {"passes_without_table": without, "passes_in_another_state": other}
    return {name: count for name, count in counts.items() if count}


def doubtful_notes(counts: dict[str, int]) -> list[str]:
    """Say the same for people."""
    words = {
        "passes_without_table": "read no table: their rows are spelled out",
        "passes_in_another_state": "left another state than the gold's, which no test case looked at",
    }
    return [f"{count} submission(s) that passed {words[name]}." for name, count in counts.items()]


def reads_no_table(sql: str) -> bool:
    """Return whether a query reads nothing but what it writes down itself; False if that is not clear.

    >>> reads_no_table("WITH x AS (VALUES (1), (2)) SELECT * FROM x"), reads_no_table("SELECT 1 FROM t")
    (True, False)
    """
    import sqlglot
    from sqlglot import exp

    from birdenv.users._segments import quiet_parser

    if len(sql) > _LONGEST:
        return False
    try:
        with quiet_parser():
            tree = sqlglot.parse_one(sql, read="postgres")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return False
    if not isinstance(tree, exp.Query | exp.Values):
        return False
    own = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    return all(table.name.lower() in own for table in tree.find_all(exp.Table))


def _passed(record: Record) -> list[str]:
    """The SQL of the submissions that passed, where each can be told from the others."""
    events = record.get("example", {}).get("events", ())
    submitted = [event["data"] for event in events if event["action"] == "submit_sql"]
    attempts = record["attempts"]
    if len(submitted) != len(attempts):
        return []
    return [
        sql
        for sql, attempt in zip(submitted, attempts, strict=True)
        if attempt.get("status") == "passed" and isinstance(sql, str)
    ]
