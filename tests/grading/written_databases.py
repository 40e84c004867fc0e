"""Small databases on disk, written by a script of SQL."""

import sqlite3
from pathlib import Path


def write_database(root: Path, name: str, script: str) -> Path:
    path = root / name / f"{name}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path
