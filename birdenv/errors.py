"""birdenv's exceptions, grouped by who is at fault.

* Agent errors (bad SQL, malformed actions) are never exceptions. They are values, such as a `QueryError` or
  the status of a verdict. The protocol decides what they cost, and the episode continues.
* `InputError` is the caller's error: an invalid path, file, option or record. The command line prints the
  message as one line, and exits with code 2.
* `BenchmarkError` is an error in the benchmark: gold SQL or set-up statements that do not run. It ends only
  the current episode.
* `InfrastructureError` means that a server is lost, full or unreachable. The SQL is not to blame, and a retry
  may help. The command line exits with code 3.
* `RunEndedError` ends the whole run. Finished episodes are kept.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import ClassVar, Final


class BirdenvError(Exception):
    """The base class of all errors that birdenv raises on purpose."""


class InputError(BirdenvError):
    """The caller's input cannot be used. The message is one line that says what to do about it."""


class SettingError(InputError):
    """A setting has an invalid value.

    The message begins with the name of the setting. Commands show the name of the corresponding option
    instead.

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
        """Return the message with `name` in place of the setting's name."""
        return f"{name}{self.args[1]}"


class BenchmarkError(BirdenvError):
    """A task in the benchmark is broken: its gold SQL or its set-up SQL does not run."""


class InfrastructureError(BirdenvError):
    """A resource that an episode needs is lost or unreachable. A retry may help.

    Attributes:
        retried: True if several attempts have already failed, so callers should not retry.
    """

    retried: ClassVar[bool] = False


class RunEndedError(InfrastructureError):
    """The run must stop, because all remaining episodes would fail for the same reason.

    Examples are a rejected API key, a spent budget and a full disk.
    """

    retried = True


_MOST_TEXT: Final = 2000  # characters; the text may quote long answers of a model or database


def describe_error(error: BaseException) -> str:
    """Describe an exception in one line: its type, the start of its message, and where it was raised."""
    text = " ".join(f"{type(error).__name__}: {error}"[:_MOST_TEXT].split())
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SyntaxError):
        return text
    last = frames[-1]
    return f"{text} ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
