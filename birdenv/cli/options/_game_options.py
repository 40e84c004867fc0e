"""The options of a command that plays one game, made from the game's settings."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from birdenv.dialogue.games import Option, Settings


@dataclass(frozen=True)
class GameOptions:
    """What was chosen of a game's settings. A subclass has a field for each option (`options_of`).

    Attributes:
        model: the game's settings.
    """

    model: ClassVar[type[Settings]]

    def settings(self) -> dict[str, Any]:
        """Return what was chosen, as settings of the game."""
        chosen = {}
        for name, declared in self.model.model_fields.items():
            value = getattr(self, _field_name(name, declared), declared.default)
            if isinstance(value, Path):
                value = str(value)
            elif isinstance(value, list):
                value = tuple(value) or None
            elif _is_negated(declared):
                value = not value
            chosen[name] = value
        return chosen


def options_of(model: type[Settings], *, without: tuple[str, ...] = ()) -> GameOptions:
    """Return the options of a game with their defaults, as a parameter for `takes_groups`.

    Args:
        model: the game's settings; `birdenv.dialogue.games.Option` says what an option is called.
        without: settings that the command has options of its own for.
    """
    fields = [
        (_field_name(name, of), _annotation(name, of), field(default=_default(of)))
        for name, of in model.model_fields.items()
        if name not in without
    ]
    name = f"{model.__name__}Options"
    made: Any = make_dataclass(name, fields, bases=(GameOptions,), namespace={"model": model}, frozen=True)
    options: GameOptions = made()
    return options


def option_names(model: type[Settings]) -> dict[str, str]:
    """Return what the settings of a game are called on the command line: `--database`, `DATA_DIR`."""
    fields = model.model_fields.items()
    return {name: name.upper() if _option(of).argument else _names(name, of)[0] for name, of in fields}


def _option(of: FieldInfo) -> Option:
    return next((each for each in of.metadata if isinstance(each, Option)), Option())


def _names(name: str, of: FieldInfo) -> tuple[str, ...]:
    return _option(of).names or ("--" + name.replace("_", "-"),)


def _field_name(name: str, of: FieldInfo) -> str:
    return name if _option(of).argument else _names(name, of)[0].removeprefix("--").replace("-", "_")


def _is_negated(of: FieldInfo) -> bool:
    """Tell if the option switches off what is on by default: `--no-evidence`."""
    return of.default is True


def _default(of: FieldInfo) -> Any:
    return False if _is_negated(of) else of.default


def _annotation(name: str, of: FieldInfo) -> Any:
    option = _option(of)
    hint = _plain(of.annotation)
    if option.path:
        hint = Path
    if of.default is None:
        hint = hint | None
    if option.argument:
        return Annotated[hint, typer.Argument(help=option.help or of.description)]
    return Annotated[hint, _declared(name, of)]


def option_of(model: type[BaseModel], name: str) -> Any:
    """Return the option of one declared setting, for an annotation."""
    return _declared(name, model.model_fields[name])


def _declared(name: str, of: FieldInfo) -> Any:
    return typer.Option(*_names(name, of), help=_option(of).help or of.description)


def _plain(hint: Any) -> Any:
    """The type that the command line reads. Bounds and choices are checked with the settings."""
    kinds = (
        [kind for kind in get_args(hint) if kind is not NoneType] if NoneType in get_args(hint) else [hint]
    )
    if get_origin(kinds[0]) is tuple:
        return list[str]
    return str if get_origin(kinds[0]) is Literal else kinds[0]
