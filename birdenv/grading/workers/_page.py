"""A page of memory in which a worker says what it does, and its owner reads it when the worker has died."""

from __future__ import annotations

import hashlib
import mmap
import struct
from typing import Final

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
