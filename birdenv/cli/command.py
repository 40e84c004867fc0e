"""A command of the command line: where it is, and its line in the list of all commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

GROUP: Final = "birdenv.commands"
"""Entry points to commands of other packages. Their modules are imported for the list of commands, too, so
they declare commands, and the commands are elsewhere."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is imported when it is used.

    Attributes:
        target: the command as `module:name`: a function with Typer's declarations, or a `typer.Typer`.
        about: the first sentence of its help, short enough for one line of the list.
        group: the heading in the list of commands.
        takes_settings: it reads settings of a game, so options that it does not declare are no errors.
    """

    target: str
    about: str
    group: str = "More"
    takes_settings: bool = False
