"""Telling one version of a database file from another by what the file system says, without reading it."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from birdenv.databases._version import Version
from birdenv.errors import InputError

__all__ = ["FileVersion", "look_at", "with_journals"]

_HOT_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")


@dataclass(frozen=True, slots=True)
class FileVersion(Version):
    """Which file, and what the file system says of its contents: of the file, its folder and its journals.

    The folder's time says whether a journal may have appeared, at the price of one look; it does not count
    when comparing.
    """

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    folder_modified_ns: int = field(compare=False)
    journals: tuple[tuple[str, int, int], ...] = ()
    """A `-wal`, even an empty one, and a hot `-journal`: which, size and time."""

    def __hash__(self) -> int:
        """Cheap, because every graded pair is looked up by it; who differs otherwise differs here, mostly."""
        return hash((self.inode, self.modified_ns))

    @property
    def is_settled(self) -> bool:
        """Whether the file itself holds everything: no journal has changes that belong to it."""
        return not any(size for _, size, _ in self.journals)


def look_at(path: Path) -> FileVersion:
    """The version that is there now. Raises `OSError`, and `InputError` where it is no file."""
    status, folder = path.stat(), path.parent.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a file")
    return FileVersion(
        str(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, folder.st_mtime_ns
    )


def with_journals(path: Path, version: FileVersion) -> FileVersion:
    """The version with the journals that belong to it."""
    journals = []
    for suffix in ("-wal", "-journal"):
        journal = path.with_name(path.name + suffix)
        if journal.exists() and (suffix == "-wal" or _is_hot(journal)):
            status = journal.stat()
            journals.append((suffix, status.st_size, status.st_mtime_ns))
    return replace(version, journals=tuple(journals))


def _is_hot(journal: Path) -> bool:
    with journal.open("rb") as file:
        return file.read(8) == _HOT_JOURNAL
