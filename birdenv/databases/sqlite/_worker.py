"""What runs in a worker process: one episode's statements at a time, under limits that the kernel enforces.

The process holds nothing but the databases' files; it is made to be killed. Every statement sets alarms
that end the process a second after the statement's deadline, by processor time or by the wall clock, so that
even one function call that nothing can interrupt is over then, whether or not the process that owns this one
is still there.

What it sends is taken apart without trusting it: plain values only (a hostile database cannot make its reader
run anything), then checked for their shape.
"""

from __future__ import annotations

import math
import pickle
import resource
import socket
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, QueryResult, Result, Row
from birdenv.databases.sqlite._database import SqliteDatabase
from birdenv.databases.sqlite._file import MAPPED_BYTES, SqliteFile, map_files
from birdenv.databases.sqlite._file_id import FileId
from birdenv.databases.sqlite.guard._watchdog import alarms
from birdenv.databases.sqlite.images._parked import Counters, ParkedImage
from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES, ImageKind
from birdenv.errors import InputError
from birdenv.processes._child import set_limit
from birdenv.processes._messages import MessageError, packed, receive, send, unpacked

Answer: TypeAlias = QueryResult | QueryError | DatabaseState | Checkpoint | ParkedImage | None


def encoded(answer: Answer) -> bytes:
    """An answer as plain values, packed."""
    return packed(_plain(answer))


def decoded(data: bytes) -> Answer:
    """What `encoded` was given. Raises `MessageError` for anything else."""
    try:
        return _value(unpacked(data))
    except (ValueError, TypeError) as error:  # the latter: a checkpoint of too few parts
        raise MessageError(f"not an answer of a worker: {error}") from error


def _plain(answer: Answer) -> tuple[Any, ...]:
    match answer:
        case None:
            return ("none",)
        case QueryResult(columns, rows, truncated, affected, elapsed, repeatable):
            return ("result", columns, list(rows), truncated, affected, elapsed, repeatable)
        case QueryError(kind, message, elapsed, repeatable):
            return ("error", kind, message, elapsed, repeatable)
        case Checkpoint(version, size, pages):
            return ("checkpoint", astuple(version), size, pages)
        case ParkedImage(start, counters):
            return ("parked", _plain(start), tuple(counters))
        case DatabaseState(schema, contents, definitions):
            tables = {name: _plain(content) for name, content in contents.items()}
            return ("state", {name: dict(item) for name, item in schema.items()}, tables, definitions)


def _value(plain: Any) -> Answer:
    match plain:
        case ("none",):
            return None
        case (
            "result",
            tuple() as columns,
            list() as rows,
            bool() as truncated,
            int() as affected,
            float() as elapsed,
            bool() as repeatable,
        ):
            return QueryResult(columns, rows, truncated, affected, elapsed, repeatable)
        case ("error", str() as kind, str() as message, float() as elapsed, bool() as repeatable):
            return QueryError(kind, message, elapsed, repeatable)  # type: ignore[arg-type]
        case ("checkpoint", tuple() as version, int() as size, dict() as pages):
            return Checkpoint(FileId(*version), size, pages)
        case ("parked", ("checkpoint", tuple(), int(), dict()) as start, (int(), int(), int()) as counters):
            return ParkedImage(cast(Checkpoint, _value(start)), Counters(*counters))
        case ("state", dict() as schema, dict() as tables, tuple() as definitions):
            return DatabaseState(schema, _contents(tables), definitions)
    raise MessageError("of no known kind")


def _contents(tables: Mapping[str, Any]) -> dict[str, Result]:
    contents: dict[str, Result] = {}
    for name, table in tables.items():
        content = _value(table)
        if not isinstance(content, QueryResult | QueryError):
            raise MessageError(f"no contents of {name}")
        contents[name] = content
    return contents


ANSWERED, UNUSABLE = b"\0", b"\1"
"""First byte of a reply: what follows is an answer, or why the database cannot be used."""

SHARES, HAS_IMAGE, IS_BOUND = range(3)
"""Second byte of a reply: the episode has nothing of its own in this process, an image that can be put aside
(`park`), or more than that."""

BEGINS, ROWS = b"\2", b"\3"
"""First byte of a message ahead of the answer to a `scan`: the columns, as the statement begins, or rows."""

GO_ON, STOP = b"\1", b"\0"
"""What the owner says to rows."""

REPLY_GRACE_SECONDS: Final = 60.0
"""Beyond all limits of a request: for making an image, moving rows, and an owner that is slow. Then either
side gives the worker up."""

_MOST_FILES: Final = 32  # whose connections are kept open
_MEMORY_BYTES: Final = 4 * 2**30  # of address space, besides the episode's image and mapped files
_FILE_BYTES: Final = 2**31  # of any file that this process writes, besides the image; the guard allows half


@dataclass(frozen=True, slots=True)
class Episode:
    """What a worker needs to know to open an episode's database."""

    version: FileId
    image_path: Path
    limits: Limits
    image_kind: ImageKind


def main(connection: socket.socket) -> None:
    """Answer requests until the owner closes the connection."""
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
        self._files: OrderedDict[tuple[FileId, Path], SqliteFile] = OrderedDict()
        self._database: SqliteDatabase | None = None
        self._episode: bytes | None = None  # to which the database belongs while nothing is written
        self._seconds = 0.0  # of wall time, that a request may take by its limits

    def answer(self, episode: bytes | None, method: str, arguments: tuple[Any, ...]) -> bytes:
        """Call a method of the episode's database; `episode`, an `Episode`, is None where it goes on.

        While nothing is written, one of the same file and limits is as good as another.
        """
        if episode is not None and episode != self._episode:
            self._begin_episode(episode)
        assert self._database is not None
        alarms.watch_all(time.monotonic() + self._seconds + REPLY_GRACE_SECONDS)
        try:
            return self._answer(method, arguments)
        finally:
            alarms.watch_all(math.inf)

    def _answer(self, method: str, arguments: tuple[Any, ...]) -> bytes:
        assert self._database is not None
        if method == "scan":
            (sql,) = arguments
            answer: Answer = self._database.scan(sql, _OwnersSink(self._connection))
        else:
            answer = getattr(self._database, method)(*arguments)
        place = SHARES
        if self._database.is_private:
            place = HAS_IMAGE if self._database.can_park else IS_BOUND
        if place != SHARES or method == "close":
            self._episode = None
        return bytes([place]) + encoded(answer)

    def _begin_episode(self, pickled: bytes) -> None:
        self._end_episode()
        episode: Episode = pickle.loads(pickled)
        self._seconds = episode.limits.wall_seconds_in_all
        self._database = SqliteDatabase(self._file(episode), episode.limits, episode.image_kind)
        self._episode = pickled

    def _end_episode(self) -> None:
        self._episode = None
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
        set_limit(resource.RLIMIT_AS, _MEMORY_BYTES + MAPPED_BYTES + episode.version.size + GROWTH_BYTES)
        set_limit(resource.RLIMIT_FSIZE, max(_FILE_BYTES, episode.version.size + GROWTH_BYTES))
        return file


class _OwnersSink:
    """Sends rows to the owner, a batch at a time, and waits for its word before the next."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def begin(self, columns: tuple[str, ...]) -> None:
        send(self._connection, BEGINS + packed(columns))

    def see(self, rows: list[Row]) -> bool:
        send(self._connection, ROWS + packed(rows))
        return receive(self._connection) == GO_ON
