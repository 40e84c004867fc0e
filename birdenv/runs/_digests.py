"""Digests that tell whether two runs used the same data, databases and code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import birdenv
from birdenv.databases import SqliteSource

__all__ = ["code_digest", "database_digests"]


def database_digests(source: SqliteSource, names: Iterable[str]) -> dict[str, str]:
    return {name: source.digest(name) for name in names}


@cache
def code_digest() -> str:
    """SHA-256 over birdenv's own Python files, by path within the package."""
    root = Path(birdenv.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
