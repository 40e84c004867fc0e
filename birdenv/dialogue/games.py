"""Games: what a game says about itself, and finding one by name.

Games come from the entry-point group `birdenv.games`, or are registered by `register_game` in a process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from birdenv.dialogue.measures import DIALOGUE_ONLY, REWARD, GameDisplay, GameMeasures
from birdenv.dialogue.move import Move, View
from birdenv.dialogue.rules import Rules
from birdenv.dialogue.seat import Seat
from birdenv.errors import InputError, SettingError, describe_error
from birdenv.plugins import load_plugin, plugins

M = TypeVar("M", bound=BaseModel)

GROUP: Final = "birdenv.games"


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is given on the command line, if that does not follow from its name and type.

    It is a part of the annotation of the setting: `Annotated[int, Option("--limit", "-n")]`.

    Attributes:
        names: its names (`--limit`, `-n`); by default the setting's.
        argument: it is given by its place, without a name.
        path: it is a path, which a run that is resumed from another folder finds again.
        help: its help, where the setting's description is about Python.
    """

    names: tuple[str, ...] = ()
    argument: bool = False
    path: bool = False
    help: str = ""


class Settings(BaseModel):
    """Settings of a game: everything that decides an episode, JSON-able and frozen.

    Environment arguments, command options and `config.json` are made of the fields: name, type, default,
    bounds and description (the option's help) are written only there; see `Option`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def identity(self) -> Hashable:
        """Return what tells whether the files behind the settings are still the same."""
        return None


class TaskList:
    """The tasks of a game under one choice of settings, and the start of an episode of each.

    Attributes:
        ids: the tasks' ids, in the file's order.
        notes: lines for people, such as how many tasks were left out and why.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        self.notes: list[str] = []

    def start(self, instance_id: str) -> Rules:
        """Return the rules of a new episode of a task."""
        raise NotImplementedError

    def public(self, instance_id: str) -> Any:
        """Return the public description of a task, as players get it."""
        return self.scenario(instance_id)

    def scenario(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public description of a task, as transcripts have it."""
        return {"uuid": instance_id}

    def info(self, instance_id: str) -> Mapping[str, Any]:
        """Return what environments' infos say of a task."""
        return {"instance_id": instance_id}

    def private(self, instance_id: str) -> Any:
        """Return the private half of a task: for our own oracle and for private records only."""
        return None

    def facts(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public facts by which datasets group and filter tasks."""
        return {}

    def is_graded(self, instance_id: str) -> bool:
        """Return False for a task whose answer is not known."""
        return True

    def all_public(self) -> Sequence[Any]:
        """Return the public descriptions of all tasks of the file, selected or not."""
        return [self.public(instance_id) for instance_id in self.ids]

    def fields(self, instance_id: str) -> Mapping[str, Any]:
        """Return the public record's first fields, which do not depend on how the episode goes."""
        return {"index": self.ids.index(instance_id)}

    def skipped(self, instance_id: str) -> Mapping[str, Any]:
        """Return the game's own fields of the record of an episode that never began."""
        return {}

    def skipped_private(self, instance_id: str) -> Mapping[str, Any]:
        """Return the game's own fields of the private record of an episode that never began."""
        return {}

    def config(self) -> dict[str, Any]:
        """Return what `config.json` says about data and databases, in addition to the settings."""
        return {}

    def close(self) -> None:
        """Let go of databases."""


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question of a survey after an episode.

    Attributes:
        name: key in the record.
        text: the question.
        about: `partner`, `self` or `dialogue`.
        scale: number of steps of a rating; 0 for free text.
        required: an answer is needed.
        low: what the lowest step means.
        high: what the highest step means.
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
        name: as commands and `make_game` have it.
        seats: its seats, by index.
        settings: the model of its settings.
        tasks: loads the tasks for settings.
        title: one line for people.
        study_title: the title of the pages of a study, for people who take part in it.
        evaluated: the seat whose player is evaluated.
        players: the spec of the default player of each other seat, by index.
        read_text: reads a model's plain text as a move; None where the game has no markup.
        markup_help: tells a model how to write that text.
        record_model: the documented model of one task in a data file.
        survey: questions to people after an episode.
        measures: what summaries and comparisons of runs show; without it, the mean reward.
        display: what people see of a recorded episode in addition to the dialogue.
        with_people: settings that have other defaults where people may sit in a seat, by the seat's name.
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
        """Return the names of the seats, by index."""
        return tuple(seat.name for seat in self.seats)

    def seat_index(self, seat: int | str) -> int:
        """Return the index of a seat by index or name.

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
    """Register a game in this process, and return it. A game of the same name is replaced."""
    with _lock:
        _registered[game.name] = game
    return game


def game_names() -> list[str]:
    """Return the names of all registered games."""
    return sorted({*_registered, *plugins(GROUP)})


def find_game(name: str) -> Game:
    """Return a game by name, or as `module:GAME`, which registers it in this process.

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
            f"game {spec!r}: no module {module!r} in this folder, and none is installed"
        ) from None
    except Exception as error:
        raise InputError(f"game {spec!r} cannot be imported: {describe_error(error)}") from None
    if not isinstance(found, Game):
        raise InputError(f"game {spec!r} is {type(found).__name__}, expected a birdenv.dialogue.Game")
    if found.name in plugins(GROUP):
        raise InputError(f"game {spec!r} has the name of an installed game, {found.name!r}: give it another")
    return found


def read_settings(game: Game, values: Mapping[str, Any]) -> Settings:
    """Return the settings of a game.

    Raises:
        InputError: a name or a value cannot be used; the message lists the names.
    """
    return checked_settings(game.settings, game.name, values)


def checked_settings(model: type[M], owner: str, values: Mapping[str, Any]) -> M:
    """Return declared settings with these values.

    Args:
        model: declares the settings.
        owner: whose settings they are, for people.
        values: the values by name.

    Raises:
        InputError: a name or a value cannot be used; the message lists the names.
    """
    try:
        return model(**values)
    except ValidationError as error:
        known = list(model.model_fields)
        for name in values:
            if name not in known:
                listing = ", ".join(known)
                raise InputError(f"{owner} has no setting {name!r}; its settings: {listing}") from None
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        why = str(cause) if cause is not None else first["msg"]
        if not first["loc"]:
            raise InputError(why) from None
        name, *inside = (str(part) for part in first["loc"])
        given, what = first["input"], _what_is_allowed(model.model_fields[name])
        if first["type"] == "literal_error" and not inside:
            raise SettingError(name, f" {given!r} is unknown; known: {what}") from None
        if what and not inside:
            raise SettingError(name, f" must be {what}, got {given!r}") from None
        place = "".join(f".{part}" for part in inside)
        raise SettingError(name, f"{place}: {why}, got {given!r}") from None


def _what_is_allowed(field: FieldInfo) -> str:
    """Return the choices or the bounds of a setting in words; nothing of one that has neither."""
    if get_origin(field.annotation) is Literal:
        return ", ".join(map(str, get_args(field.annotation)))
    bounds = {
        name: value
        for each in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if (value := getattr(each, name, None)) is not None
    }
    most = bounds.get("le", bounds["lt"] - 1 if "lt" in bounds else None)
    if "ge" in bounds:
        return f"at least {bounds['ge']}" if most is None else f"from {bounds['ge']} to {most}"
    return f"more than {bounds['gt']}" if "gt" in bounds else ""
