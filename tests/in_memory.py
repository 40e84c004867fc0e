"""Temporary files of a test run in memory: one folder for all its processes, gone with the run.

Small databases are written thousands of times, and a disk takes most of the time of that. Where the machine
has a file system in memory with room, `TMPDIR` leads there: pytest's `tmp_path`, the scratch folder of
episodes and PostgreSQL's data follow it. Tests with the mark `disk` get a `tmp_path` where temporary files
are otherwise. `--basetemp` keeps what tests wrote, at the place it names.

A process of its own waits for the end of the run, however it ends, ends what the run left (on Linux all that
inherited its environment, elsewhere the PostgreSQL server), and removes the folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

_MEMORY: Final = Path("/dev/shm")
_LEAST_FREE: Final = 2 * 2**30  # bytes
FOLDER: Final = "BIRDENV_TESTS_FOLDER"
_DISK: Final = "BIRDENV_TESTS_DISK"
"""Environment variables: the folder of this run, and where temporary files are otherwise."""

_KEEPER: Final = """
import os, pathlib, shutil, signal, sys, time
folder = pathlib.Path(sys.argv[1])
mark = f"{sys.argv[2]}={folder}".encode()

def end(process, how):
    try:
        os.kill(process, how)
    except OSError:
        pass

def left():
    for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environment.read_bytes().split(bytes(1)):
                yield int(environment.parent.name)
        except OSError:
            pass

sys.stdin.read()  # until the test run closes it or ends
server = folder / "postgres" / "postmaster.pid"
if server.exists():  # nobody ended who was to stop it
    end(int(server.read_text().split()[0]), signal.SIGINT)
deadline = time.monotonic() + 5
while (server.exists() or any(left())) and time.monotonic() < deadline:
    time.sleep(0.05)
for process in left():
    end(process, signal.SIGKILL)
while any(left()) and time.monotonic() < deadline + 5:
    time.sleep(0.05)
for link in folder.rglob("pg_tblspc/*"):  # of servers that were killed
    if link.is_symlink():
        shutil.rmtree(os.readlink(link), ignore_errors=True)
shutil.rmtree(folder, ignore_errors=True)
"""


def pytest_configure(config: pytest.Config) -> None:
    """Move temporary files, before anything asks where they go and before the workers start."""
    if hasattr(config, "workerinput"):
        return
    usual = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="birdenv-tests-", dir=_MEMORY if _has_room() else usual))
    folder.chmod(0o755)  # root's PostgreSQL server, which is not root, has to get in
    command = [sys.executable, "-I", "-S", "-c", _KEEPER, str(folder), FOLDER]
    keeper = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, cwd="/")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    os.environ |= {
        "TMPDIR": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),  # a run owes nothing to those before it
        "MPLCONFIGDIR": str(Path(cache, "matplotlib")),  # but its list of fonts takes long to make
        FOLDER: str(folder),
        _DISK: usual,
    }
    tempfile.tempdir = None
    if config.option.basetemp is None:
        config.option.basetemp = folder / "tests"
    # Not at the end of the session: without workers this process has things of its own to end after that.
    atexit.register(_clean_up, keeper, os.getpid())


def _clean_up(keeper: subprocess.Popen[bytes], process: int) -> None:
    if process == os.getpid():  # no forked child
        keeper.communicate()


def _has_room() -> bool:
    try:
        return shutil.disk_usage(_MEMORY).free >= _LEAST_FREE
    except OSError:
        return False


@pytest.fixture(scope="session")
def on_disk() -> Iterator[Path]:
    """A folder where temporary files are without us, for all tests of a process."""
    folder = Path(tempfile.mkdtemp(prefix="birdenv-test-", dir=os.environ[_DISK]))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """pytest's own, for tests with the mark `disk` on the disk."""
    if request.node.get_closest_marker("disk") is None:
        return tmp_path
    on_disk: Path = request.getfixturevalue("on_disk") / tmp_path.name
    on_disk.mkdir()
    return on_disk
