"""Confine a process that runs test cases.

There are three layers:

* a replacement for `__import__`, which allows only certain modules, and reports which import was refused;
* an audit hook, which denies all code access to files, processes, sockets and other modules;
* kernel limits on time, memory, files and processes.

This module imports only the standard library, because the confined process imports it.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import resource
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

from birdenv.processes.child import die_with_owner, set_limit

OFFERED: Final = frozenset(
    "abc bisect calendar collections copy dataclasses datetime decimal difflib enum fractions functools"
    " heapq itertools json math numbers operator random re statistics string textwrap time typing"
    " unicodedata __future__".split()
)
"""Modules of the standard library that a test may import."""

_ALWAYS: Final = ("datetime", "decimal", "json", "re")
_INTERNAL: Final = ("_strptime", "copyreg", "warnings")  # imported by C code on behalf of its caller
_HARMLESS: Final = frozenset(
    "array.__new__ builtins.id code.__new__ compile exec function.__new__ object.__delattr__"
    " object.__getattr__ object.__setattr__ sys._getframe time.sleep".split()
)
"""Audit events that are allowed."""

_INTERPRETER_BYTES: Final = 2**30  # of address space, if the system does not tell
_MOST_FILES: Final = 16
_NOBODY: Final = 65534
_ALARM_AFTER: Final = 5.0  # seconds after the wall-clock limit, which the owner enforces


class RefusedError(PermissionError):
    """A test case used something that is not available in the sandbox."""


class RefusedImportError(ImportError):
    """A test case imported a module that is not available in the sandbox."""


def preload(names: Iterable[str]) -> None:
    """Import the named modules that are available in the sandbox, because no file can be opened later."""
    for name in (*_ALWAYS, *_INTERNAL, *filter(_is_offered, names)):
        with contextlib.suppress(ImportError):  # the test's own import will report it
            importlib.import_module(name)


def confine(seconds: float, cpu_seconds: int, memory_bytes: int) -> None:
    """Confine this process to computing within limits and using file descriptors that are already open.

    `seconds` limits the wall-clock time, and `cpu_seconds` the CPU time.
    """
    limit(seconds, cpu_seconds, memory_bytes)
    sys.addaudithook(_refuse)


def limit(seconds: float, cpu_seconds: int, memory_bytes: int) -> None:
    """Set kernel limits, which kill the process with SIGXCPU (CPU time) or SIGALRM (wall clock).

    The process can no longer start processes. Because this limit does not apply to root, a root process
    becomes `nobody` if possible. On Linux, the process is also killed when its parent exits.
    """
    address_space = _address_space() + memory_bytes
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
    die_with_owner()  # again, because changing the user undoes it
    signal.setitimer(signal.ITIMER_REAL, seconds + _ALARM_AFTER)
    for which, soft, hard in (
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_AS, address_space, address_space),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, _MOST_FILES, _MOST_FILES),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # this system may not have the limit
            set_limit(which, soft, hard)


def imported(
    name: str,
    global_names: Mapping[str, object] | None = None,
    local_names: Mapping[str, object] | None = None,
    names: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    """Import a module, as a replacement for `__import__` in test cases.

    Raises `RefusedImportError` for modules that are not available.
    """
    if level or not (_is_offered(name) or name in _INTERNAL):
        raise RefusedImportError(f"imports {'.' * level}{name}, which is not available to tests", name=name)
    return builtins.__import__(name, global_names, local_names, names, level)


def _is_offered(name: str) -> bool:
    return name.partition(".")[0] in OFFERED


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _HARMLESS:
        return
    if event == "import":
        raise RefusedImportError(f"imports {arguments[0]}, which is not available to tests")
    raise RefusedError(f"uses {event}, which is not available to tests")


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statistics:  # noqa: PTH123 (pathlib takes long to import)
            return int(statistics.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return _INTERPRETER_BYTES
