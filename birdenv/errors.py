"""One vocabulary for what can go wrong, by who is at fault.

* The agent's faults (bad SQL, malformed actions) are values (`databases.QueryError`, a verdict's status),
  never exceptions: they cost what the protocol says and the episode goes on.
* `InputError` is the caller's: a wrong path, file, option or record. The command line prints it as one
  line and exits with 2.
* `BenchmarkError` is the benchmark's: gold SQL or set-up statements that do not run. It costs the episode
  it belongs to.
* `InfrastructureError` is the machine's: a server that is lost, full or out of reach. Nobody's SQL is to
  blame, and trying again may help. The command line exits with 3.
* `RunEndedError` is one after which nothing more of a run can be played; what was played is kept.
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
    """Base of every error that birdenv raises on purpose."""


class InputError(BirdenvError):
    """Something the caller gave cannot be used; the message is one line that says what to do."""


class SettingError(InputError):
    """One setting cannot be used. The message begins with its name; commands put their option there.

    Args:
        name: the setting.
        why: the message after the name.
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
    """The benchmark itself is broken for one task: its gold or set-up SQL does not run."""


class InfrastructureError(BirdenvError):
    """Something that an episode needs is lost or out of reach for now; trying again may help.

    Attributes:
        retried: True if the one who raised it has tried several times, so that nobody else needs to.
    """

    retried: ClassVar[bool] = False


class RunEndedError(InfrastructureError):
    """Every further episode would meet the same: a key is refused, a budget is spent, a disk is full."""

    retried = True


def first_fault(error: ValidationError, known: Iterable[str]) -> str:
    """Return the first fault of a record in words: the field, and why it cannot be used.

    Args:
        error: says what is wrong.
        known: the fields of the record.
    """
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "[key]")
    if first["type"] == "extra_forbidden":
        names = f"; the fields are {', '.join(known)}" if len(first["loc"]) == 1 else ""
        return f"{where}: there is no such field{names}"
    why = str(first.get("ctx", {}).get("error", first["msg"]))
    return f"{where}: {why}" if where else why


_MOST_TEXT: Final = 2000  # characters; it may quote all that a model or a database said


def describe_error(error: BaseException) -> str:
    """Return one line for a foreign exception: its type, the beginning of its text, and where it was
    raised.
    """
    text = " ".join(f"{type(error).__name__}: {error}"[:_MOST_TEXT].split())
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SyntaxError):
        return text
    last = frames[-1]
    return f"{text} ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
