"""Declare the commands of this package, so that they can be listed without importing their modules."""

from typing import Final

from birdenv.cli.command import Command

ANALYZE: Final = Command(
    "birdenv.cocoa.commands.analyze:analyze",
    "Analyse dialogues: effectiveness, text and strategy.",
    group="Look",
)
SCENARIOS: Final = Command(
    "birdenv.cocoa.commands.scenarios:scenarios",
    "Write generated scenarios, or the tasks of a benchmark, to a file.",
    group="Data",
    takes_settings=True,
)
TRAIN_PLAYER: Final = Command(
    "birdenv.cocoa.commands.train_player:train_player",
    "Train a player on dialogues, and test it on held-out dialogues.",
    group="Players",
    takes_settings=True,
)
TEST_PLAYER: Final = Command(
    "birdenv.cocoa.commands.test_player:test_player",
    "Test players on recorded dialogues and in self-play.",
    group="Players",
    takes_settings=True,
)
