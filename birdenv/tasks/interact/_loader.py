"""Reading a c-Interact benchmark folder: lite, full, mini and our own layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from birdenv.databases import DatabaseSource, SqliteSource
from birdenv.errors import InputError
from birdenv.files import exists, is_directory, read_records
from birdenv.tasks.interact._knowledge import read_notes
from birdenv.tasks.interact._record import TaskRecord, parse_record
from birdenv.tasks.interact._task import CInteractTask, split_record
from birdenv.tasks.sql._dialects import in_dialect

TASK_FILES = (
    "bird_interact_data.jsonl",
    "mini_interact.jsonl",
    "mini_interact_test.jsonl",
    "c_interact.jsonl",
)
"""Names that a folder's task file may have, in the order in which they are looked for."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The tasks of one file with the databases that they run on."""

    tasks: tuple[CInteractTask, ...]
    source: DatabaseSource
    task_file: Path


def find_task_file(folder: Path) -> Path:
    """The folder's task file; `InputError` if there is none or the choice is open."""
    if not is_directory(folder):
        raise InputError(f"{folder}: no such directory; give the folder that holds the benchmark's databases")
    found = [folder / name for name in TASK_FILES if exists(folder / name)]
    if not found:
        names = ", ".join(TASK_FILES)
        raise InputError(f"{folder} holds no task file ({names}); name the file itself (--data to play it)")
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise InputError(f"{folder} holds {names}; choose one with --data FILE")
    return found[0]


def read_task_records(path: Path, dialect: str = "sqlite") -> list[TaskRecord]:
    """All records of a task file as they are on that engine, checked; instance ids must be distinct."""
    records: dict[str, TaskRecord] = {}
    for number, raw in enumerate(read_records(path), 1):
        name = raw.get("instance_id")
        shown = name if isinstance(name, str) and name else "no instance_id"
        where = f"{path}: record {number} ({shown})"
        record = parse_record(in_dialect(raw, dialect, where), where)
        if record.instance_id in records:
            raise InputError(f"{where}: this instance_id occurs twice")
        records[record.instance_id] = record
    return list(records.values())


def load_benchmark(
    folder: Path,
    task_file: Path | None = None,
    *,
    source: DatabaseSource | None = None,
    select: Callable[[TaskRecord], bool] | None = None,
) -> Benchmark:
    """Load the tasks that `select` keeps (all by default), with the notes of the databases they need.

    `source` has their databases, by default the folder's own `<db>/<db>.sqlite`. No database is looked at
    before it is opened.
    """
    path = task_file or find_task_file(folder)
    source = source or SqliteSource(folder)
    notes = cache(partial(read_notes, folder))
    tasks: Sequence[CInteractTask] = [
        split_record(record, index, notes(record.selected_database), source.dialect)
        for index, record in enumerate(read_task_records(path, source.dialect))
        if select is None or select(record)
    ]
    return Benchmark(tuple(tasks), source, path)
