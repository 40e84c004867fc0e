"""Lists of tasks that are known to be defective: which, and why, without their gold.

Golds rot: one does not run any more, one reads the clock, one fails its own test cases. A list is JSONL with
an `instance_id` and `reasons` on each line, so that people can share it. `birdenv data verify` and `birdenv
self-check` write such a list, and the setting `leave_out` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from birdenv.errors import InputError
from birdenv.files import read_records, read_text, write_records

Defects = Mapping[str, Sequence[str]]
"""The reasons by instance id."""


def write_defects(path: Path, defects: Defects) -> None:
    """Write a list of defective tasks."""
    write_records(path, [{"instance_id": name, "reasons": list(why)} for name, why in defects.items()])


def read_defects(path: Path) -> Defects:
    """Return the tasks of a list, with the reasons as far as there are any.

    Raises:
        InputError: the file cannot be read, or a record names no task.
    """
    found: dict[str, Sequence[str]] = {}
    if not read_text(path).strip():
        return found  # nothing was found wrong
    for number, record in enumerate(read_records(path, "defects"), 1):
        name, reasons = record.get("instance_id"), record.get("reasons", [])
        if not isinstance(name, str):
            raise InputError(f"{path}: record {number}: the field `instance_id` must be text")
        if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
            raise InputError(f"{path}: record {number} ({name}): the field `reasons` must be a list of texts")
        found[name] = reasons
    return found
