"""A process of ours that is made to be killed: it starts with one module of this package and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from birdenv.errors import BirdenvError, InputError

_KEPT_VARIABLES: Final = (
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "BIRDENV_SCRATCH",
)
# The package itself is not run (it would import every other room), only the modules that are asked for.
_PROGRAM: Final = """
import importlib, json, sys, types
sys.path[:], folder, module, descriptors = json.loads(sys.argv[1])
sys.modules["birdenv"] = types.ModuleType("birdenv")
sys.modules["birdenv"].__path__ = [folder]
importlib.import_module(module).main(*descriptors)
"""


class WorkerDiedError(BirdenvError):
    """A worker ended while it ran a statement; `was_late`: the kernel ended it, because time was up."""

    def __init__(self, message: str, *, was_late: bool = False) -> None:
        super().__init__(message)
        self.was_late = was_late


class WorkerProcess:
    """A process that runs `main` of a module of this package, at the other end of a socket.

    It sees none of the owner's environment but what a program needs to run, has a process group of its own
    (Ctrl-C in a terminal is the owner's business), and learns of its owner's end by the end of the socket.
    """

    def __init__(self, module: str, descriptors: Sequence[int] = ()) -> None:
        """Start it. `main` gets the number of its end of the socket, then the `descriptors`, which stay open
        for it. Raises `InputError` if no process can be started."""
        ours, child_end = socket.socketpair()
        passed = [child_end.fileno(), *descriptors]
        settings = json.dumps([sys.path, str(Path(__file__).parent.parent), module, passed])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, settings],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=passed,
                cwd="/",
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                process_group=0,
            )
        except OSError as error:
            ours.close()
            raise InputError(f"no worker process can be started: {error}") from error
        finally:
            child_end.close()
        self.connection = ours
        self._owner = os.getpid()

    @property
    def is_alive(self) -> bool:
        return self.is_ours and self._process.poll() is None

    @property
    def is_ours(self) -> bool:
        """False in a forked child: the worker is the parent's."""
        return self._owner == os.getpid()

    def death(self) -> WorkerDiedError:
        """Why it ended, once `kill` has been called."""
        code = self._process.returncode
        return WorkerDiedError(_cause(code), was_late=code == -signal.SIGALRM)

    def kill(self) -> None:
        """End the process; in a forked child, only let go of it."""
        with contextlib.suppress(OSError):
            self.connection.close()
        if not self.is_ours:
            self._process.returncode = 0  # no destructor may wait for a process that is not ours
            return
        try:
            self._process.wait(0.2)  # it may be dying already: its own exit code says of what
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"
