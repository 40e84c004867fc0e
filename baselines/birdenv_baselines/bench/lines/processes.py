"""Measure the cost of worker processes: the time for the first statement, their number, and their memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from typing import Any, Final

from birdenv_baselines.bench._databases import SIZES
from birdenv_baselines.bench._measure import Bar, Figure, Line, Setting, spread
from birdenv_baselines.bench._tasks import Task
from birdenv_baselines.bench.lines import _open_episodes

__all__ = ["lines"]

_SIZE: Final = SIZES[0]
_READING: Final = "SELECT * FROM orders WHERE id < 100"
_WRITING: Final = "UPDATE orders SET total = total + 1 WHERE id < 100"


def lines(quick: bool) -> list[Line]:
    """Return the lines about worker processes; `quick` reduces the number of writing episodes."""
    writing = 20 if quick else 200
    workers = Bar("at most", 2.0 * (os.cpu_count() or 1))
    return [
        Line("the first statement of a process", "", _first, Bar("at most", 150.0), (_SIZE,)),
        Line("64 reading environments, workers", "", partial(_open, _READING, 64), workers, (_SIZE,)),
        Line(f"{writing} writing episodes, workers", "", partial(_open, _WRITING, writing), None, (_SIZE,)),
    ]


def _first(setting: Setting) -> Figure:
    seconds = [_probed(setting, _READING, 1)["first"] for _ in range(setting.rounds)]
    return spread([1e3 * each for each in seconds], "ms", note="from opening an episode to its first rows")


def _open(sql: str, number: int, setting: Setting) -> Figure:
    found = _probed(setting, sql, number)
    memory = f"{found['before']:,.0f} MB with none open, {found['after']:,.0f} MB with all"
    note = f"{memory}, of the process and its workers; what they share counts once"
    return Figure(found["workers"], "processes", note=note)


def _probed(setting: Setting, sql: str, number: int) -> dict[str, Any]:
    task = Task(_SIZE.db_id, "SELECT 1", "")
    command = [
        sys.executable,
        "-m",
        _open_episodes.__name__,
        str(setting.folder),
        str(setting.scratch),
        task.db_id,
        sql,
        str(number),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["the process died"])[-1])
    found: dict[str, Any] = json.loads(done.stdout)
    return found
