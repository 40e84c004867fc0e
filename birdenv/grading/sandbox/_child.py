"""Run the sources of test cases in a confined process, with the published helper functions.

This process has no database: `execute_queries`, `ex_base` and `remove_distinct` send requests to its parent.
The outcome of each step is reported as a cause and a line of text, which are the same in every run. This
module imports only the standard library.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn

from birdenv.grading.sandbox._confinement import RefusedError, RefusedImportError, confine, imported, preload
from birdenv.grading.sandbox._offered_functions import preprocess_results, remove_comments, remove_round
from birdenv.processes.child import OUT_OF_MEMORY, Owner

_LONGEST_REASON: Final = 300
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}")


class OutputError(Exception):
    """A test case printed more characters than its limit allows."""


def outcome_of(step: Callable[[], object]) -> tuple[str, str]:
    """Call `step`. Return how it ended (`TestOutcome.cause`), and an explanation in one line."""
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
            return "recurses too deeply"
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
    """Return the message of an error as one short line, which is the same in every run."""
    try:
        text = str(error)
    except Exception:
        return "(the text of the error cannot be shown)"
    text = " ".join(text[: 4 * _LONGEST_REASON].split())
    text = _ADDRESS.sub("0x…", text).encode(errors="backslashreplace").decode()
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


def main(owner: Owner) -> NoReturn:
    """Run the test cases that the parent sends, report the outcomes, and exit."""
    job = owner.receive()
    os.environ.clear()
    preload(job["imports"])
    sys.stdout = sys.stderr = _Output(job["output_characters"])
    confine(job["seconds"], job["cpu_seconds"], job["memory_bytes"])
    try:
        _run(job, owner)
        owner.answer(None)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (OSError, EOFError):
        pass  # the parent has exited, or a test has closed the connection
    os._exit(0)


def _run(job: Mapping[str, Any], owner: Owner) -> None:
    """Load all sources, then call their tests, until a step does not pass. Report the outcomes."""
    spaces = [_namespace(job["pred_rows"], owner) for _ in job["sources"]]
    for source, space in zip(job["sources"], spaces, strict=True):
        if not _report(owner, partial(_load, source, space)):
            return
    for names, space in zip(job["names"], spaces, strict=True):
        for name in names:
            arguments = (list(job["pred_sqls"]), list(job["sol_sqls"]), job["db_name"], _Connection())
            if not _report(owner, partial(_call, space, name, arguments)):
                return


def _load(source: str, space: dict[str, Any]) -> None:
    exec(compile(source, "<test case>", "exec", dont_inherit=True), space)


def _call(space: dict[str, Any], name: str, arguments: tuple[Any, ...]) -> None:
    test = space.get(name)
    if not callable(test) or isinstance(test, type):
        raise RefusedError("is no longer a function after its source has run")
    test(*arguments)


def _report(owner: Owner, step: Callable[[], object]) -> bool:
    cause, reason = outcome_of(step)
    owner.ask(["outcome", cause, reason])
    return cause == "passed"


class _Output(io.TextIOBase):
    """A text stream that discards its text, and raises an error after a number of characters."""

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
    """The argument `conn` of a test, which can only be passed on to `execute_queries`."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RefusedError(f"uses conn.{name}, which is not available to tests; use execute_queries")

    def __repr__(self) -> str:
        return "<conn>"


def _namespace(pred_rows: Any, owner: Owner) -> dict[str, Any]:
    """Return the globals of one source: the published functions, and builtins with a guarded import."""

    def ask(*request: Any) -> Any:
        return owner.ask(list(request))

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
    """Return the SQL as a list. Raises `TypeError` if it is neither a string nor a list of strings."""
    if isinstance(queries, str):
        return [queries]
    if isinstance(queries, (list, tuple)) and all(isinstance(query, str) for query in queries):
        return list(queries)
    raise TypeError(f"{function} takes an SQL string or a list of strings, not {type(queries).__name__}")
