"""Which of the chosen BIRD-Interact tasks can be played: those whose database is there."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from birdenv.databases import DatabaseSource
from birdenv.tasks.c_interact import CInteractTask

__all__ = ["with_database"]


def with_database(
    tasks: Sequence[CInteractTask], source: DatabaseSource, folder: Path, *, named: bool
) -> list[CInteractTask]:
    """Leave out tasks whose database is not there, as in the published Mini-Interact; say so.

    Raises `InputError` if the tasks were asked for by name, if one is there but unusable, or if none is
    left.
    """
    there = set(source.names())
    missing = Counter(task.public.database for task in tasks if task.public.database not in there)
    for name in sorted({task.public.database for task in tasks}):
        if name in there or named or len(missing) == len({task.public.database for task in tasks}):
            source.check(name)
    if missing:
        print(
            f"Warning: {sum(missing.values())} tasks are left out: their databases are not in {folder} "
            f"({', '.join(sorted(missing))})",
            file=sys.stderr,
        )
    return [task for task in tasks if task.public.database in there]
