"""Create players from specs, objects and functions.

A spec is `name`, `name:argument`, `module:factory` or `module:factory:argument`. Names are entry points in
the groups `birdenv.agents` (for the evaluated seat) and `birdenv.users` (for the other seats).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import PurePath
from typing import Any, Final, TypeVar

from birdenv.dialogue.move import Move, View, as_move
from birdenv.dialogue.players._player import Player, PlayerContext, PlayerFactory
from birdenv.errors import InputError, describe_error
from birdenv.plugins import PluginError, load_plugin, plugins, ships_with_birdenv

AGENTS: Final = "birdenv.agents"
USERS: Final = "birdenv.users"


_EXPECTED: Final = (
    "expected a function that takes a view and returns a move, a class with a method move(view), or a "
    "function that takes (argument, context) and returns an object with this method"
)


class _Function:
    """A player that calls a function to get its moves."""

    def __init__(self, function: Callable[[View], Any]) -> None:
        self._function = function

    def move(self, view: View) -> Move | None:
        return as_move(self._function(view))


class _AsyncFunction:
    """A player that awaits an async function to get its moves."""

    def __init__(self, function: Callable[[View], Awaitable[Any]]) -> None:
        self._function = function

    async def move(self, view: View) -> Move | None:
        return as_move(await self._function(view))


_F = TypeVar("_F", bound=Callable[..., Any])


def plays(*games: str) -> Callable[[_F], _F]:
    """Mark a player factory as suitable for the named games, so that it is not listed for any other.

    >>> @plays("my-game")
    ... def haggler(argument, context): ...
    >>> haggler.games
    ('my-game',)
    """

    def mark(factory: _F) -> _F:
        factory.games = games  # type: ignore[attr-defined]
        return factory

    return mark


def as_factory(found: Any, name: str) -> PlayerFactory:
    """Return a player factory for any object that a caller can pass as a player.

    Args:
        found: a function or class that creates a player, and takes either the arguments `argument` and
            `context` or no arguments; a function that takes a view and returns a move; or a player, which
            then plays all episodes in turn.
        name: the name of the player, for error messages.

    Raises:
        InputError: `found` is not one of these objects.
    """
    if not inspect.isclass(found) and callable(getattr(found, "move", None)):
        return lambda argument, context: found
    if not callable(found):
        raise InputError(f"player {name!r} is not callable: {_EXPECTED}")
    arguments = _arguments_of(found)
    if arguments == 1 and not inspect.isclass(found):
        kind: Any = _AsyncFunction if inspect.iscoroutinefunction(found) else _Function
        return lambda argument, context: kind(found)
    if arguments > 2:
        raise InputError(f"player {name!r} needs {arguments} arguments: {_EXPECTED}")

    def make(argument: str, context: PlayerContext) -> Player:
        try:
            player: Player = found() if arguments == 0 else found(argument, context)
        except (TypeError, AttributeError) as error:
            if inspect.isclass(found):
                raise
            raise InputError(
                f"player {name!r} cannot be created: {describe_error(error)}; {_EXPECTED}"
            ) from error
        if not callable(getattr(player, "move", None)):
            raise InputError(
                f"player {name!r} created a {type(player).__name__}, which has no method move(view): "
                f"{_EXPECTED}"
            )
        return player

    if hasattr(found, "sees_private"):
        make.sees_private = found.sees_private  # type: ignore[attr-defined]
    return make


def refuse_async(players: Iterable[Any]) -> None:
    """Raise `InputError` if a player is asynchronous. Only an `Episode` can wait for such a player."""
    for player in players:
        if inspect.iscoroutinefunction(getattr(player, "move", player)):
            name = getattr(player, "__name__", type(player).__name__)
            raise InputError(f"{name} is asynchronous: only aact(), acall() and asay() can play with it")


def _arguments_of(function: Callable[..., Any]) -> int:
    """Return the number of required positional arguments, or 2 if the signature is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        return 2
    return sum(each.kind in kinds and each.default is inspect.Parameter.empty for each in parameters)


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player spec: text that names a player, such as `rule` or `module:factory:argument`.

    Attributes:
        spec: the player spec as text.
        group: the entry-point group that contains the name.
        game: the name of a game. Error messages list the players for this game or, if the name is empty, for
            all games.
    """

    spec: str
    group: str = AGENTS
    game: str = ""

    @property
    def name(self) -> str:
        """Return the part of the spec before the first colon."""
        return self.spec.partition(":")[0]

    @property
    def is_ours(self) -> bool:
        """Return True if the player ships with birdenv, so it can run in a process that has private data."""
        entry = self._entry()
        return entry is not None and ships_with_birdenv(entry)

    def check(self) -> None:
        """Check that the spec could name a player, without importing the player.

        Raises:
            InputError: the name is unknown and does not look like `module:factory`; the message lists the
                known names.
        """
        module, _, rest = self.spec.partition(":")
        is_module = all(part.isidentifier() for part in module.split("."))
        if self._entry() is None and not (rest and is_module):
            raise self._unknown()

    def load(self) -> tuple[PlayerFactory, str]:
        """Import the player's factory, and return the factory and its argument.

        Call this method only in a process that may run the player, because importing it runs its code.

        Raises:
            InputError: there is no such player, or its import fails.
        """
        self.check()
        name, _, rest = self.spec.partition(":")
        entry = self._entry()
        try:
            if entry is not None:
                return as_factory(entry.load(), self.spec), rest
            attribute, _, argument = rest.partition(":")
            return as_factory(getattr(importlib.import_module(name), attribute), self.spec), argument
        except InputError:
            raise
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
                raise self._unknown(f" (module {name!r} is neither installed nor in this folder)") from None
            raise self._not_imported(str(error)) from None
        except Exception as error:
            raise self._not_imported(describe_error(error)) from None

    def _entry(self) -> EntryPoint | None:
        return plugins(self.group).get(self.name)

    @property
    def _kind(self) -> str:
        return "user" if self.group == USERS else "agent"

    def _unknown(self, why: str = "") -> InputError:
        names = player_names(self.group, self.game)
        known = ", ".join(names) or "none; is birdenv installed with pip?"
        kind, of_game = self._kind, f" of {self.game}" if self.game else ""
        ours = f"known {kind}s{of_game}: {known}"
        return InputError(f"unknown {kind} {self.spec!r}; {ours}; or use {self._instead(names)}{why}")

    def _instead(self, names: Sequence[str]) -> str:
        """Return what the user may have meant by the spec."""
        module, _, rest = self.spec.partition(":")
        if module.endswith(".py"):
            return f"{PurePath(module).stem}:{rest or 'FACTORY'} (the module without .py), from its folder"
        if self.spec and not rest and "llm" in names:
            return f"module:factory, or llm:{module} if this is a language model"
        return "module:factory"

    def _not_imported(self, why: str) -> InputError:
        return InputError(f"{self._kind} {self.spec!r} cannot be imported: {why}")


def player_names(group: str = AGENTS, game: str = "") -> list[str]:
    """Return the sorted names of the installed players in an entry-point group.

    If `game` is given, only players that can play this game are returned.
    """
    return sorted(name for name, entry in plugins(group).items() if not game or _may_play(entry, game))


def _may_play(entry: EntryPoint, game: str) -> bool:
    """Return False if the player is marked as suitable only for other games (see `plays`).

    Players of other packages are not imported, and always count as suitable.
    """
    if not ships_with_birdenv(entry):
        return True
    try:
        return game in getattr(load_plugin(entry), "games", (game,))
    except PluginError:
        return True
