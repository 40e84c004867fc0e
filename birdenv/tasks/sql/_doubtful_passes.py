"""Doubtful passes: submissions that passed but may be wrong, because grading cannot notice every error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from birdenv.dialogue.measures import Record
from birdenv.grading import FAILED_AS_DOUBTFUL, reads_no_table
from birdenv.statistics import counted

_WORDS = {
    "passes_without_table": "that passed read no table: their rows are literals",
    "passes_in_another_state": "that passed left a different state from the gold SQL, which no test noticed",
    "failed_as_doubtful": "would have passed, but read no table or left a different state from the gold SQL "
    "(fail_doubtful)",
}


def doubtful_passes(records: Sequence[Record], private: Sequence[Record]) -> dict[str, int]:
    """Count the doubtful passes in a run, keyed by reason. Zero counts are omitted.

    A pass is doubtful if the SQL reads no table, or does not leave the database in the same state as the gold
    SQL. Submissions that failed only because of the setting `fail_doubtful` also count.
    """
    log = [entry for record in private for entry in record.get("log", [record])]
    other = sum(
        entry.get("status") == "passed" and "state_disagrees" in entry.get("flags", ()) for entry in log
    )
    without = sum(reads_no_table(sql) for record in records for sql in _passed(record))
    failed = sum(FAILED_AS_DOUBTFUL in entry.get("flags", ()) for entry in log)
    counts = dict(zip(_WORDS, (without, other, failed), strict=True))
    return {name: count for name, count in counts.items() if count}


def doubtful_notes(counts: dict[str, int]) -> list[str]:
    """Return sentences that state the counts from `doubtful_passes`."""
    return [f"{counted(count, 'submission')} {_WORDS[name]}." for name, count in counts.items()]


def _passed(record: Record) -> Iterator[str]:
    """Yield the SQL of the submissions that passed, if the record says which ones did."""
    result = record.get("result", {})
    if result.get("ex") and isinstance(result.get("predicted_sql"), str):
        yield result["predicted_sql"]  # BIRD
    attempts = record.get("attempts", ())
    events = record.get("example", {}).get("events", ()) if attempts else ()
    submitted = [event["data"] for event in events if event["action"] == "submit_sql"]
    if len(submitted) == len(attempts):
        for sql, attempt in zip(submitted, attempts, strict=True):
            if attempt.get("status") == "passed" and isinstance(sql, str):
                yield sql
