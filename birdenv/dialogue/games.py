"""Game declarations, and the registry that finds a game by name.

Games are entry points in the group `birdenv.games`. `register_game` adds a game to the current process only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from birdenv.checks import CheckedSettings, check_names
from birdenv.dialogue.measures import DIALOGUE_ONLY, REWARD, GameDisplay, GameMeasures
from birdenv.dialogue.move import Move, View
from birdenv.dialogue.rules import Rules
from birdenv.dialogue.seat import Seat
from birdenv.errors import InputError, describe_error
from birdenv.plugins import load_plugin, plugins

GROUP: Final = "birdenv.games"


@dataclass(frozen=True, slots=True)
class Option:
    """The command-line option for a setting, which replaces the default option for its name and type.

    The annotation of the setting contains its option: `Annotated[int, Option(("--limit", "-n"))]`.

    Attributes:
        names: the names of the option (`--limit`, `-n`); by default, the name of the setting.
        argument: True if the setting is a positional argument.
        path: True if the value is a path that a resumed run must be able to find from any working directory.
        help: the help text; by default, the description of the setting.
    """

    names: tuple[str, ...] = ()
    argument: bool = False
    path: bool = False
    help: str = ""


class Settings(CheckedSettings):
    """The settings of a game, which determine its tasks and rules. A subclass declares them as fields.

    Settings are frozen, and can be saved as JSON. The arguments of environments, the command-line options and
    the contents of `config.json` are derived from the names, types, defaults, bounds and descriptions of the
    fields. See `Option`.
    """

    def identity(self) -> Hashable:
        """Return a value that changes whenever the files named in the settings change."""
        return None


class TaskList:
    """The tasks of a game with given settings. Subclasses describe the tasks and start their episodes.

    Attributes:
        ids: the ids of the tasks to play, in file order.
        notes: sentences to show to people, for example about tasks that were left out.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        self.notes: list[str] = []

    def start(self, instance_id: str) -> Rules:
        """Start a new episode of a task, and return its rules."""
        raise NotImplementedError

    def public(self, instance_id: str) -> Any:
        """Return the public description of a task for players."""
        return self.scenario(instance_id)

    def scenario(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public description of a task for transcripts."""
        return {"uuid": instance_id}

    def info(self, instance_id: str) -> Mapping[str, Any]:
        """Return the facts about a task that environments put into `info`."""
        return {"instance_id": instance_id}

    def private(self, instance_id: str) -> Any:
        """Return the private part of a task. Only the oracle agent and private records may use it."""
        return None

    def facts(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public facts about a task that can be used to group and filter a dataset."""
        return {}

    def is_graded(self, instance_id: str) -> bool:
        """Return True if a task's correct answer is known, so that submissions can be graded."""
        return True

    def all_public(self) -> Sequence[Any]:
        """Return the public descriptions of all tasks in the file, including tasks that are not selected."""
        return [self.public(instance_id) for instance_id in self.ids]

    def fields(self, instance_id: str) -> Mapping[str, Any]:
        """Return the fields of an episode's public record that are known before the episode starts."""
        return {"index": self.ids.index(instance_id)}

    def skipped(self, instance_id: str) -> Mapping[str, Any]:
        """Return the fields that the game adds to the public record of an episode that never began."""
        return {}

    def skipped_private(self, instance_id: str) -> Mapping[str, Any]:
        """Return the fields that the game adds to the private record of an episode that never began."""
        return {}

    def config(self) -> dict[str, Any]:
        """Return the entries for `config.json` that describe the data and the databases."""
        return {}

    def close(self) -> None:
        """Release the databases and other resources of the tasks."""


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """A question in the survey that people answer after an episode.

    Attributes:
        name: the key of the answer in the record.
        text: the question as people read it.
        about: the subject of the question: `partner`, `self` or `dialogue`.
        scale: the number of steps on the rating scale, or 0 if the answer is free text.
        required: True if people must answer the question.
        low: the meaning of the lowest step on the scale.
        high: the meaning of the highest step on the scale.
    """

    name: str
    text: str
    about: str = "partner"
    scale: int = 5
    required: bool = True
    low: str = "not at all"
    high: str = "very much"


@dataclass(frozen=True)
class Game:
    """The declaration of a game.

    Attributes:
        name: the name of the game in commands and in `make_game`.
        seats: the seats of the game. The position of a seat is its index.
        settings: the class of the game's settings.
        tasks: a function that loads the tasks for given settings.
        title: a one-line description of the game for people.
        study_title: the title of the pages that study participants see.
        evaluated: the index of the evaluated seat.
        players: the specs of the default players in the other seats, keyed by the index of the seat.
        read_text: a function that converts a model's text in the game's markup to a move; None if the game
            has no markup.
        markup_help: the text that tells a model how to write a move in the game's markup.
        record_model: the class that describes a record in a data file; None if the game has no data files.
        survey: the questions that people answer after an episode.
        measures: the metrics in run summaries and comparisons; by default, the mean reward.
        display: the parts of a recorded episode to show in addition to the dialogue.
        with_people: the settings that have different defaults if a person plays a seat, keyed by seat name.
    """

    name: str
    seats: tuple[Seat, ...]
    settings: type[Settings]
    tasks: Callable[[Any], TaskList]
    title: str = ""
    study_title: str = ""
    evaluated: int = 0
    players: Mapping[int, str] = field(default_factory=dict)
    read_text: Callable[[str, View], Move] | None = None
    markup_help: str = ""
    record_model: type[BaseModel] | None = None
    survey: tuple[SurveyQuestion, ...] = ()
    measures: GameMeasures = REWARD
    display: GameDisplay = DIALOGUE_ONLY
    with_people: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def seat_names(self) -> tuple[str, ...]:
        """Return the names of the game's seats, in order."""
        return tuple(seat.name for seat in self.seats)

    def seat_index(self, seat: int | str) -> int:
        """Return the index of a seat, given its index or its name.

        Raises:
            InputError: there is no such seat.
        """
        if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < len(self.seats):
            return seat
        if isinstance(seat, str) and seat in self.seat_names:
            return self.seat_names.index(seat)
        raise InputError(f"{self.name} has no seat {seat!r}; its seats are {', '.join(self.seat_names)}")


_registered: dict[str, Game] = {}
_lock = threading.Lock()


def register_game(game: Game) -> Game:
    """Register a game in this process, and return it. It replaces any game with the same name."""
    with _lock:
        _registered[game.name] = game
    return game


def game_names() -> list[str]:
    """Return the names of all registered games."""
    return sorted({*_registered, *plugins(GROUP)})


def find_game(name: str) -> Game:
    """Return the game with this name. If the name has the form `module:GAME`, import and register the game.

    Raises:
        InputError: there is no such game; the message lists the known names.
    """
    with _lock:
        game = _registered.get(name)
    if game is not None:
        return game
    if ":" in name:
        return register_game(_imported(name))
    entry = plugins(GROUP).get(name)
    if entry is not None:
        found = load_plugin(entry)
        if not isinstance(found, Game):
            raise InputError(f"the entry point {name!r} of {GROUP} is not a birdenv.dialogue.Game")
        return register_game(found)
    raise InputError(f"unknown game {name!r}; known games: {', '.join(game_names()) or 'none'}")


def _imported(spec: str) -> Game:
    module, _, attribute = spec.partition(":")
    if (here := str(Path.cwd())) not in sys.path:  # in a script, the script's folder is there instead
        sys.path.append(here)
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise InputError(f"game {spec!r} cannot be imported: {error}") from None
        raise InputError(
            f"game {spec!r}: module {module!r} is neither installed nor in this folder"
        ) from None
    except Exception as error:
        raise InputError(f"game {spec!r} cannot be imported: {describe_error(error)}") from None
    if not isinstance(found, Game):
        raise InputError(f"game {spec!r} is {type(found).__name__}, expected a birdenv.dialogue.Game")
    if found.name in plugins(GROUP):
        raise InputError(f"game {spec!r} has the name of an installed game, {found.name!r}: rename it")
    return found


def read_settings(game: Game, values: Mapping[str, Any]) -> Settings:
    """Return a game's settings, with defaults for all settings that `values` does not contain.

    Raises:
        InputError: a name or a value in `values` is not valid; the message lists the valid names or values.
    """
    check_names(game.settings, game.name, values)
    return game.settings(**values)
