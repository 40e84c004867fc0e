"""How much memory this machine, or the container around this process, has left."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MACHINE: Final = Path("/proc/meminfo")
_CONTAINER: Final = Path("/sys/fs/cgroup")


def memory_left() -> int | None:
    """Return the bytes that processes can still take; None where the kernel does not tell (macOS)."""
    known = [left for left in (_of_machine(), _of_container()) if left is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MACHINE.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        most = int((_CONTAINER / "memory.max").read_text())  # "max" where there is no limit
        used = int((_CONTAINER / "memory.current").read_text())
        cached = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
        return most - used + int(cached["inactive_file"])
    except (OSError, KeyError, ValueError):
        return None
