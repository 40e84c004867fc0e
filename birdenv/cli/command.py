"""Building blocks for the commands of birdenv and its plugins: declarations, safe printing, progress bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

_COMMANDS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Return text with its control characters escaped, except tabs and line breaks, for safe printing.

    >>> visible("\x1b[2Jlibrary_1")
    '\\x1b[2Jlibrary_1'
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


GROUP: Final = "birdenv.commands"
"""The entry-point group through which other packages add commands. `birdenv --help` imports the modules
that they name, so these should only hold `Command` objects and leave the functions to other modules."""


@dataclass(frozen=True, slots=True)
class Command:
    """The declaration of a command, which lets birdenv list the command without importing it.

    Attributes:
        target: the object that implements the command, as `module:name`: a function with Typer annotations, a
            `typer.Typer` with a command of this name, or a `typer.Typer` that is a group of subcommands.
        about: the first sentence of the help, which has to fit in one line of `birdenv --help`.
        group: the heading under which `birdenv --help` lists the command.
        takes_settings: True to add an option for each setting of the game that the argument `game` names.
            `birdenv.cli.options.settings_command.choices` returns the values of these options.
    """

    target: str
    about: str
    group: str = "More"
    takes_settings: bool = False


@contextmanager
def progress(title: str, total: float, *, hidden: bool = False) -> Iterator[Callable[..., Any]]:
    """Show a progress bar on standard error, if standard error is a terminal.

    Args:
        title: the text before the bar.
        total: the amount of work.
        hidden: True to show no bar.

    Yields:
        A function that moves the bar by `advance`, or to `completed`, and shows the text `note` beside it.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(compact=True))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times)
    note = TextColumn("{task.fields[note]}", markup=False)
    disable = hidden or not console.is_terminal
    with Progress(*columns, note, console=console, disable=disable, transient=True) as bar:
        yield partial(bar.update, bar.add_task(title, total=total, note=""))
