"""Telling one version of a database file from another by what the file system says, without reading it."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from birdenv.databases._results import ContentId
from birdenv.errors import InputError

_HOT_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")


@dataclass(frozen=True, slots=True)
class FileId(ContentId):
    """Which file, and what the file system says of its contents: of the file and its journals."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    """When the file's place or contents changed: the one time stamp that no program can set."""
    journals: tuple[tuple[str, int, int, int], ...] = ()
    """A `-wal`, even an empty one, and a hot `-journal`: which, size and the two times."""

    def __hash__(self) -> int:
        """Cheap, because every graded pair is looked up by it; who differs otherwise differs here, mostly."""
        return hash((self.inode, self.changed_ns))

    @property
    def is_settled(self) -> bool:
        """Whether the file itself holds everything: no journal has changes that belong to it."""
        return not any(size for _, size, *_ in self.journals)


def look_at(path: Path) -> FileId:
    """The version that is there now. Raises `OSError`, and `InputError` where it is no file."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a file")
    return FileId(
        str(path),
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def with_journals(path: Path, version: FileId) -> FileId:
    """The version with the journals that belong to it."""
    journals = []
    for suffix in ("-wal", "-journal"):
        journal = path.with_name(path.name + suffix)
        if journal.exists() and (suffix == "-wal" or _is_hot(journal)):
            status = journal.stat()
            journals.append((suffix, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return replace(version, journals=tuple(journals))


def _is_hot(journal: Path) -> bool:
    with journal.open("rb") as file:
        return file.read(8) == _HOT_JOURNAL
