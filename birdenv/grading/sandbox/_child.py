"""What runs in the process of test cases: their sources, in a namespace of the published names.

The process has no database: `execute_queries`, `ex_base` and `remove_distinct` are requests to its owner.
Standard library only: the rest of the package is not imported here.

What a process that runs test cases may do, and what stops it otherwise.

Three layers: an import that refuses what is not offered, with a message for the author of the test; an audit
hook of Python that refuses files, processes, sockets and every other import, whoever asks; and limits of the
kernel on time, memory, files and processes. Imported in the tests' process: standard library only.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import json
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn

from birdenv.grading.sandbox._offered_functions import preprocess_results, remove_comments, remove_round
from birdenv.processes._child import die_with_owner, set_limit
from birdenv.processes._messages import decoded, encoded, receive, send

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
    """A test asked for what is not offered."""


class RefusedImportError(ImportError):
    """A test asked for a module that is not offered."""


def preload(names: Iterable[str]) -> None:
    """Import what is offered of the modules that the tests will import: later no file can be opened."""
    for name in (*_ALWAYS, *_INTERNAL, *filter(_is_offered, names)):
        with contextlib.suppress(ImportError):  # a test that asks for it will be told
            importlib.import_module(name)


def confine(seconds: float, cpu_seconds: int, memory_bytes: int) -> None:
    """From here on nothing but computing, within limits, and talking over what is already open."""
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
    """`__import__` for tests. Raises `RefusedImportError` for what is not offered."""
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


OUT_OF_MEMORY: Final = 77
"""Exit code where not even the message could be made."""

_LONGEST_REASON: Final = 300
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def main(connection: socket.socket) -> NoReturn:
    """Do one job and end the process."""
    job = decoded(receive(connection))
    os.environ.clear()
    preload(job["imports"])
    sys.stdout = sys.stderr = _Output(job["output_characters"])
    confine(job["seconds"], job["cpu_seconds"], job["memory_bytes"])
    try:
        _run(job, connection)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (OSError, EOFError):
        pass  # the owner is gone, or a test has closed the connection
    os._exit(0)


def _run(job: Mapping[str, Any], connection: socket.socket) -> None:
    """Load the sources, then run their tests, one outcome each; the first that does not pass is the last."""
    spaces = [_namespace(job["pred_rows"], connection) for _ in job["sources"]]
    for source, space in zip(job["sources"], spaces, strict=True):
        if not _report(connection, partial(_load, source, space)):
            return
    for names, space in zip(job["names"], spaces, strict=True):
        for name in names:
            arguments = (list(job["pred_sqls"]), list(job["sol_sqls"]), job["db_name"], _Connection())
            if not _report(connection, partial(_call, space, name, arguments)):
                return


def _load(source: str, space: dict[str, Any]) -> None:
    exec(compile(source, "<test case>", "exec", dont_inherit=True), space)


def _call(space: dict[str, Any], name: str, arguments: tuple[Any, ...]) -> None:
    test = space.get(name)
    if not callable(test) or isinstance(test, type):
        raise RefusedError("is no function any more once its source has run")
    test(*arguments)


def _report(connection: socket.socket, step: Callable[[], object]) -> bool:
    cause, reason = _outcome(step)
    send(connection, encoded(["outcome", cause, reason]))
    return cause == "passed"


def _outcome(step: Callable[[], object]) -> tuple[str, str]:
    """The cause, as `TestOutcome` has it, and one line on it."""
    try:
        step()
    except BaseException as error:
        return _cause(error), _line(error)
    return "passed", ""


def _cause(error: BaseException) -> str:
    if isinstance(error, (MemoryError, RecursionError, OutputError)):
        return "limit"
    if not isinstance(error, Exception):
        return "process"
    if isinstance(error, AssertionError):
        return "assertion"
    if isinstance(error, (RefusedError, ImportError, SyntaxError)):
        return "harness"
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return "harness"
    if isinstance(error, AttributeError) and isinstance(error.obj, (ModuleType, FunctionType, type)):
        return "harness"
    return "exception"


def _line(error: BaseException) -> str:
    match error:
        case MemoryError():
            return "runs out of memory"
        case RecursionError():
            return "recurses without end"
        case RefusedError() | RefusedImportError() | OutputError():
            return _text(error)
        case SystemExit():
            return "ends its process (SystemExit)"
        case AssertionError():
            return f"assertion failed: {_text(error)}" if error.args else "assertion failed"
    text = _text(error)
    kind = type(error).__name__
    return f"raises {kind}: {text}" if text else f"raises {kind}"


def _text(error: BaseException) -> str:
    """One short line, the same in every run."""
    try:
        text = str(error)
    except Exception:
        return "(its text cannot be made)"
    text = " ".join(text[: 4 * _LONGEST_REASON].split())
    text = _ADDRESS.sub("0x…", text).encode(errors="backslashreplace").decode()
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


class OutputError(Exception):
    """A test prints more than is swallowed."""


class _Output(io.TextIOBase):
    """Swallows what is printed, up to so many characters."""

    def __init__(self, most_characters: int) -> None:
        self._left = self._most = most_characters

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._left -= len(text)
        if self._left < 0:
            raise OutputError(f"prints more than {self._most} characters")
        return len(text)


class _Connection:
    """The `conn` of a test: something to hand to `execute_queries`, and nothing else."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RefusedError(f"uses conn.{name}, which is not offered to tests: execute_queries is")

    def __repr__(self) -> str:
        return "<conn>"


