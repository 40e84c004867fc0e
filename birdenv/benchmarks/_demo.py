"""The demo benchmark: databases built from the SQL text in the package, once a machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["DEMO_BIRD_FILE", "DEMO_C_INTERACT_FILE", "demo_folder"]

DEMO_BIRD_FILE = "bird.json"
DEMO_C_INTERACT_FILE = "c_interact.jsonl"

_CONTENT = Path(__file__).parent / "demo"


@cache
def demo_folder() -> Path:
    """A folder in the layout of the public benchmarks, with the demo's databases and task files.

    It stands in the user's cache directory under a name that changes with the content and with the SQLite
    version, so that every process on the machine shares it; where that cannot be written, in a temporary
    directory.
    """
    name = f"demo-{_digest()}"
    for parent in (_cache_directory(), Path(tempfile.gettempdir()) / f"birdenv-{os.getuid()}"):
        folder = parent / name
        try:
            if not folder.is_dir():
                _build(folder)
        except OSError:
            continue
        return folder
    folder = Path(tempfile.mkdtemp(prefix="birdenv-")) / name
    _build(folder)
    return folder


def _cache_directory() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "birdenv"


def _digest() -> str:
    digest = hashlib.sha256(sqlite3.sqlite_version.encode())
    for path in sorted(_CONTENT.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(_CONTENT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(folder: Path) -> None:
    """Build beside the target and rename, so that nobody ever sees half of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".demo-") as scratch:
        made = Path(scratch) / "demo"
        made.mkdir()
        for task_file in (DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE):
            shutil.copyfile(_CONTENT / task_file, made / task_file)
        for notes in sorted((_CONTENT / "databases").iterdir()):
            _build_database(notes, made / notes.name)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process may have been faster
                raise


def _build_database(notes: Path, target: Path) -> None:
    target.mkdir()
    for path in sorted(notes.iterdir()):
        if path.suffix != ".sql":
            shutil.copyfile(path, target / path.name)
    connection = sqlite3.connect(target / f"{notes.name}.sqlite")
    try:
        connection.executescript((notes / f"{notes.name}.sql").read_text(encoding="utf-8"))
        connection.commit()
    finally:
        connection.close()
