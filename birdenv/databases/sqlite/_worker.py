"""Run the statements of one episode at a time in a worker process, under kernel limits.

The worker may be killed at any time. If a statement is in a function call that cannot be interrupted, the
kernel kills the worker one second after the statement's deadline.

The parent process does not trust the worker's messages. They consist of plain values, so that reading them
cannot run code from a hostile database, and their structure is checked.
"""

from __future__ import annotations

import pickle
import resource
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, QueryResult, Result
from birdenv.databases.sqlite._database import SqliteDatabase
from birdenv.databases.sqlite._file import FileId, SqliteFile
from birdenv.databases.sqlite._readers import MAPPED_BYTES
from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES, ImageKind
from birdenv.processes.child import Owner, set_limit

Answer: TypeAlias = QueryResult | QueryError | DatabaseState | Checkpoint | None

_MEMORY_BYTES: Final = 4 * 2**30  # of address space, in addition to images and mapped files
_FILE_BYTES: Final = 2**31  # for each file that this process writes except images; the guard allows half


def plain(answer: Answer) -> tuple[Any, ...]:
    """Convert the answer to a request into a tuple of plain values, which can be sent to the parent."""
    match answer:
        case None:
            return ("none",)
        case QueryResult(columns, rows, truncated, affected, elapsed, repeatable):
            return ("result", columns, list(rows), truncated, affected, elapsed, repeatable)
        case QueryError(kind, message, elapsed, repeatable):
            return ("error", kind, message, elapsed, repeatable)
        case Checkpoint(version, size, pages):
            return ("checkpoint", astuple(version), size, pages)
        case DatabaseState(schema, contents, definitions):
            tables = {name: plain(content) for name, content in contents.items()}
            return ("state", {name: dict(item) for name, item in schema.items()}, tables, definitions)


def answer_of(values: Any) -> Answer:
    """Convert the output of `plain` back into an answer.

    Raises `ValueError` or `TypeError` if the values are malformed.
    """
    match values:
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
        case ("none",):
            return None
        case ("checkpoint", tuple() as version, int() as size, dict() as pages):
            return Checkpoint(FileId(*version), size, pages)
        case ("state", dict() as schema, dict() as tables, tuple() as definitions):
            return DatabaseState(schema, _contents(tables), definitions)
    raise ValueError("of no known kind")


def _contents(tables: Mapping[str, Any]) -> dict[str, Result]:
    contents: dict[str, Result] = {}
    for name, table in tables.items():
        content = answer_of(table)
        if not isinstance(content, QueryResult | QueryError):
            raise ValueError(f"no contents of {name}")
        contents[name] = content
    return contents


def limit_process(image_bytes: int, images: int = 1) -> None:
    """Limit the memory of this process, and the size of the files that it writes.

    Args:
        image_bytes: the size of the database's file in bytes.
        images: the maximum number of private images (copies of the file) that are open at the same time.
    """
    image_bytes += GROWTH_BYTES
    set_limit(resource.RLIMIT_AS, _MEMORY_BYTES + MAPPED_BYTES + images * image_bytes)
    set_limit(resource.RLIMIT_FSIZE, max(_FILE_BYTES, image_bytes))


@dataclass(frozen=True, slots=True)
class OpenedEpisode:
    """The data that a worker needs to open an episode's database.

    Attributes:
        version: the version of the file.
        image_path: the path of a file with all the contents (see `SqliteFile`).
        limits: the limits on each statement.
        image_kind: how to make a private copy when the episode first writes.
    """

    version: FileId
    image_path: Path
    limits: Limits
    image_kind: ImageKind


def main(owner: Owner) -> None:
    """Answer requests until the parent process closes the connection."""
    owner.serve(_Worker().answer)


class _Worker:
    def __init__(self) -> None:
        self._database: SqliteDatabase | None = None
        self._episode: bytes | None = None  # pickled; None once the episode has written something

    def answer(
        self, episode: bytes | None, method: str, arguments: tuple[Any, ...]
    ) -> tuple[bool, tuple[Any, ...]]:
        """Call a method of the episode's database.

        Args:
            episode: a pickled `OpenedEpisode`, or None to continue with the current episode of this worker.
                Episodes that have written nothing share a database if their file and limits are the same.
            method: the name of the method.
            arguments: the arguments of the method.

        Returns:
            Whether the episode now has its own image in this process, and the answer as plain values.
        """
        if episode is not None and episode != self._episode:
            self._begin(episode)
        assert self._database is not None
        answer = plain(getattr(self._database, method)(*arguments))
        is_private = self._database.is_private
        if is_private or method == "close":
            self._episode = None
        return is_private, answer

    def _begin(self, pickled: bytes) -> None:
        self._episode = None
        if self._database is not None:
            self._database.close()
            self._database = None
        episode: OpenedEpisode = pickle.loads(pickled)
        limit_process(episode.version.size)
        file = SqliteFile(episode.version, episode.image_path)
        self._database = SqliteDatabase(file, episode.limits, episode.image_kind)
        self._episode = pickled
