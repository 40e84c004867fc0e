"""A verdict does not depend on how busy the machine is, up to four busy loops beside two cores.

Where others keep the machine busy already, a statement may get less than a quarter of a core, and then the
wall clock ends it: this test needs a machine of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from birdenv.databases import Limits, SqliteSource
from birdenv.grading import Pair, score_pairs

SECONDS = 0.5
HEAVY = 10
SHARES = [0.5 + 0.4 * number / (HEAVY - 1) for number in range(HEAVY)]
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT count(*) FROM n"


def steps_a_second(source: SqliteSource) -> float:
    """How much counting takes a second of processor time, at best."""
    steps = 200_000
    least = float("inf")
    with source.open("shop") as database:
        for _ in range(5):
            least = min(least, database.query(COUNT.format(steps)).elapsed)
    return steps / least


def share_of_a_core() -> float:
    began, used = time.monotonic(), time.thread_time()
    while time.monotonic() < began + 0.5:
        pass
    return (time.thread_time() - used) / (time.monotonic() - began)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_200_pairs_have_the_same_verdicts_beside_four_busy_loops(root: Path, workers: int) -> None:
    if share_of_a_core() < 0.8:
        pytest.skip("the machine is busy with something else")
    source = SqliteSource(root)
    speed = steps_a_second(SqliteSource(root))
    counts = [int(share * SECONDS * speed) for share in SHARES]
    pairs = [Pair("shop", (f"SELECT {count}",), COUNT.format(count)) for count in counts]
    light = ["SELECT name FROM item", "SELECT nam FROM item", "SELECT name FROM item ORDER BY 1"]
    pairs += [Pair("shop", (f"SELECT name FROM item WHERE id < {n}",), light[n % 3]) for n in range(190)]

    def verdicts() -> list[str]:
        found = score_pairs(pairs, source, limits=Limits(seconds=SECONDS), workers=workers)
        return [verdict.status for verdict in found]

    idle = verdicts()
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        busy = verdicts()
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert idle[:HEAVY] == ["passed"] * HEAVY
    assert [pair for pair, then, now in zip(pairs, idle, busy, strict=True) if then != now] == []
