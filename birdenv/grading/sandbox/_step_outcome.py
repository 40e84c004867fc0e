"""How one step of the tests ended: the cause of an error, and one line on it that is the same in every run.

Imported in the tests' process: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Final

from birdenv.grading.sandbox._confinement import RefusedError, RefusedImportError

_LONGEST_REASON: Final = 300
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}")


class OutputError(Exception):
    """A test prints more than is swallowed."""


def outcome_of(step: Callable[[], object]) -> tuple[str, str]:
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
