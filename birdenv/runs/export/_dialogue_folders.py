"""Whole dialogues of a folder: of a run, or of another kind of folder that a package brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from birdenv.files import exists
from birdenv.plugins import load_plugin, plugins
from birdenv.runs._run_folder import run_folder
from birdenv.runs.export._episodes import played_settings
from birdenv.runs.export._other_tools import DialogueFormat, dialogue_rows
from birdenv.runs.summaries.recorded_run import read_run

FOLDERS: Final = "birdenv.dialogue_folders"
"""Entry points to a `DialogueFolder`; each is named like the file by which its folders are known."""


@dataclass(frozen=True, slots=True)
class DialogueFolder:
    """A kind of folder that holds dialogues and is no run.

    Attributes:
        rows: returns the finished dialogues of a folder, like `dialogue_rows`.
        game: returns the name of the game and its settings.
    """

    rows: Callable[[Path, DialogueFormat, float | None], Iterable[Mapping[str, Any]]]
    game: Callable[[Path], tuple[str, dict[str, Any]]]


def dialogue_folder(path: Path) -> DialogueFolder | None:
    """Return the kind of a folder; None for a run, and for what is no folder of dialogues at all.

    Raises:
        InputError: the package of this kind cannot be imported.
    """
    for file, entry in plugins(FOLDERS).items():
        if exists(path / file):
            found: DialogueFolder = load_plugin(entry)
            return found
    return None


def whole_dialogues(
    folder: Path, form: DialogueFormat, min_reward: float | None = None
) -> Iterable[Mapping[str, Any]]:
    """Return the dialogues of a run, or of another kind of folder, in a format of `dialogue_rows`."""
    kind = dialogue_folder(folder)
    if kind is None:
        return dialogue_rows(run_folder(folder), form, min_reward)
    return kind.rows(folder, form, min_reward)


def played_game(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the name of the game whose dialogues are in a folder, and the game's settings.

    Raises:
        InputError: the folder cannot be read.
    """
    kind = dialogue_folder(folder)
    if kind is not None:
        return kind.game(folder)
    config = read_run(run_folder(folder)).config
    return str(config["game"]), played_settings(config)
