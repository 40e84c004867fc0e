"""A command with an option for each setting of a game and of a run, and other groups of options.

Typer derives the options of a command from the parameters of a function, but here the options depend on the
game, which can itself be an argument. Each group of options is therefore turned into a small Typer command,
from which the settings command takes the options and the conversion of their values.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from birdenv.checks import bounds_in_words
from birdenv.cli.options._run_options import AgentOptions, RunFolder, options_of_run
from birdenv.dialogue.games import Game, Option, Settings, find_game
from birdenv.errors import InputError, SettingError
from birdenv.llm import ModelSettings
from birdenv.run_settings import RunSettings

Seats = Literal["all", "others", "none"]
"""The seats whose players are options: all seats, all except the evaluated seat, or none."""

T = TypeVar("T")

_SHORT = {"limit": "-n"}
_PLAIN = (int, float, str, bool, Path)


@dataclass
class Choices:
    """The values of all options on the command line.

    Attributes:
        settings: the game settings that were given, keyed by name.
        players: the players that were given for the other seats, keyed by seat name.
        groups: the values of each additional group of options, as an instance of the group's class.
        command: the name of the command.
        given: the values of all options, keyed by parameter name.
        agent_is_default: True if no agent was given, so that the default agent plays.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    players: dict[str, str] = field(default_factory=dict)
    groups: list[Any] = field(default_factory=list)
    command: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    agent_is_default: bool = False

    @property
    def run(self) -> RunSettings:
        """Return the settings of the run, including its language models."""
        return self.group(RunSettings).model_copy(update={"models": self.models})

    @property
    def agent(self) -> str:
        """Return the agent's spec. If only a model was given, the spec names that model."""
        model = self.models.model
        return f"llm:{model}" if model and self.agent_is_default else self.group(AgentOptions).agent

    @property
    def models(self) -> ModelSettings:
        """Return the settings of the language models."""
        return self.group(ModelSettings)

    def group(self, kind: type[T]) -> T:
        """Return the values of the option group whose class is `kind`."""
        return next(group for group in self.groups if isinstance(group, kind))


def choices(context: typer.Context) -> Choices:
    """Return the option values for a command of the class `SettingsCommand`."""
    found: Choices = context.obj
    return found


