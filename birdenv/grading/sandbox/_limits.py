"""Limits of test cases: time, memory, output, queries. `_confinement.py` sets those of the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from birdenv.errors import InputError


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Caps on all tests of one task together.

    `seconds`: wall clock, the database's time included, for tests that wait; a query that is running then is
    not cut short, but ends by the limits of its database. `cpu_seconds`: processor time of the tests'
    process, which ends tests that work. `memory_bytes`: besides the interpreter. `output_characters`:
    printed. `queries`: asked of the database. `result_bytes`: of one result, text and blobs by length; a
    larger one is an error to the test.

    Raises `InputError` for a limit that lets nothing run.
    """

    seconds: float = 240.0
    cpu_seconds: int = 20
    memory_bytes: int = 512 * 2**20
    output_characters: int = 65_536
    queries: int = 1_000
    result_bytes: int = 16 * 2**20

    def __post_init__(self) -> None:
        if not (0 < self.seconds < math.inf and self.cpu_seconds >= 1 and self.memory_bytes > 0):
            raise InputError("test cases need time (at least 1 s of the processor's) and memory")
        if min(self.output_characters, self.queries, self.result_bytes) < 0:
            raise InputError("limits on output, queries and results cannot be negative")
