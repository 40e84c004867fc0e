"""Find the descendants of a process, and measure the memory of processes, with Linux's `/proc`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from birdenv_baselines.bench._measure import Skip

__all__ = ["below", "megabytes"]

_PROC: Final = Path("/proc")


def below(process: int) -> set[int]:
    """Return the ids of all running descendants of a process.

    Raises:
        Skip: this system has no `/proc`.
    """
    if not (_PROC / "self" / "stat").is_file():
        raise Skip("not measured: this system has no /proc")
    parents = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has just ended
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    parents[int(folder.name)] = int(parent)
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family - {process}


def megabytes(processes: set[int]) -> float:
    """Return the memory of processes in MB, counting each shared page only once (`Pss`)."""
    kilobytes = 0
    for process in processes:
        with suppress(OSError):
            lines = (_PROC / str(process) / "smaps_rollup").read_text().splitlines()
            kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes * 1024 / 1e6
