"""The data that a grading worker and its parent share: settings, results, and a memory page.

The worker records on the page what it is doing. After the worker has died, the parent reads the page.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from birdenv.databases import Limits, QueryError
from birdenv.databases.sqlite import ImageKind
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.em_esm._pair_rules import PairRules

_LAYOUT: Final = struct.Struct("<q16s")  # the job, and the digest of the statement that runs
_NO_JOB: Final = -1

NO_STATEMENT: Final = bytes(16)
"""The digest if no statement runs."""


class Page:
    """A memory page that a worker and its parent share.

    Args:
        descriptor: the descriptor of the file that is mapped into memory.
    """

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._job = _NO_JOB
        self.clear()

    def clear(self) -> None:
        """Record that no job is running."""
        self.begin(_NO_JOB)

    def begin(self, job: int) -> None:
        """Record that a job with this number is starting."""
        self._job = job
        self.finish_statement()

    def start_statement(self, digest: bytes) -> None:
        """Record that a statement with this digest is starting."""
        _LAYOUT.pack_into(self._memory, 0, self._job, digest)

    def finish_statement(self) -> None:
        """Record that no statement is running."""
        _LAYOUT.pack_into(self._memory, 0, self._job, NO_STATEMENT)

    def read(self) -> tuple[int | None, bytes]:
        """Return the number of the running job (None if there is none) and the digest of its statement."""
        job, digest = _LAYOUT.unpack_from(self._memory)
        return None if job == _NO_JOB else int(job), bytes(digest)


def statement_digest(history: bytes, *texts: str) -> bytes:
    """Return a digest of a statement's text and of everything that ran before it.

    `history` is the digest of the previous statement on the same database.
    """
    digest = hashlib.blake2b(history, digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Files:
    """The location of the SQLite files, for a worker that opens them itself.

    Attributes:
        root: the directory of the databases.
        file: the single file that all database ids refer to; None for a directory of databases.
        image: how to make the private copy of a database for an episode that writes.
        today: the fixed date that SQL sees as the current date; None for the real date.
    """

    root: Path
    file: Path | None
    image: ImageKind
    today: str | None = None


@dataclass(frozen=True, slots=True)
class OwnedServer:
    """Databases on a server, to which only the worker's parent connects. The parent runs the worker's SQL."""

    dialect: str


@dataclass(frozen=True, slots=True)
class ExSettings:
    """The settings of an `ExGrader`, as a worker receives them."""

    clean: bool
    metrics: tuple[Metric, ...]
    fail_doubtful: bool = False


@dataclass(frozen=True, slots=True)
class PairSettings:
    """The rules of a `PairGrader`, and whether the parent has a database to run queries on."""

    rules: PairRules
    has_database: bool


@dataclass(frozen=True, slots=True)
class GradingSettings:
    """The settings of a worker.

    Attributes:
        source: the location of the databases.
        limits: the limits on each statement.
        grader: the settings of the grader, or the name of a grader without settings.
    """

    source: Files | OwnedServer
    limits: Limits
    grader: ExSettings | PairSettings | Literal["interact", "gold"]


Job: TypeAlias = tuple[int, tuple[Any, ...], Mapping[bytes, QueryError]]
"""A number, the arguments of the grader, and the known errors of some statements by digest."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The result of a job.

    Attributes:
        found: the value that the grader returned.
        was_late: whether a statement of the job timed out.
        state_was_late: whether a time limit was reached while the state of a database was being read.
        fault: the reason why the grader returned no value, such as values that are nested too deeply;
            otherwise empty.
    """

    found: Any
    was_late: bool = False
    state_was_late: bool = False
    fault: str = ""
