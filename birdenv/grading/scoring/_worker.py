"""What runs in a process that grades whole pairs: golds, prediction and comparison, so that no rows leave it.

It may be killed at any time, by the kernel where a statement is late. Which statement it runs stands in a
page of memory that its owner reads when it has died.
"""

from __future__ import annotations

import hashlib
import mmap
import socket
import struct
import time
import traceback
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from birdenv.databases import Limits, QueryError
from birdenv.databases.cache import ResultCache
from birdenv.databases.sqlite import KillableSource, map_files
from birdenv.errors import InputError
from birdenv.grading._ex import ExGrader
from birdenv.grading._result_store import ResultStore
from birdenv.grading._verdict import plain_verdict
from birdenv.grading.compare._metrics import Metric
from birdenv.processes._messages import packed, receive, send, unpacked

PAGE: Final = struct.Struct("<q16s")
"""The number of the pair that is graded, and the digest of the statement that runs, zeros between two."""

Work: TypeAlias = tuple[int, str, tuple[str, ...], str | None, Mapping[bytes, tuple[Any, ...]]]
"""A pair to grade: its number, database, golds and prediction, and errors to take for what some of its
statements give, by digest of their SQL."""

_REPLY_SECONDS: Final = 0.05  # verdicts of so long a time go together: each message wakes the owner up
_FLUSH_SECONDS: Final = 2.0  # processes that write results at every turn wait for each other
_NONE: Final = bytes(16)


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """How pairs are graded: a plain value, to be sent to a process."""

    root: str
    file: str | None
    limits: tuple[float, int, int]
    clean: bool
    metrics: tuple[Metric, ...]
    store: tuple[str, int] | None
    check_every: int

    def plain(self) -> tuple[Any, ...]:
        return astuple(self)


def sql_digest(sql: str) -> bytes:
    """Of a statement; any text has one."""
    return hashlib.blake2b(sql.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def running_on(page: mmap.mmap) -> tuple[int, bytes]:
    """The pair and the statement that were at work when the process ended; zeros if none was."""
    number, digest = PAGE.unpack_from(page)
    return int(number), bytes(digest)


def main(connection: socket.socket, page: int) -> None:
    """Grade until the owner closes the connection."""
    map_files()
    grading: _Grading | None = None
    with mmap.mmap(page, mmap.PAGESIZE) as shared:
        while True:
            try:
                kind, values = unpacked(receive(connection))
            except (EOFError, OSError):
                break
            try:
                if kind == "setting":
                    if grading is not None:
                        grading.close()
                    grading = _Grading(ScoringConfig(*values), shared, connection)
                elif kind == "rest" and grading is not None:
                    grading.close()
                    grading = None
                elif kind == "finish" and grading is not None:
                    grading.finish()
                elif grading is not None:
                    grading.grade(values)
            except InputError as error:
                send(connection, packed(("input_error", str(error))))
            except (OSError, MemoryError):
                break  # the owner is gone, or will see that this process is
            except Exception:
                send(connection, packed(("broken", traceback.format_exc())))


class _Grading:
    def __init__(self, setting: ScoringConfig, page: mmap.mmap, connection: socket.socket) -> None:
        self._page = page
        self._connection = connection
        self._store = ResultStore(*setting.store) if setting.store else None
        self._flushed = time.monotonic()
        self._number = -1
        self._known: Mapping[bytes, tuple[Any, ...]] = {}
        self._grader = ExGrader(
            _source(setting.root, setting.file),
            Limits(*setting.limits),
            setting.clean,
            setting.metrics,
            ResultCache(self._store, check_every=setting.check_every),
            self._announce,
        )

    def grade(
        self, pairs: list[tuple[int, str, tuple[str, ...], str, Mapping[bytes, tuple[Any, ...]]]]
    ) -> None:
        """Grade and tell, once as the last pair begins, so that more work is here when it is done."""
        done: list[tuple[int, dict[str, Any], float]] = []
        told = time.monotonic()
        left = len(pairs)
        for number, db_id, golds, prediction, known in pairs:
            if left == 1:
                self._tell(done, left)
                done = []
            self._number, self._known = number, known
            PAGE.pack_into(self._page, 0, number, _NONE)
            began = time.monotonic()
            verdict = self._grader.grade_once(db_id, golds, prediction)
            now = time.monotonic()
            done.append((number, plain_verdict(verdict), now - began))
            left -= 1
            if now - told > _REPLY_SECONDS and left > 1:
                self._tell(done, left)
                done, told = [], now
        PAGE.pack_into(self._page, 0, -1, _NONE)
        self._tell(done, left)

    def _announce(self, sql: str) -> QueryError | None:
        """Write down what runs next; of a statement that has ended a process before, give what was said."""
        digest = sql_digest(sql)
        if digest in self._known:
            return QueryError(*self._known[digest])
        PAGE.pack_into(self._page, 0, self._number, digest)
        return None

    def _tell(self, done: list[tuple[int, dict[str, Any], float]], left: int) -> None:
        counts = (0, 0)
        if self._store is not None:
            if left == 0 and time.monotonic() - self._flushed > _FLUSH_SECONDS:
                self._store.flush()
                self._flushed = time.monotonic()
            counts = (self._store.executed, self._store.found)
            self._store.executed = self._store.found = 0
        fault = self._store.fault if self._store is not None else ""
        send(self._connection, packed(("done", (done, counts, fault, left))))

    def finish(self) -> None:
        """Write down what is to be kept, and say so."""
        if self._store is not None:
            self._store.flush()
        send(self._connection, packed(("finished", "" if self._store is None else self._store.fault)))

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


@lru_cache(maxsize=1)  # the latest: its connections stay open from one call to the next
def _source(root: str, file: str | None) -> KillableSource:
    return KillableSource(Path(root), Path(file) if file else None)
