"""The errors that birdenv raises, by who is at fault.

* Mistakes of the agent, such as bad SQL and malformed actions, are values (`databases.QueryError`, the status
  of a verdict) and never exceptions. They cost what the protocol says, and the episode continues.
* `InputError` is a mistake of the caller: a wrong path, file, option or record. The command line prints it as
  one line and exits with 2.
* `BenchmarkError` is a fault in the benchmark: gold SQL or set-up statements that do not run. It ends only
  its own episode.
* `InfrastructureError` is a fault of the machine: a server that is lost, full or out of reach. Trying again
  may help. The command line exits with 3.
* `RunEndedError` is an infrastructure error after which no further episode of a run can be played. Episodes
  that were played are kept.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = [
    "BenchmarkError",
    "BirdenvError",
    "InfrastructureError",
    "InputError",
    "RunEndedError",
    "SettingError",
    "describe_error",
    "first_fault",
]


class BirdenvError(Exception):
    """The base class of all errors that birdenv raises on purpose."""


class InputError(BirdenvError):
    """Something that the caller gave cannot be used. The message is one line that says what to do."""


class SettingError(InputError):
    """A setting cannot be used. The message begins with its name, which commands replace by their option.

    Args:
        name: the name of the setting.
        why: the rest of the message.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name = name

    def __str__(self) -> str:
        return self.under(self.name)

    def under(self, name: str) -> str:
        """Return the message with another name for the setting."""
        return f"{name}{self.args[1]}"


class BenchmarkError(BirdenvError):
    """A task of the benchmark is broken: its gold or set-up SQL does not run."""


class InfrastructureError(BirdenvError):
    """Something that an episode needs is lost or cannot be reached now. Trying again may help.

    Attributes:
        retried: True if several attempts were already made, so that callers need not retry.
    """

    retried: ClassVar[bool] = False


class RunEndedError(InfrastructureError):
    """Every further episode would fail as well: a key is refused, a budget is spent, or a disk is full."""

    retried = True


def first_fault(error: ValidationError, known: Iterable[str]) -> str:
    """Return a message about the first invalid field of a record.

    Args:
        error: the error of pydantic.
        known: the names of the record's fields.
    """
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "[key]")
    if first["type"] == "extra_forbidden":
        names = f"; the fields are {', '.join(known)}" if len(first["loc"]) == 1 else ""
        return f"{where}: there is no such field{names}"
    why = str(first.get("ctx", {}).get("error", first["msg"]))
    return f"{where}: {why}" if where else why


_MOST_TEXT: Final = 2000  # characters; the text may quote everything that a model or a database said


def describe_error(error: BaseException) -> str:
    """Return one line about an exception: its type, the beginning of its text, and where it was raised."""
    text = " ".join(f"{type(error).__name__}: {error}"[:_MOST_TEXT].split())
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SyntaxError):
        return text
    last = frames[-1]
    return f"{text} ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
