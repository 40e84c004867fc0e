"""`birdenv data count`: how many tasks a data set has, by database and difficulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from birdenv.cli.terminal import visible
from birdenv.demo import demo_folder
from birdenv.errors import InputError
from birdenv.files import is_directory, read_records
from birdenv.tasks.c_interact import find_task_file

_FROM_EASY_TO_HARD: Final = ("easy", "simple", "medium", "moderate", "hard", "challenging")


def count(
    data: Annotated[Path | None, typer.Argument(help="Benchmark folder or task file; default: demo.")] = None,
) -> None:
    """Count the tasks of a data set by database and difficulty.

    Task files of BIRD and of BIRD-Interact are read. No database is needed.

    Example: birdenv data count mini_dev_sqlite.json
    """
    path = demo_folder() if data is None else data
    file = find_task_file(path) if is_directory(path) else path
    tasks = [_place(record, f"{file}: record {n}") for n, record in enumerate(read_records(file), 1)]
    print(visible("\n".join(_table(tasks))))


def _place(record: Mapping[str, Any], where: str) -> tuple[str, str]:
    """The database and the difficulty of a task."""
    database = record.get("db_id", record.get("selected_database"))
    difficulty = record.get("difficulty", record.get("difficulty_tier")) or "unknown"
    if not isinstance(database, str):
        raise InputError(f"{where}: neither `db_id` nor `selected_database` is text, so it is no task")
    return database, str(difficulty)


def _table(tasks: Sequence[tuple[str, str]]) -> list[str]:
    both, databases, difficulties = Counter(tasks), Counter(d for d, _ in tasks), Counter(d for _, d in tasks)
    known = {name: place for place, name in enumerate(_FROM_EASY_TO_HARD)}
    columns = sorted(difficulties, key=lambda each: (known.get(each.lower(), len(known)), each))
    rows: list[list[Any]] = [["database", *columns, "total"]]
    for name, total in sorted(databases.items()):
        rows.append([name, *(both[name, column] or "-" for column in columns), total])
    rows.append(["total", *(difficulties[column] for column in columns), len(tasks)])
    first, *others = (max(len(str(row[place])) for row in rows) for place in range(len(columns) + 2))
    return [
        f"{row[0]:<{first}}" + "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], others, strict=True))
        for row in rows
    ]
