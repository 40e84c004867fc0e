"""What runs in a worker process: one episode's statements at a time, under limits that the kernel enforces.

The process holds nothing but the databases' files; it is made to be killed. Every statement sets an alarm
that ends the process a second after the statement's deadline, so that even one function call that nothing can
interrupt is over then, whether or not the process that owns this one is still there.
"""

from __future__ import annotations

import pickle
import resource
import signal
import socket
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from birdenv.databases._file_version import FileVersion
from birdenv.databases._image import GROWTH_BYTES, ImageKind
from birdenv.databases._limits import Limits
from birdenv.databases._mapped_files import MAPPED_BYTES, map_files
from birdenv.databases._results import Row
from birdenv.databases._sqlite_database import SqliteDatabase
from birdenv.databases._sqlite_file import SqliteFile
from birdenv.databases._wire import Answer, encoded, packed, receive, send
from birdenv.errors import InputError

__all__ = ["ANSWERED", "BEGINS", "GO_ON", "ROWS", "STOP", "UNUSABLE", "Episode", "main"]

ANSWERED, UNUSABLE = b"\0", b"\1"
"""First byte of a reply: what follows is an answer, or why the database cannot be used. The second byte says
whether the episode has an image of its own in this process."""

BEGINS, ROWS = b"\2", b"\3"
"""First byte of a message ahead of the answer to a `scan`: the columns, as the statement begins, or rows."""

GO_ON, STOP = b"\1", b"\0"
"""What the owner says to rows."""

_MOST_FILES: Final = 32  # whose connections are kept open
_MEMORY_BYTES: Final = 4 * 2**30  # of address space, besides the episode's image and mapped files
_FILE_BYTES: Final = 2**30  # of any file that this process writes, besides the image


@dataclass(frozen=True, slots=True)
class Episode:
    """What a worker needs to know to open an episode's database."""

    version: FileVersion
    image_path: Path
    limits: Limits
    image_kind: ImageKind


def main(descriptor: int) -> None:
    """Answer requests until the owner closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's business
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection = socket.socket(fileno=descriptor)
    map_files()
    worker = _Worker(connection)
    while True:
        try:
            request = receive(connection)
        except (EOFError, OSError):
            return
        try:
            reply = ANSWERED + worker.answer(*pickle.loads(request))
        except InputError as error:
            reply = UNUSABLE + b"\0" + str(error).encode()
        send(connection, reply)


class _Worker:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._files: OrderedDict[tuple[FileVersion, Path], SqliteFile] = OrderedDict()
        self._database: SqliteDatabase | None = None

    def answer(self, episode: Episode | None, method: str, arguments: tuple[Any, ...]) -> bytes:
        """Call a method of the episode's database; `episode` is None where it goes on."""
        if episode is not None:
            self._end_episode()
            self._database = SqliteDatabase(self._file(episode), episode.limits, episode.image_kind)
        assert self._database is not None
        if method == "scan":
            (sql,) = arguments
            answer: Answer = self._database.scan(sql, _OwnersSeer(self._connection))
        else:
            answer = getattr(self._database, method)(*arguments)
        is_private = self._database.is_private
        if not is_private:
            self._end_episode()
        return bytes([is_private]) + encoded(answer)

    def _end_episode(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _file(self, episode: Episode) -> SqliteFile:
        key = (episode.version, episode.image_path)
        file = self._files.pop(key, None)
        if file is None:
            file = SqliteFile(episode.version, episode.image_path, killable=True)
        self._files[key] = file
        if len(self._files) > _MOST_FILES:
            self._files.popitem(last=False)
        _limit(resource.RLIMIT_AS, _MEMORY_BYTES + MAPPED_BYTES + episode.version.size + GROWTH_BYTES)
        _limit(resource.RLIMIT_FSIZE, max(_FILE_BYTES, episode.version.size + GROWTH_BYTES))
        return file


class _OwnersSeer:
    """Sends rows to the owner, a batch at a time, and waits for its word before the next."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def begin(self, columns: tuple[str, ...]) -> None:
        send(self._connection, BEGINS + packed(columns))

    def see(self, rows: list[Row]) -> bool:
        send(self._connection, ROWS + packed(rows))
        return receive(self._connection) == GO_ON


def _limit(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(which, (most, hard))
