"""Sources that a test opens and nobody closes for it: they keep connections, of which a server has 200."""

from __future__ import annotations

from pathlib import Path

from birdenv.databases import DatabaseSource, open_source

_opened: list[DatabaseSource] = []


def open(folder: Path, dialect: str) -> DatabaseSource:
    source = open_source(folder, dialect)
    _opened.append(source)
    return source


def close_all() -> None:
    while _opened:
        _opened.pop().close()
