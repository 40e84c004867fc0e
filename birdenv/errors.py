"""The errors of birdenv, grouped by who is at fault.

* Errors of the agent (bad SQL, malformed actions) are values (`databases.QueryError`, the status of a
  verdict), never exceptions. They cost what the protocol says, and the episode continues.
* `InputError` is an error of the caller: a wrong path, file, option or record. The command line prints one
  line, and exits with code 2.
* `BenchmarkError` is an error of the benchmark: gold SQL or set-up statements that do not run. It ends only
  the episode that it occurs in.
* `InfrastructureError` is an error of the machine: a server that is lost, full or unreachable. No SQL is to
  blame, and trying again may help. The command line exits with code 3.
* `RunEndedError` ends the whole run. Finished episodes are kept.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import ClassVar, Final

__all__ = [
    "BenchmarkError",
    "BirdenvError",
    "InfrastructureError",
    "InputError",
    "RunEndedError",
    "SettingError",
    "describe_error",
]


class BirdenvError(Exception):
    """The base class of all errors that birdenv raises on purpose."""


class InputError(BirdenvError):
    """The caller's input cannot be used. The message is one line that says what to do."""


class SettingError(InputError):
    """A setting cannot be used.

    The message begins with the name of the setting. Commands replace the name by that of their option.

    Args:
        name: the name of the setting.
        why: the rest of the message, which directly follows the name.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name = name

    def __str__(self) -> str:
        return self.under(self.name)

    def under(self, name: str) -> str:
        """Return the message, which begins with the given name instead of the setting's own name."""
        return f"{name}{self.args[1]}"


class BenchmarkError(BirdenvError):
    """The benchmark is broken for one task: its gold or set-up SQL does not run."""


class InfrastructureError(BirdenvError):
    """Something that an episode needs is lost or unreachable. Trying again may help.

    Attributes:
        retried: True if several attempts were already made, so that callers need not try again.
    """

    retried: ClassVar[bool] = False


class RunEndedError(InfrastructureError):
    """The run has to end, because every further episode would fail for the same reason.

    For example, an API key is refused, a budget is spent, or the disk is full.
    """

    retried = True


_MOST_TEXT: Final = 2000  # characters; the text may quote long answers of a model or database


def describe_error(error: BaseException) -> str:
    """Describe any exception in one line: its type, the beginning of its message, and where it was raised."""
    text = " ".join(f"{type(error).__name__}: {error}"[:_MOST_TEXT].split())
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SyntaxError):
        return text
    last = frames[-1]
    return f"{text} ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