class SettingsCommand(TyperCommand):
    """A command with an option for each setting of its game, and additional groups of options.

    The command's function reads these options with `choices(context)`. The parameters of the function are the
    remaining arguments and options.
    """

    game_name: ClassVar[str | None] = None
    """The game; None if the argument `game` names it."""

    groups: ClassVar[tuple[Any, ...]] = ()
    """Further options: classes of settings, whose described fields are options, and instances of dataclasses
    with annotated options, whose values are the defaults."""

    seats: ClassVar[Seats] = "all"
    without: ClassVar[tuple[str, ...]] = ()
    """Settings that are not options of this command."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._taken = {name for each in self.params for name in each.opts}
        self._parts: list[tuple[Any, Any]] = []
        self._places: dict[str, int] = {}
        self._game: Game | None = None
        if self.game_name is not None:
            self._add_game(find_game(self.game_name))
        for group in self.groups:
            self._add(group, self._of_settings(group) if isinstance(group, type) else _of_dataclass(group))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        seen = self._first_look(ctx, args)
        name = seen.get("game")
        if isinstance(seen.get("resume"), str) and any(isinstance(group, RunFolder) for group in self.groups):
            before = options_of_run(ctx, Path(seen["resume"]))
            ctx.default_map = before
            if not isinstance(name, str) or name.startswith("-"):  # the first of the game's own options
                name = before.get("game")
            args = [*before.get("further", ()), *args]  # from versions that did not know the game's settings
        if self._game is None and isinstance(name, str):
            if name.startswith("-"):
                raise InputError(f"specify the game before {name}: birdenv {ctx.info_name} GAME {name} ...")
            self._add_game(find_game(name))
        self._check_own_seat(args)
        aliases = self._aliases()
        ctx.token_normalize_func = lambda word: aliases.get(dashed := word.replace("_", "-"), dashed)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def invoke(self, ctx: Any) -> Any:
        found = Choices(command=ctx.info_name, given=dict(ctx.params))
        for declared, part in self._parts:
            values = part.callback(**{each.name: ctx.params.pop(each.name) for each in part.params})
            if isinstance(declared, Game):
                chosen = {name: of for name, of in values.items() if _source(ctx, name) != "DEFAULT"}
                found.settings = _settings(declared.settings, chosen)
                found.players = {name: chosen[name] for name in declared.seat_names if name in chosen}
            elif isinstance(declared, type):
                given = {name: value for name, value in values.items() if value is not None}
                with named_options(declared):
                    found.groups.append(declared(**given))
            else:
                found.groups.append(type(declared)(**values))
                if hasattr(declared, "agent") and values["agent"] == declared.agent:
                    found.agent_is_default = _source(ctx, "agent") != "COMMANDLINE"
        ctx.obj = found
        return super().invoke(ctx)

    def _first_look(self, ctx: Any, args: Sequence[str]) -> Mapping[str, Any]:
        """Return the values of the options that are known before the game's options are added."""
        look = type(ctx)(self, info_name=ctx.info_name, parent=ctx.parent, ignore_unknown_options=True)
        look.allow_extra_args = True
        seen: Mapping[str, Any] = self.make_parser(look).parse_args(args=list(args))[0]
        return seen

    def _add_game(self, game: Game) -> None:
        self._game = game
        takes_places = self.game_name is not None
        fields = {n: of for n, of in game.settings.model_fields.items() if n not in self.without}
        parameters = [_of_setting(name, of, takes_places, self._taken) for name, of in fields.items()]
        for index, name in enumerate(game.seat_names):
            if self.seats == "all" or (self.seats == "others" and index != game.evaluated):
                default = game.players.get(index)
                about = f"Who plays the seat {name}" + (f"; default: {default}." if default else ".")
                parameters.append(_parameter(name, None, Annotated[str | None, typer.Option(help=about)]))
        self._add(game, [each for each in parameters if each is not None])

    def _of_settings(self, model: type[BaseModel]) -> Iterator[inspect.Parameter]:
        """Yield a parameter for each field with a description.

        Settings of models have no default here, so that a run records only the values that were given.
        """
        for name, of in model.model_fields.items():
            if of.description and name not in self.without:
                default = None if model is ModelSettings else of.default
                hint = _plain(of.annotation) if default is not None else _plain(of.annotation) | None
                option = typer.Option(*_names(name, of), help=_help(of))
                yield _parameter(name, default, Annotated[hint, option])

    def _add(self, declared: Any, parameters: Iterable[inspect.Parameter]) -> None:
        """Add the options that Typer derives from the parameters."""
        part = _command_of(parameters)
        self._parts.append((declared, part))
        self._taken |= {name for each in part.params for name in each.opts}
        known, place = {each.name for each in self.params}, 3 if declared is ModelSettings else 1
        self.params += part.params
        self._places |= dict.fromkeys({each.name for each in part.params} - known, place)
        self.params.sort(key=self._place)

    def _check_own_seat(self, args: Sequence[str]) -> None:
        """Raise an error if an option names the player of the agent's own seat."""
        if self._game is None or self.seats != "others":
            return
        own = f"--{self._game.seat_names[self._game.evaluated]}"
        if own not in self._taken and any(word.partition("=")[0] == own for word in args):
            raise InputError(f"{own} is the agent's seat: name its player with --agent")

    def _place(self, parameter: Any) -> int:
        """Return the rank of an option in the help: arguments, game and run, other options, models."""
        return 0 if parameter.param_type_name == "argument" else self._places.get(parameter.name, 2)

    def _aliases(self) -> dict[str, str]:
        """Return the options whose names differ from their settings' names, by the names of the settings."""
        fields = {} if self._game is None else self._game.settings.model_fields
        return {
            dashed: _names(name, of)[0].removeprefix("--")
            for name, of in fields.items()
            if f"--{(dashed := name.replace('_', '-'))}" not in self._taken and not _is_negated(name, of)
        }


