"""For the tests of child processes: obeying ones, and whether a process still runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from birdenv.processes.process import ChildProcess


@pytest.fixture
def process() -> Iterator[ChildProcess]:
    started = ChildProcess("obeying_child")
    yield started
    started.close()


@pytest.fixture
def ends() -> Callable[[int], bool]:
    """Whether a process has ended in some seconds."""

    def is_running(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def ended(pid: int) -> bool:
        deadline = time.monotonic() + 10
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        return not is_running(pid)

    return ended
