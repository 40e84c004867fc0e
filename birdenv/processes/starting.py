"""Start child processes that do not outlive their parent, and end them.

A child process runs `birdenv.processes.child.run`. To call it, use `birdenv.processes.process`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Literal, TypeAlias

Sees: TypeAlias = Literal["modules", "nothing", "everything"]
"""How much of its owner's environment a child process sees.

`modules`, for birdenv's own workers: the import path, and the variables for language, time zone and folders.
Importing a module does not run the `__init__` of its package, which would import other packages.
`nothing`, for confined code: only the standard library, in a temporary folder.
`everything`, for foreign code that needs keys and files: the same variables, working directory and packages.
"""

_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # to find the interpreter's own libraries
_PLACE_VARIABLES: Final = ("LANG", "LC_ALL", "TZ", "TMPDIR", "BIRDENV_SCRATCH")
_FIXED_VARIABLES: Final = {"PYTHONHASHSEED": "0", "TZ": "UTC"}  # for deterministic sets and local times
_OPTIONS: Final[dict[Sees, list[str]]] = {  # similar to -I, which would ignore PYTHONHASHSEED
    "modules": ["-P", "-s", "-S"],
    "nothing": ["-P", "-s", "-S", "-B", "-W", "ignore"],
    "everything": [],
}
_PROGRAM: Final = """
import json, sys, types
path, packages, arguments = json.loads(sys.argv.pop())
sys.path[:] = sys.path if path is None else path
for name, folder in packages.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from birdenv.processes.child import run
run(*arguments)
"""
_ROOT: Final = Path(__file__).parents[2]
_GRACE_SECONDS: Final = 0.2  # for a process to end by itself


def start_process(module: str, passed: Sequence[int], sees: Sees) -> subprocess.Popen[bytes]:
    """Start a process that runs the function `main` of a module.

    Args:
        module: the name of the module.
        passed: the file descriptors that stay open in the process: first the child's end of the connection,
            and then the additional arguments for `main`.
        sees: which parts of the parent's environment the process sees.

    Raises:
        OSError: no process can be started.
    """
    return _in_lasting_thread(lambda: _started(module, passed, sees))


def _started(module: str, passed: Sequence[int], sees: Sees) -> subprocess.Popen[bytes]:
    packages, path = {}, None if sees == "nothing" else sys.path
    if sees != "everything":
        parts = module.split(".")[:-1] if module.startswith("birdenv.") else ["birdenv"]
        packages = {".".join(parts[:n]): str(_ROOT.joinpath(*parts[:n])) for n in range(1, len(parts) + 1)}
    arguments = (module, os.getpid(), passed[0], passed[1:], sees)
    with contextlib.ExitStack() as stack:
        folder: str | None = None
        if sees == "nothing":  # a folder that is deleted as soon as it runs, so that nothing can be created
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="birdenv-child-"))
        elif sees == "modules":
            folder = "/"
        settings = json.dumps((path, packages, arguments))
        return subprocess.Popen(
            [sys.executable, *_OPTIONS[sees], "-c", _PROGRAM, settings],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if sees == "nothing" else None,
            pass_fds=passed,
            cwd=folder,
            env=_variables(sees),
            start_new_session=True,
        )


def _variables(sees: Sees) -> dict[str, str] | None:
    if sees == "everything":
        return None
    names = _KEPT_VARIABLES if sees == "nothing" else _KEPT_VARIABLES + _PLACE_VARIABLES
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | _FIXED_VARIABLES if sees == "nothing" else kept


def end_process(process: subprocess.Popen[bytes], connection: socket.socket, owner: int) -> None:
    """Close the connection to a process, and kill the process if it does not exit.

    Args:
        process: the process.
        connection: the connection to the process.
        owner: the id of the process that started `process`. In any other process, only the connection is
            closed.
    """
    with contextlib.suppress(OSError):
        connection.close()
    if owner != os.getpid():
        process.returncode = 0  # keeps the destructor from waiting for the process of another owner
        return
    try:
        process.wait(_GRACE_SECONDS)
    except BaseException as error:
        strike(process)
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


def strike(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its process group, without waiting for them to exit."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: the process has ended
            os.killpg(process.pid, signal.SIGKILL)


def _in_lasting_thread(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process from a permanent thread, because the process is killed when its thread exits."""
    if threading.current_thread() is threading.main_thread():
        return start()
    started: Future[subprocess.Popen[bytes]] = Future()
    try:
        _starts().put((start, started))
    except RuntimeError:  # no thread can be started: the interpreter is about to end
        return start()
    return started.result()


@lru_cache(maxsize=1)
def _starts() -> SimpleQueue[tuple[Callable[[], Any], Future[Any]]]:
    """Return the queue of the permanent thread, which is started by the first call."""
    starts: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()

    def run() -> None:
        while True:
            start, started = starts.get()
            try:
                started.set_result(start())
            except BaseException as error:
                started.set_exception(error)

    threading.Thread(target=run, name="birdenv-processes", daemon=True).start()
    return starts


os.register_at_fork(after_in_child=_starts.cache_clear)
