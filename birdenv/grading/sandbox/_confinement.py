"""What a process that runs test cases may do, and what stops it otherwise.

Three layers: an import that refuses what is not offered, with a message for the author of the test; an audit
hook of Python that refuses files, processes, sockets and every other import, whoever asks; and limits of the
kernel on time, memory, files and processes. Imported in the tests' process: standard library only.
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
_INTERNAL: Final = ("_strptime", "copyreg", "warnings")  # what C code imports in the name of its caller
_HARMLESS: Final = frozenset(
    "array.__new__ builtins.id code.__new__ compile exec function.__new__ object.__delattr__"
    " object.__getattr__ object.__setattr__ sys._getframe time.sleep".split()
)
"""Audit events that are let through."""

_INTERPRETER_BYTES: Final = 2**30  # of address space, where the system does not tell
_MOST_FILES: Final = 16
_NOBODY: Final = 65534
_ALARM_AFTER: Final = 5.0  # seconds beyond the wall clock, which is the owner's business


class RefusedError(PermissionError):
    """A test asked for something that is not offered."""


class RefusedImportError(ImportError):
    """A test asked for a module that is not offered."""


def preload(names: Iterable[str]) -> None:
    """Import what is offered of the modules that the tests will import: later no file can be opened."""
    for name in (*_ALWAYS, *_INTERNAL, *filter(_is_offered, names)):
        with contextlib.suppress(ImportError):  # a test that asks for it will be told
            importlib.import_module(name)


def confine(seconds: float, cpu_seconds: int, memory_bytes: int) -> None:
    """Confine this process: from now on it can compute, within limits, and use what is already open."""
    limit(seconds, cpu_seconds, memory_bytes)
    sys.addaudithook(_refuse)


def limit(seconds: float, cpu_seconds: int, memory_bytes: int) -> None:
    """Set the kernel's limits. They end the process: SIGXCPU for the processor's time, SIGALRM for the clock.

    No process can be started: root, to whom that limit does not apply, becomes nobody first, where it may.
    The process ends with its owner (Linux), at the latest with the alarm.
    """
    address_space = _address_space() + memory_bytes
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
    die_with_owner()  # again: the change of user undoes it
    signal.setitimer(signal.ITIMER_REAL, seconds + _ALARM_AFTER)
    for which, soft, hard in (
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_AS, address_space, address_space),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, _MOST_FILES, _MOST_FILES),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a limit that this system does not know
            set_limit(which, soft, hard)


def imported(
    name: str,
    global_names: Mapping[str, object] | None = None,
    local_names: Mapping[str, object] | None = None,
    names: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    """Return `__import__` for tests. Raises `RefusedImportError` for what is not offered."""
    if level or not (_is_offered(name) or name in _INTERNAL):
        raise RefusedImportError(f"imports {'.' * level}{name}, which is not offered to tests", name=name)
    return builtins.__import__(name, global_names, local_names, names, level)


def _is_offered(name: str) -> bool:
    return name.partition(".")[0] in OFFERED


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _HARMLESS:
        return
    if event == "import":
        raise RefusedImportError(f"imports {arguments[0]}, which is not offered to tests")
    raise RefusedError(f"uses {event}, which is not offered to tests")


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statistics:  # noqa: PTH123 (pathlib takes long to import)
            return int(statistics.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return _INTERPRETER_BYTES
