"""What a command of any package needs: its declaration, text that is safe on a terminal, a progress bar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

_COMMANDS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Escape the characters that a terminal would obey instead of showing, except tabs and line ends.

    >>> visible("\x1b[2Jlibrary_1")
    '\\x1b[2Jlibrary_1'
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


GROUP: Final = "birdenv.commands"
"""Entry points to commands of other packages. Their modules are imported for the list of commands, too, so
they declare commands, and the commands are elsewhere."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is imported when it is used.

    Attributes:
        target: the command as `module:name`: a function with Typer's declarations, or a `typer.Typer` that
            has a command of this name, or that is the command with others below it.
        about: the first sentence of its help, short enough for one line of the list.
        group: the heading in the list of commands.
        takes_settings: the settings of the game that its argument `game` names are options of it, too, which
            `birdenv.cli.options.settings_command.choices` returns.
    """

    target: str
    about: str
    group: str = "More"
    takes_settings: bool = False


@contextmanager
def progress(title: str, total: float) -> Iterator[Callable[..., Any]]:
    """Show a bar on standard error while something goes on, if that is a terminal.

    Yields:
        A function that moves the bar: `move(advance=1)`, or `move(completed=20)`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        yield partial(bar.update, bar.add_task(title, total=total))
