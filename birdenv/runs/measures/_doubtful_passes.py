"""Passes that may be none: grading compares rows, and of a Management task what its test cases look at."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.dialogue.measures import Record
from birdenv.grading import reads_no_table


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
