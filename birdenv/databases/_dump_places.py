"""Where a benchmark folder keeps its dumps of PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DUMP_FOLDERS: Final = ("postgre_table_dumps", "postgre_table_dumps_full")
"""Names of the folder of `<db>_template` folders that the authors of BIRD-Interact give out."""


def dump_places(folder: Path) -> list[Path]:
    """Where dumps of PostgreSQL are (`<db>_template` folders) that belong to a folder: itself, or folders of
    the authors' names in it or beside it; the nearest first."""
    beside = (near / name for near in (folder, folder.parent) for name in DUMP_FOLDERS)
    return [place for place in (folder, *beside) if any(each.is_dir() for each in place.glob("*_template"))]
