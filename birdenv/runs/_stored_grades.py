"""Verdicts that a run folder remembers, so that what is still valid is not executed again.

`grades.jsonl` is private: its reasons quote the gold.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import exists, read_records, write_records
from birdenv.grading import GRADER_VERSION

__all__ = ["StoredGrades", "grade_key"]

_FILE: Final = "grades.jsonl"
_THE_MACHINES: Final = frozenset({"infra_error", "test_error", "sql_timeout", "gold_error"})
"""Verdicts that another try may change."""


def grade_key(**parts: Any) -> str:
    """A digest of everything that a verdict depends on, this version of the grader among it."""
    text = json.dumps({**parts, "grader": GRADER_VERSION}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class StoredGrades:
    """The verdicts of one run folder, by `grade_key`; may be used by several threads.

    Those of other versions of the grader are dropped when it is saved. A file that cannot be read is an
    `InputError`.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._lock = threading.Lock()
        self._records: dict[str, dict[str, Any]] = {}
        if exists(self._path) and self._path.stat().st_size:
            for record in read_records(self._path, "verdicts"):
                if not isinstance(record.get("key"), str) or not isinstance(record.get("status"), str):
                    raise InputError(f"{self._path} does not hold verdicts; remove it to grade again")
                if record.get("grader") == GRADER_VERSION:
                    self._records[record["key"]] = record

    def get(self, key: str, lasting: bool, judge: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The verdict of this key, or that of `judge()`, remembered if it is `lasting` and not a matter of
        the machine. Verdicts have a `status`."""
        with self._lock:
            if key in self._records:
                return self._records[key]
        record = {"key": key, "grader": GRADER_VERSION, **judge()}
        if lasting and record["status"] not in _THE_MACHINES:
            with self._lock:
                self._records[key] = record
        return record

    def save(self) -> None:
        """Write the file, in an order that does not depend on who was first."""
        write_records(self._path, [self._records[key] for key in sorted(self._records)])
