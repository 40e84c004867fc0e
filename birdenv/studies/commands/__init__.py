"""Declare the commands of this package, so that they can be listed without importing their modules."""

from typing import Final

from birdenv.cli.command import Command

WEB: Final = Command(
    "birdenv.studies.commands.web:web",
    "Serve a study to people in browsers.",
    group="People",
    takes_settings=True,
)
RATINGS: Final = Command(
    "birdenv.studies.commands.ratings:ratings",
    "Show how well raters agree, and how they rank the players.",
    group="People",
)
