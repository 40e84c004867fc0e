"""Declarations of games, and the registry that finds a game by its name.

Games are entry points of the group `birdenv.games`. `register_game` adds a game in the current process only.
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
    """The command-line form of a setting, if it does not follow from the setting's name and type.

    An `Option` is part of the setting's annotation: `Annotated[int, Option(("--limit", "-n"))]`.

    Attributes:
        names: the names of the option (`--limit`, `-n`); by default, the name of the setting.
        argument: True if the setting is a positional argument.
        path: True if the value is a path. A run that is resumed from another folder then still finds the
            file.
        help: the help text, if the setting's description does not fit the command line.
    """

    names: tuple[str, ...] = ()
    argument: bool = False
    path: bool = False
    help: str = ""


class Settings(CheckedSettings):
    """The settings of a game: everything that determines an episode.

    They are frozen, and can be saved as JSON.

    The arguments of environments, the command-line options and `config.json` follow from the fields: from
    their names, types, defaults, bounds and descriptions (the help texts of the options). See `Option`.
    """

    def identity(self) -> Hashable:
        """Return a value that changes if the files that the settings name change."""
        return None


class TaskList:
    """The tasks of a game for given settings. The list describes the tasks and starts their episodes.

    Attributes:
        ids: the ids of the tasks, in the order of the file.
        notes: lines for people, such as how many tasks were left out, and why.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        self.notes: list[str] = []

    def start(self, instance_id: str) -> Rules:
        """Start a new episode of a task, and return its rules."""
        raise NotImplementedError

    def public(self, instance_id: str) -> Any:
        """Return the public description of a task, for players."""
        return self.scenario(instance_id)

    def scenario(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public description of a task, for transcripts."""
        return {"uuid": instance_id}

    def info(self, instance_id: str) -> Mapping[str, Any]:
        """Return the facts about a task, for the `info` of environments."""
        return {"instance_id": instance_id}

    def private(self, instance_id: str) -> Any:
        """Return the private half of a task. Only the oracle agent and private records may use it."""
        return None

    def facts(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public facts by which datasets can group and filter tasks."""
        return {}

    def is_graded(self, instance_id: str) -> bool:
        """Return True if the right answer of a task is known, so that submissions can be graded."""
        return True

    def all_public(self) -> Sequence[Any]:
        """Return the public descriptions of all tasks of the file, including those that are not selected."""
        return [self.public(instance_id) for instance_id in self.ids]

    def fields(self, instance_id: str) -> Mapping[str, Any]:
        """Return the fields at the start of the public record, which are known before the episode."""
        return {"index": self.ids.index(instance_id)}

    def skipped(self, instance_id: str) -> Mapping[str, Any]:
        """Return the game's own fields of the public record of an episode that never began."""
        return {}

    def skipped_private(self, instance_id: str) -> Mapping[str, Any]:
        """Return the game's own fields of the private record of an episode that never began."""
        return {}

    def config(self) -> dict[str, Any]:
        """Return the facts about data and databases for `config.json`, in addition to the settings."""
        return {}

    def close(self) -> None:
        """Close the databases."""


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question of the survey after an episode.

    Attributes:
        name: the key of the answer in the record.
        text: the question.
        about: `partner`, `self` or `dialogue`.
        scale: the number of steps on the rating scale, or 0 for free text.
        required: True if the question must be answered.
        low: the meaning of the lowest step.
        high: the meaning of the highest step.
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
    """A registered game.

    Attributes:
        name: the name for commands and `make_game`.
        seats: the seats, by index.
        settings: the class of the settings.
        tasks: loads the tasks for given settings.
        title: one line for people.
        study_title: the title of the pages that participants of a study see.
        evaluated: the index of the seat whose player is evaluated.
        players: the spec of the default player of each other seat, by index.
        read_text: reads a model's plain text as a move; None if the game has no markup.
        markup_help: the text that tells a model how to write a move in the game's markup.
        record_model: the class that documents one task of a data file.
        survey: the questions that people answer after an episode.
        measures: the figures that summaries and comparisons of runs show; by default, the mean reward.
        display: what people see of a recorded episode in addition to the dialogue.
        with_people: by the name of a seat, other default settings for episodes in which a person plays the
            seat.
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
        """Return the names of the seats, in order."""
        return tuple(seat.name for seat in self.seats)

    def seat_index(self, seat: int | str) -> int:
        """Return the index of a seat, which may be given by its index or its name.

        Raises:
            InputError: there is no such seat.
        """
        if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < len(self.seats):
            return seat
        if isinstance(seat, str) and seat in self.seat_names:
            return self.seat_names.index(seat)
        raise InputError(f"{self.name} has no seat {seat!r}; its seats: {', '.join(self.seat_names)}")


_registered: dict[str, Game] = {}
_lock = threading.Lock()


def register_game(game: Game) -> Game:
    """Register a game in this process, in place of any game with the same name, and return the game."""
    with _lock:
        _registered[game.name] = game
    return game


def game_names() -> list[str]:
    """Return the names of all registered games."""
    return sorted({*_registered, *plugins(GROUP)})


def find_game(name: str) -> Game:
    """Return a game by its name, or import it from `module:GAME` and register it in this process.

    Raises:
        InputError: there is no such game; the message lists the names.
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
    if (here := str(Path.cwd())) not in sys.path:  # a script that is started has its own folder there instead
        sys.path.append(here)
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise InputError(f"game {spec!r} cannot be imported: {error}") from None
        raise InputError(
            f"game {spec!r}: there is no module {module!r}, neither installed nor in this folder"
        ) from None
    except Exception as error:
        raise InputError(f"game {spec!r} cannot be imported: {describe_error(error)}") from None
    if not isinstance(found, Game):
        raise InputError(f"game {spec!r} is {type(found).__name__}, expected a birdenv.dialogue.Game")
    if found.name in plugins(GROUP):
        raise InputError(f"game {spec!r} has the name of an installed game, {found.name!r}: rename it")
    return found


def read_settings(game: Game, values: Mapping[str, Any]) -> Settings:
    """Check values by name, and return the settings of a game that have these values.

    Raises:
        InputError: a name or a value is not valid; the message lists the valid ones.
    """
    check_names(game.settings, game.name, values)
    return game.settings(**values)
