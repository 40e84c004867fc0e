"""The data that a stored run was played on: where it is, and whether it is still the same.

Verdicts that a run folder remembers, so that what is still valid is not executed again.

`grades.jsonl` is private: its reasons quote the gold.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from birdenv.databases import DatabaseSource, Isolation, Limits, open_source
from birdenv.errors import BirdenvError, InputError
from birdenv.files import exists, file_digest, read_records, write_records
from birdenv.grading import GRADER_VERSION


def place_of(config: Mapping[str, Any], key: str, option: str, given: Path | None) -> Path:
    """The path that was given, or that the run was played with; `InputError` where there is nothing."""
    if given is not None:
        return given
    path = Path(str(config.get(key, "")))
    if key not in config or not exists(path):
        raise InputError(f"the run's {key} ({path}) is not there any more; say where it is with {option}")
    return path


def limits_of(config: Mapping[str, Any]) -> Limits:
    """The limits that the run was graded under."""
    seconds = config.get("sql_timeout_s")
    return Limits(seconds=float(seconds)) if isinstance(seconds, int | float) else Limits()


def source_of(config: Mapping[str, Any], folder: Path, isolation: Isolation) -> DatabaseSource:
    """The databases of a folder on the engine of the run; on the server that `open_source` finds."""
    return open_source(folder, str(config.get("dialect", "sqlite")), isolation=isolation)


def check_unchanged(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str], allowed: bool
) -> list[str]:
    """What has changed since the run, in words; `InputError` that says so unless that is `allowed`."""
    changes = changes_since(config, data_file, source, names)
    if changes and not allowed:
        raise InputError(
            f"the data have changed since the run: {'; '.join(changes)}. The verdicts would be about other "
            "data: name the old ones (see --help), or accept that with --allow-changed"
        )
    return changes


def changes_since(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str]
) -> list[str]:
    """By the digests in `config.json`."""
    changes = []
    if file_digest(data_file) != config.get("data_sha256"):
        changes.append(f"the task file {data_file}")
    digests = config.get("databases_sha256")
    before = digests if isinstance(digests, dict) else {}
    for name in names:
        try:
            same = source.digest(name) == before.get(name)
        except BirdenvError as error:
            raise InputError(f"{error}; every database of the run is needed to grade it again") from None
        if not same:
            changes.append(f"the database {name}")
    return changes


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
