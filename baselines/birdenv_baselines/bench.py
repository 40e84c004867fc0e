"""`make bench`: one table of ratios, each measured side by side in this run.

Contenders of a line take turns, so that a busy machine slows both; the figures are medians. Quote the ratio,
not the microseconds.
"""

from __future__ import annotations

import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import gymnasium
from gymnasium.spaces import Text

import birdenv
from birdenv.benchmarks import demo_folder
from birdenv.envs import UnicodeText

ROUNDS = 200
STATEMENT = "SELECT * FROM sqlite_master LIMIT 5"


@dataclass(frozen=True)
class Line:
    """`ours` and `plain` do the same work; `ratio` is how many times the plain way takes."""

    name: str
    plain_name: str
    ours: Callable[[], object]
    plain: Callable[[], object]


def measure(line: Line, rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of both contenders, interleaved."""
    times: tuple[list[float], list[float]] = ([], [])
    for contender in (line.ours, line.plain):
        contender()
    for _ in range(rounds):
        for contender, taken in zip((line.ours, line.plain), times, strict=True):
            start = time.perf_counter()
            contender()
            taken.append(time.perf_counter() - start)
    return median(times[0]), median(times[1])


def lines() -> list[Line]:
    text = "é" * 4096
    printable = "x" * 4096
    stock = Text(8192)
    space = UnicodeText(8192)
    folder = demo_folder()
    env = gymnasium.make("birdenv/BirdSql-v0", max_turns=999)
    env.reset(seed=0)
    action = birdenv.execute_sql(STATEMENT)
    name = sorted(path.stem for path in folder.glob("*/*.sqlite"))[0]
    database = folder / name / f"{name}.sqlite"
    return [
        Line(
            "text space: contains, 4,096 characters",
            "gymnasium Text",
            lambda: space.contains(text),
            lambda: stock.contains(printable),
        ),
        Line(
            "env.step(execute_sql), open episode",
            "new connection a statement",
            lambda: env.step(action),
            lambda: _plain_statement(database),
        ),
        Line(
            "env.reset and first statement",
            "file copy, connection, statement",
            lambda: (env.reset(options={"index": 0}), env.step(action)),
            lambda: _plain_episode(database),
        ),
    ]


def _plain_statement(database: Path) -> list[object]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(STATEMENT).fetchall()
    finally:
        connection.close()


def _plain_episode(database: Path) -> list[object]:
    with tempfile.TemporaryDirectory() as folder:
        return _plain_statement(Path(shutil.copyfile(database, Path(folder) / "copy.sqlite")))


def main() -> None:
    print(f"{platform.machine()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")
    print(f"{'what':<42}{'ours':>10}  {'against':<34}{'theirs':>10}{'times as fast':>15}")
    for line in lines():
        ours, plain = measure(line)
        print(
            f"{line.name:<42}{1e6 * ours:>7.1f} µs  {line.plain_name:<34}{1e6 * plain:>7.1f} µs"
            f"{plain / ours:>14.1f}x"
        )


if __name__ == "__main__":
    main()
