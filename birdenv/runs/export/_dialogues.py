"""Export whole dialogues from a run or a study in the formats of CoCoA, OpenAI and Potato."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from birdenv.dialogue.games import find_game
from birdenv.dialogue.record import Example
from birdenv.files import exists
from birdenv.plugins import load_plugin, plugins
from birdenv.runs._run_folder import run_folder
from birdenv.runs.export._episodes import exported_episodes, played_settings
from birdenv.runs.summaries.recorded_run import read_run

FOLDERS: Final = "birdenv.dialogue_folders"
"""The group of entry points to a `DialogueFolder`. The name of an entry point is the file that identifies
folders of this kind."""


@dataclass(frozen=True, slots=True)
class DialogueFolder:
    """Functions that read dialogues from a folder other than a run folder, such as a study folder.

    Attributes:
        rows: returns the finished dialogues in a folder. Has the same signature as `dialogue_rows`.
        game: returns the name and settings of the game that was played. Has the same signature as
            `played_game`.
    """

    rows: Callable[[Path, DialogueFormat, float | None], Iterable[Mapping[str, Any]]]
    game: Callable[[Path], tuple[str, dict[str, Any]]]


def dialogue_folder(path: Path) -> DialogueFolder | None:
    """Return the functions that read this kind of folder, or None if no plugin provides them.

    Run folders need no plugin.

    Raises:
        InputError: the package that reads this kind of folder cannot be imported.
    """
    for file, entry in plugins(FOLDERS).items():
        if exists(path / file):
            found: DialogueFolder = load_plugin(entry)
            return found
    return None


def whole_dialogues(
    folder: Path, form: DialogueFormat, min_reward: float | None = None
) -> Iterable[Mapping[str, Any]]:
    """Return the dialogues in a run folder, a study folder, or any other folder that a plugin reads."""
    kind = dialogue_folder(folder)
    if kind is None:
        return dialogue_rows(run_folder(folder), form, min_reward)
    return kind.rows(folder, form, min_reward)


def played_game(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the name and the settings of the game whose dialogues are in a folder.

    Raises:
        InputError: the folder cannot be read.
    """
    kind = dialogue_folder(folder)
    if kind is not None:
        return kind.game(folder)
    config = read_run(run_folder(folder)).config
    return str(config["game"]), played_settings(config)


DialogueFormat: TypeAlias = Literal["cocoa", "openai", "potato"]
DIALOGUE_FORMATS: Final[tuple[DialogueFormat, ...]] = ("openai", "potato")
"""The formats that `birdenv export` writes itself."""


def dialogue_rows(
    folder: Path, form: DialogueFormat, min_reward: float | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the dialogues of a run in task order.

    Args:
        folder: the run's folder.
        form: the format. `cocoa` yields the recorded dialogue with the keys of CoCoA's `examples.json`.
            `openai` yields the messages and tools of the evaluated seat for fine-tuning. `potato` yields an
            item to annotate, with the messages of both seats.
        min_reward: the minimum reward of the evaluated seat; dialogues with a lower reward are left out. None
            to keep all dialogues.

    Raises:
        InputError: the run cannot be read.
    """
    least = -inf if min_reward is None else min_reward
    if form == "openai":
        for episode in exported_episodes(folder):
            if episode.reward < least:
                continue
            yield {"messages": episode.messages, "tools": episode.tools}
        return
    run = read_run(folder)
    seats = find_game(str(run.config.get("game"))).seat_names
    for record in run.records:
        if "example" in record and record["reward"] >= least:
            if form == "cocoa":
                yield record["example"]
                continue
            yield Example.from_json(record["example"]).annotation_item(seats)
