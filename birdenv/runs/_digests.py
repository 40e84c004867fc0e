"""Digests that tell whether two runs used the same data, databases and code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import birdenv
from birdenv.databases import DatabaseSource
from birdenv.tasks.c_interact import CInteractTask

__all__ = ["code_digest", "database_digests", "notes_digests", "path_digest"]


def database_digests(source: DatabaseSource, names: Iterable[str]) -> dict[str, str]:
    return {name: source.digest(name) for name in names}


def notes_digests(tasks: Iterable[CInteractTask]) -> dict[str, str]:
    """SHA-256 of what each database's instruction is made from: schema text, knowledge, column meanings."""
    notes = {task.public.database: task.private.notes for task in tasks}
    return {
        name: hashlib.sha256(
            json.dumps(
                [
                    notes[name].schema,
                    [entry.raw for entry in notes[name].knowledge],
                    notes[name].column_meanings,
                ],
                sort_keys=True,
            ).encode()
        ).hexdigest()
        for name in sorted(notes)
    }


def path_digest(path: Path) -> str | None:
    """SHA-256 of a file, or of all files of a folder; None if there is neither."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        digest = hashlib.sha256()
        for file in files:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    except OSError:
        return None
    return digest.hexdigest()


@cache
def code_digest() -> str:
    """SHA-256 over birdenv's own Python files, by path within the package."""
    root = Path(birdenv.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
