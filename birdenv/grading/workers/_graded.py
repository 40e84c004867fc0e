"""What goes between a grading worker and its owner: settings, jobs, what came of them, and a shared page.

The worker says on the page of memory what it does, and its owner reads it when the worker has died.
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
"""In place of a digest: no statement runs."""


class Page:
    """The page, on either side."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._job = _NO_JOB
        self.clear()

    def clear(self) -> None:
        """Note that no job is done now."""
        self.begin(_NO_JOB)

    def begin(self, job: int) -> None:
        """Note that a job is done now, by its number."""
        self._job = job
        self.finish_statement()

    def start_statement(self, digest: bytes) -> None:
        _LAYOUT.pack_into(self._memory, 0, self._job, digest)

    def finish_statement(self) -> None:
        _LAYOUT.pack_into(self._memory, 0, self._job, NO_STATEMENT)

    def read(self) -> tuple[int | None, bytes]:
        """Return the job and the digest of the statement; None where no job was done."""
        job, digest = _LAYOUT.unpack_from(self._memory)
        return None if job == _NO_JOB else int(job), bytes(digest)


def statement_digest(history: bytes, *texts: str) -> bytes:
    """Return the digest of what runs now, after what has the digest `history`; any text has one."""
    digest = hashlib.blake2b(history, digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Files:
    """SQLite databases, as of `LocalSource`, at a reference date if there is one."""

    root: Path
    file: Path | None
    image: ImageKind
    today: str | None = None


@dataclass(frozen=True, slots=True)
class OwnedServer:
    """Databases that the owner answers for, in their dialect."""

    dialect: str


@dataclass(frozen=True, slots=True)
class ExSettings:
    """The settings of `ExGrader`."""

    clean: bool
    metrics: tuple[Metric, ...]
    fail_doubtful: bool = False


@dataclass(frozen=True, slots=True)
class PairSettings:
    """The settings of `PairGrader`, whose queries the owner runs."""

    rules: PairRules
    has_database: bool


@dataclass(frozen=True, slots=True)
class GradingSettings:
    """One way of grading; `grader` is its kind, or the settings of that kind."""

    source: Files | OwnedServer
    limits: Limits
    grader: ExSettings | PairSettings | Literal["interact", "gold"]


Job: TypeAlias = tuple[int, tuple[Any, ...], Mapping[bytes, QueryError]]
"""A number, the arguments of the grader, and errors to take for what some statements give."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The result of a job.

    Attributes:
        found: what the grader gave.
        was_late: a time limit ended a statement.
        state_was_late: a time limit ended the reading of a state.
        fault: why the grader gave nothing, as values that no program can follow; empty if it did.
    """

    found: Any
    was_late: bool = False
    state_was_late: bool = False
    fault: str = ""