def _namespace(pred_rows: Any, connection: socket.socket) -> dict[str, Any]:
    """The globals of one source: the published names, and Python's own with a guarded import."""

    def ask(*request: Any) -> Any:
        send(connection, encoded(list(request)))
        return decoded(receive(connection))

    def execute_queries(
        queries: str | list[str], db_name: Any = None, conn: Any = None, *_: Any, **__: Any
    ) -> tuple[Any, bool, bool]:
        rows, failed, timed_out = ask("execute", _sqls(queries, "execute_queries"))
        return rows, failed, timed_out

    def ex_base(
        pred_sqls: str | list[str],
        sol_sqls: str | list[str],
        db_name: Any = None,
        conn: Any = None,
        conditions: Mapping[str, Any] | None = None,
    ) -> int:
        wanted = conditions or {}
        distinct = wanted.get("distinct")
        rules = [
            int(wanted.get("decimal", -1)),
            None if distinct is None else bool(distinct),
            bool(wanted.get("order", False)),
        ]
        return int(ask("compare", _sqls(pred_sqls, "ex_base"), _sqls(sol_sqls, "ex_base"), *rules))

    def remove_distinct(sqls: str | list[str]) -> str | list[str]:
        without: list[str] = ask("without_distinct", _sqls(sqls, "remove_distinct"))
        return without[0] if isinstance(sqls, str) else without

    own = {**vars(builtins), "__import__": imported}
    return {
        "__name__": "test_case",
        "__builtins__": own,
        "Decimal": Decimal,
        "date": date,
        "datetime": datetime,
        "ex_base": ex_base,
        "execute_queries": execute_queries,
        "json": json,
        "pred_query_result": pred_rows,
        "preprocess_results": preprocess_results,
        "re": re,
        "remove_comments": remove_comments,
        "remove_distinct": remove_distinct,
        "remove_round": remove_round,
    }


def _sqls(queries: Any, function: str) -> list[str]:
    """The SQL as a list. Raises `TypeError` for what is neither text nor a list of texts."""
    if isinstance(queries, str):
        return [queries]
    if isinstance(queries, (list, tuple)) and all(isinstance(query, str) for query in queries):
        return list(queries)
    raise TypeError(f"{function} takes SQL text or a list of texts, not {type(queries).__name__}")
