"""Run the embedded server while any process is using it. This program takes one argument, in JSON.

Every process that uses the server holds a shared lock on one file, which the system releases when the process
ends for any reason. The keeper, which is the process that runs this program, regularly tries to lock the file
exclusively. If it succeeds for `_LINGER_SECONDS`, no process is using the server, so the keeper stops the
server. While a file named `stay` exists, the server runs even if no process uses it.

The program imports only the standard library.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_PAUSE = 0.1  # seconds between two checks
_LINGER_SECONDS = 1.0  # without users, until the server is stopped
_MOST_LOG = 4_000_000  # bytes
_MOST_MEMORY = 3 * 2**29  # bytes for each session: handling a value of 256 MiB takes four times as much
_LOG = 2  # standard error, opened for appending
_PARENT_DEATH_SIGNAL = 1  # of prctl(2)
_ADOPT_ORPHANS = 36
_UNTIL_IMMEDIATE = 20.0  # seconds that an orderly stop may take
_UNTIL_KILLED = 10.0


def main(setting: dict[str, Any]) -> int:
    """Run the server until no process is using it. Return the server's exit code.

    Args:
        setting: the fields `command` and `account` (how to start the server), and `keeper`, `users`, `stay`
            and `session` (the paths of these files, see `ServerPaths`).
    """
    held = os.open(setting["keeper"], os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)  # a process that checks for a keeper holds it for a moment
    os.ftruncate(held, 0)
    os.write(held, f"{os.getpid()}\n".encode())
    users = os.open(setting["users"], os.O_RDWR | os.O_CLOEXEC)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(_ADOPT_ORPHANS, 1)
    server = subprocess.Popen(
        setting["command"],
        preexec_fn=_prepare,
        stdin=subprocess.DEVNULL,
        **setting["account"],
    )
    with suppress(KeyboardInterrupt):
        _watch(server, users, Path(setting["stay"]))
    code = _stop(server)
    if code == 0:
        with suppress(FileNotFoundError):
            Path(setting["session"]).unlink()
    _kill_orphans()
    return code


def _watch(server: subprocess.Popen[bytes], users: int, stay: Path) -> None:
    """Return when the server has ended or has had no users for a second, with `users` still locked."""
    alone_since = None
    while server.poll() is None:
        if os.fstat(_LOG).st_size > _MOST_LOG:  # a session that runs out of memory logs a lot
            os.ftruncate(_LOG, 0)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            alone_since = None
        else:
            now = time.monotonic()
            alone_since = alone_since or now
            if now - alone_since >= _LINGER_SECONDS and not stay.exists():
                return
            fcntl.flock(users, fcntl.LOCK_UN)
        time.sleep(_PAUSE)


def _stop(server: subprocess.Popen[bytes]) -> int:
    for sign, seconds in (
        (signal.SIGINT, _UNTIL_IMMEDIATE),  # end all sessions, and write all data
        (signal.SIGQUIT, _UNTIL_KILLED),
        (signal.SIGKILL, None),
    ):
        if server.poll() is None:
            server.send_signal(sign)
        with suppress(subprocess.TimeoutExpired):
            return server.wait(seconds)
    return server.wait()


def _kill_orphans() -> None:
    """Kill the sessions that a killed server left behind, because a new server cannot start beside them."""
    for children in Path("/proc/self/task").glob("*/children"):
        for number in children.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _prepare() -> None:
    """Run before the server starts: make it exit with the keeper, and limit the memory of its processes.

    The limit covers a process's own data, excluding shared buffers and the stack. If a process reaches it,
    PostgreSQL reports an error for one statement, and no process exits. Systems other than Linux count
    differently.
    """
    _prctl(_PARENT_DEATH_SIGNAL, signal.SIGINT)
    if sys.platform == "linux":
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        memory = _MOST_MEMORY if most == resource.RLIM_INFINITY else min(_MOST_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
