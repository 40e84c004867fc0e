"""A process that opens episodes, keeps them open, and prints what memory that took, as JSON.

python -m birdenv_baselines.bench._memory_probe writing|reading FOLDER DB_ID ORDERS EPISODES
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from birdenv.databases import Limits, QueryError, Result, SqliteSource

__all__ = ["CEILING_MB", "SMAPS"]

SMAPS = Path("/proc/self/smaps_rollup")
CEILING_MB = 1_000
"""No more episodes are opened beyond this, for the machine's sake."""

_STATUS = Path("/proc/self/status")


def _megabytes() -> dict[str, float]:
    """Private dirty, anonymous and all resident pages of this process (`proc(5)`), in MB."""
    return {
        "private_dirty_mb": _field(SMAPS, "Private_Dirty"),
        "rss_anon_mb": _field(_STATUS, "RssAnon"),
        "rss_mb": _field(SMAPS, "Rss"),
    }


def _field(file: Path, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB$", file.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{file} has no {name}")
    return int(found[1]) * 1024 / 1e6


def _use(execute: Callable[[str], Result], kind: str, first: int, last: int) -> None:
    statements = [f"SELECT count(*), sum(length(note)) FROM orders WHERE id BETWEEN {first} AND {last}"]
    if kind == "writing":
        statements = [
            "CREATE TABLE found (id INTEGER PRIMARY KEY, total REAL)",
            "INSERT INTO found SELECT id, total FROM orders LIMIT 5",
            "SELECT * FROM found",
        ]
    for sql in statements:
        result = execute(sql)
        if isinstance(result, QueryError):
            raise SystemExit(f"{sql}: {result.message}")


def main() -> None:
    kind, folder, db_id = sys.argv[1:4]
    orders, episodes = map(int, sys.argv[4:])
    source = SqliteSource(folder)
    opened = 0
    with ExitStack() as stack:
        before = _megabytes()
        while (
            opened < episodes and _megabytes()["private_dirty_mb"] - before["private_dirty_mb"] < CEILING_MB
        ):
            database = stack.enter_context(source.open(db_id, Limits()))
            part = orders // episodes
            _use(database.execute, kind, 1 + opened * part, (opened + 1) * part)
            opened += 1
        added = {name: value - before[name] for name, value in _megabytes().items()}
    print(json.dumps({"opened": opened, **added}))


if __name__ == "__main__":
    main()