def option_names(model: type[BaseModel]) -> dict[str, str]:
    """Map each setting to its name on the command line, such as `--database` or `DATA_DIR`."""
    fields = model.model_fields.items()
    return {name: name.upper() if _option(of).argument else _names(name, of)[0] for name, of in fields}


@contextmanager
def named_options(model: type[BaseModel]) -> Iterator[None]:
    """Convert a `SettingError` to an `InputError` that names the option instead of the setting."""
    try:
        yield
    except SettingError as error:
        raise InputError(error.under(option_names(model).get(error.name, error.name))) from None


def _settings(model: type[Settings], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a game from the values of its options."""
    chosen: dict[str, Any] = {}
    for name, declared in model.model_fields.items():
        value = values.get(_field_name(name, declared))
        if value is None:
            continue
        if isinstance(value, Path):
            value = str(value)
        elif isinstance(value, list):
            value = tuple(word for each in value for word in each.split(","))
        elif _is_negated(name, declared):
            value = not value
        chosen[name] = value
    return chosen


def _source(context: Any, name: str) -> str:
    """Return the origin of a value: `COMMANDLINE`, `DEFAULT_MAP` (from a resumed run), or `DEFAULT`."""
    source = context.get_parameter_source(name)
    return "DEFAULT" if source is None else str(source.name)


def _command_of(parameters: Iterable[inspect.Parameter]) -> Any:
    def given(**values: Any) -> dict[str, Any]:
        return values

    listed = list(parameters)
    given.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    given.__annotations__ = {each.name: each.annotation for each in listed}
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command()(given)
    return typer.main.get_command(made)


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _of_dataclass(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(type(group), include_extras=True)
    for each in fields(group):
        yield _parameter(each.name, getattr(group, each.name), hints[each.name])


def _of_setting(name: str, of: FieldInfo, takes_places: bool, taken: set[str]) -> inspect.Parameter | None:
    """Return a parameter for a setting, or None if the command already has an option with its name."""
    option, hint = _option(of), _plain(of.annotation)
    if option.path:
        hint = Path
    default = False if _is_negated(name, of) else of.get_default(call_default_factory=True)
    if default is None or get_origin(hint) is list:
        hint, default = hint | None, None
    help_text = option.help or _help(of)
    if option.argument and takes_places:
        return _parameter(name, default, Annotated[hint, typer.Argument(help=help_text)])
    names = [each for each in _names(name, of) if each not in taken]
    if not names or not names[0].startswith("--"):
        return None
    if default is True:
        names = [f"{names[0]}/--no-{names[0].removeprefix('--')}"]
    return _parameter(_field_name(name, of), default, Annotated[hint, typer.Option(*names, help=help_text)])


def _option(of: FieldInfo) -> Option:
    names = tuple(each for each in of.metadata if isinstance(each, str))
    return next((each for each in of.metadata if isinstance(each, Option)), Option(names))


def _help(of: FieldInfo) -> str:
    """Return the description of a setting, followed by the limits of its value."""
    bounds, text = bounds_in_words(of), of.description or ""
    return f"{text} {bounds.capitalize()}." if bounds and text else text


def _names(name: str, of: FieldInfo) -> tuple[str, ...]:
    short = (_SHORT[name],) if name in _SHORT else ()
    return _option(of).names or (f"--{name.replace('_', '-')}", *short)


def _field_name(name: str, of: FieldInfo) -> str:
    return name if _option(of).argument else _names(name, of)[0].removeprefix("--").replace("-", "_")


def _is_negated(name: str, of: FieldInfo) -> bool:
    """Return whether the option switches off a setting that is on by default, such as `--no-evidence`."""
    return of.default is True and _names(name, of)[0].startswith("--no-")


def _plain(hint: Any) -> Any:
    """Return the type to which Typer converts a value. Limits and choices are checked later."""
    of_optional = [kind for kind in get_args(hint) if kind is not NoneType]
    kind = of_optional[0] if NoneType in get_args(hint) else hint
    if get_origin(kind) in (tuple, list):
        return list[str]
    return kind if kind in _PLAIN else str
