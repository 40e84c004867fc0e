"""Small databases on disk, written by a script of SQL."""

from pathlib import Path

from prepared_databases import copy_database


def write_database(root: Path, name: str, script: str) -> Path:
    path = root / name / f"{name}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    copy_database(path, script)
    return path
