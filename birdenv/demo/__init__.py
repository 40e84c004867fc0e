"""The demo benchmark. Its databases are built from SQL files in this package on first use."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from birdenv.errors import InputError
from birdenv.files import cache_folder

__all__ = ["DEMO_BIRD_FILE", "DEMO_C_INTERACT_FILE", "demo_folder"]

DEMO_BIRD_FILE = "bird.json"
DEMO_C_INTERACT_FILE = "c_interact.jsonl"

_MONTH = 30 * 24 * 3600
_CONTENT = Path(__file__).parent / "files"


@cache
def demo_folder() -> Path:
    """Return the folder of the demo benchmark, building the folder if necessary.

    The folder has the same layout as the public benchmarks, and is shared by all processes. It is in the
    user's cache or, if the cache is not writable, in a temporary directory. Its name depends on its contents
    and on the version of SQLite. If a file is missing, the folder is rebuilt. Folders of other versions that
    were not used for a month are deleted.

    Raises:
        InputError: the folder cannot be built in either place.
    """
    name = f"demo-{_digest()}"
    for place in (cache_folder, _own_temporary_directory):
        try:
            parent = place()
            folder = parent / name
            if not _is_whole(folder):
                _build(folder)
                _remove_old(parent, folder)
            with suppress(OSError):
                os.utime(folder)
        except (OSError, RuntimeError, sqlite3.Error):  # RuntimeError: the user has no home directory
            continue
        return folder
    try:
        folder = Path(tempfile.mkdtemp(prefix="birdenv-")) / name
        _build(folder)
    except (OSError, sqlite3.Error) as error:
        raise InputError(
            f"the demo benchmark cannot be built: {error}; set XDG_CACHE_HOME to a folder with enough space"
        ) from None
    return folder


def _own_temporary_directory() -> Path:
    """Return a folder of this user among the temporary files. Its path is always the same.

    Raises:
        OSError: the folder belongs to a different user, or other users can write to it.
    """
    path = Path(tempfile.gettempdir()) / f"birdenv-demo-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(f"{path} belongs to a different user, or other users can write to it")
    return path


def _is_whole(folder: Path) -> bool:
    expected = [DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE]
    for notes in (_CONTENT / "databases").iterdir():
        expected.append(f"{notes.name}/{notes.name}.sqlite")
        expected += [f"{notes.name}/{path.name}" for path in notes.iterdir() if path.suffix != ".sql"]
    return all((folder / name).is_file() for name in expected)


def _remove_old(parent: Path, current: Path) -> None:
    """Remove other versions of the demo that have not been used for a month."""
    for folder in parent.glob("demo-*"):
        with suppress(OSError):
            if folder != current and time.time() - folder.lstat().st_mtime > _MONTH:
                shutil.rmtree(folder)


def _digest() -> str:
    digest = hashlib.sha256(sqlite3.sqlite_version.encode())
    for path in sorted(_CONTENT.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(_CONTENT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(folder: Path) -> None:
    """Build the demo in a temporary folder and rename it, so that nobody sees an incomplete folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".demo-") as scratch:
        made = Path(scratch) / "demo"
        made.mkdir()
        for task_file in (DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE):
            shutil.copyfile(_CONTENT / task_file, made / task_file)
        for notes in sorted((_CONTENT / "databases").iterdir()):
            _build_database(notes, made / notes.name)
        if os.path.lexists(folder) and not _is_whole(folder):
            folder.rename(Path(scratch) / "broken")
        try:
            made.rename(folder)
        except OSError:
            if not _is_whole(folder):  # another process may have been faster
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
