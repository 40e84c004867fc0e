"""Worker processes: started when they are needed, used by one statement at a time, killed without regret."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, Final

from birdenv.databases._wire import Answer, decoded, receive, send
from birdenv.databases._worker import ANSWERED, UNUSABLE, Episode
from birdenv.errors import BirdenvError, InputError

__all__ = ["Worker", "WorkerDiedError", "workers"]

_FRAME_BYTES: Final = 64 * 2**20  # what a reply may have besides the rows that the limits allow
_KEPT_VARIABLES: Final = (
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "BIRDENV_SCRATCH",
)
# The package itself is not run (it would import every other room), only the modules of this one.
_PROGRAM: Final = """
import json, sys, types
sys.path[:], folder, descriptor = json.loads(sys.argv[1])
sys.modules["birdenv"] = types.ModuleType("birdenv")
sys.modules["birdenv"].__path__ = [folder]
from birdenv.databases._worker import main
main(descriptor)
"""


class WorkerDiedError(BirdenvError):
    """A worker ended while it ran a statement; `was_late`: the kernel ended it, because time was up."""

    def __init__(self, message: str, *, was_late: bool = False) -> None:
        super().__init__(message)
        self.was_late = was_late


class Worker:
    """One worker process."""

    def __init__(self) -> None:
        """Start it. Raises `InputError` if no process can be started."""
        ours, theirs = socket.socketpair()
        settings = json.dumps([sys.path, str(Path(__file__).parent.parent), theirs.fileno()])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, settings],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                process_group=0,
            )
        except OSError as error:
            ours.close()
            raise InputError(f"no worker process can be started: {error}") from error
        finally:
            theirs.close()
        self._connection = ours
        self._owner = os.getpid()

    @property
    def is_alive(self) -> bool:
        return self._is_ours and self._process.poll() is None

    @property
    def _is_ours(self) -> bool:
        """False in a forked child: the worker is the parent's."""
        return self._owner == os.getpid()

    def ask(
        self,
        episode: Episode | None,
        method: str,
        arguments: tuple[Any, ...],
        seconds: float,
        most_bytes: int,
    ) -> tuple[Answer, bool]:
        """The answer of the episode's database, and whether the episode now lives in this worker.

        `episode` is None where it does already. Raises `InputError` if the database cannot be used, and
        `WorkerDiedError` if the worker ends, or takes longer than `seconds`, which only a broken one does.
        Whatever else interrupts the waiting, the worker is killed.
        """
        if not self._is_ours:
            self.kill()
            raise WorkerDiedError("it belongs to the process that this one was forked from")
        try:
            self._connection.settimeout(seconds)
            send(self._connection, pickle.dumps((episode, method, arguments)))
            reply = receive(self._connection, most_bytes + _FRAME_BYTES)
            status, is_private, body = reply[:1], reply[1:2] == b"\1", reply[2:]
            if status == UNUSABLE:
                raise InputError(body.decode(errors="replace"))
            if status != ANSWERED:
                raise ValueError("an unknown kind of reply")
            return decoded(body), is_private
        except InputError:
            raise
        except TimeoutError:
            self.kill()
            raise WorkerDiedError("it did not answer", was_late=True) from None
        except (EOFError, OSError, ValueError) as error:
            self.kill()
            code = self._process.returncode
            if isinstance(error, ValueError):
                raise WorkerDiedError(f"its answer made no sense: {error}") from error
            raise WorkerDiedError(_cause(code), was_late=code == -signal.SIGALRM) from None
        except BaseException:  # Ctrl-C: nobody waits for this answer any more
            self.kill()
            raise

    def kill(self) -> None:
        """End the process; in a forked child, only let go of it."""
        with contextlib.suppress(OSError):
            self._connection.close()
        if not self._is_ours:
            self._process.returncode = 0  # no destructor may wait for a process that is not ours
            return
        try:
            self._process.wait(0.2)  # it may be dying already: its own exit code says of what
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Workers:
    """The idle workers of this process."""

    def __init__(self) -> None:
        self._idle: deque[Worker] = deque()

    def take(self) -> Worker:
        """An idle worker, or a new one; it is the caller's until it is given back."""
        while True:
            try:
                worker = self._idle.pop()
            except IndexError:
                return Worker()
            if worker.is_alive:
                return worker
            worker.kill()

    def give_back(self, worker: Worker) -> None:
        self._idle.append(worker)

    def end(self) -> None:
        """Kill the idle ones."""
        while self._idle:
            self._idle.pop().kill()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"


workers = _Workers()
atexit.register(workers.end)
os.register_at_fork(after_in_child=workers.end)
