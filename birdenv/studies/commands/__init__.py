"""The commands of this room, declared for the list of commands; each has a module."""

from typing import Final

from birdenv.cli.command import Command

WEB: Final = Command(
    "birdenv.studies.commands.web:web",
    "Serve a study with people in browsers.",
    group="People",
    takes_settings=True,
)
RATINGS: Final = Command(
    "birdenv.studies.commands.ratings:ratings",
    "Show how far raters agree, and how they rank the players.",
    group="People",
)
