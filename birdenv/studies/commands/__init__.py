"""The commands of this room, declared for the list of commands; each has a module."""

from typing import Final

from birdenv.cli.command import Command

WEB: Final = Command(
    "birdenv.studies.commands.web:web",
    "Serve a study: consent, instructions, waiting room, dialogue, survey, completion code.",
    takes_settings=True,
)
RATINGS: Final = Command(
    "birdenv.studies.commands.ratings:ratings",
    "Show how far raters agree, what they answered, and how comparisons rank the players.",
)
