"""How much memory scoring takes at its peak, in all its processes, as watched from outside."""

from __future__ import annotations

import re
import selectors
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from birdenv_baselines.bench._measure import Skip

__all__ = ["anonymous_megabytes", "own_megabytes", "peak_megabytes"]

_EVERY_SECONDS: Final = 0.02
_PROCESSES: Final = Path("/proc")


def peak_megabytes(folder: Path) -> float:
    """MB that scoring large answers adds to the anonymous memory of the process and of those below it.

    `folder` holds the databases. Raises `Skip` where there is no `/proc`.
    """
    if not (_PROCESSES / "self" / "status").is_file():
        raise Skip(f"there is no {_PROCESSES} on this system")
    command = [sys.executable, "-m", "birdenv_baselines.bench._scoring_probe", str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as probe:
        assert probe.stdin is not None and probe.stdout is not None and probe.stderr is not None
        if probe.stdout.readline() != "ready\n":
            raise RuntimeError(probe.stderr.read().strip())
        before = peak = anonymous_megabytes(probe.pid)
        probe.stdin.write("\n")
        probe.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(probe.stdout, selectors.EVENT_READ)
            while not selector.select(_EVERY_SECONDS):
                peak = max(peak, anonymous_megabytes(probe.pid))
        if probe.stdout.readline() != "done\n":
            raise RuntimeError(probe.stderr.read().strip())
    return peak - before


def anonymous_megabytes(process: int) -> float:
    """MB of anonymous memory of a process and all below it (`proc(5)`); 0 if there is none."""
    parents = {}
    for folder in _PROCESSES.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has just ended
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(map(own_megabytes, family))


def own_megabytes(process: int) -> float:
    """MB of anonymous memory of one process; 0 if it has ended."""
    with suppress(OSError):
        status = (_PROCESSES / str(process) / "status").read_text()
        found = re.search(r"^RssAnon:\s+(\d+) kB$", status, re.MULTILINE)
        return int(found[1]) * 1024 / 1e6 if found else 0.0
    return 0.0
