"""Arenas, which give access to the tasks and episodes of a game.

    arena = make_game(name)
    with arena.episode(arena.ids[0]) as episode:
        step = episode.act("clarify", "What do you mean?")

Environments, runs and adapters use arenas.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final

from birdenv.dialogue.chat import tool_schemas
from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.episode import Episode
from birdenv.dialogue.games import Game, Settings, TaskList, find_game, read_settings
from birdenv.dialogue.players import AGENTS, USERS, Player, PlayerContext, PlayerSpec, as_factory, seat_rng
from birdenv.errors import InputError

OUTSIDE: Final = None
"""The value that stands for the player of a seat if the caller plays this seat."""


class _Loaded:
    """The tasks of a game with given settings, which several arenas share."""

    def __init__(self, key: Any, tasks: TaskList) -> None:
        self.key = key
        self.tasks = tasks
        self.users = 0


_loaded: dict[Any, _Loaded] = {}
_lock = threading.RLock()


def _load(game: Game, settings: Settings) -> _Loaded:
    key = (game.name, repr(settings.model_dump()), settings.identity())
    with _lock:
        loaded = _loaded.get(key)
        if loaded is None:
            loaded = _loaded[key] = _Loaded(key, game.tasks(settings))
        loaded.users += 1
        return loaded


def _let_go(loaded: _Loaded) -> None:
    with _lock:
        loaded.users -= 1
        if loaded.users or _loaded.get(loaded.key) is not loaded:
            return
        del _loaded[loaded.key]
    loaded.tasks.close()


def _forget() -> None:
    """In a forked child process, forget the tasks that the parent process loaded and will close."""
    global _lock
    _lock = threading.RLock()
    _loaded.clear()


os.register_at_fork(after_in_child=_forget)


@atexit.register
def _close_all() -> None:
    with _lock:
        left = list(_loaded.values())
        _loaded.clear()
    for loaded in left:
        loaded.tasks.close()


def make_game(name: str | Game, *, models: Any = None, **settings: Any) -> Arena:
    """Load a game and return its arena.

    Arenas with equal settings and unchanged files share their tasks and databases. The databases are closed
    when the last of these arenas is closed, or at the end of the process.

    Args:
        name: the name of a registered game, such as `c-interact`, `a-interact` or `bird`, or a `Game`.
        models: the endpoints and keys for players that are language models (`birdenv.llm.ModelSettings`); by
            default, they come from environment variables and `.env`.
        **settings: the game's settings. An argument named after a seat sets its player: a spec (`rule`,
            `module:factory`), a player, a function from a view to a move, or None if the caller answers.

    Raises:
        InputError: the game, a setting or a file cannot be used.
    """
    game = find_game(name) if isinstance(name, str) else name
    players: dict[int, Any] = dict(game.players)
    for seat, seat_name in enumerate(game.seat_names):
        if seat_name in settings:
            players[seat] = settings.pop(seat_name)
    arena = Arena(game, read_settings(game, settings), players, models=models)
    for note in arena._tasks.notes:
        warnings.warn(note, stacklevel=2)
    return arena


class Arena:
    """A game with given settings, and its tasks and episodes. Several threads can share an arena.

    Attributes:
        game: the declaration of the game.
        settings: the settings of the game.
        ids: the ids of the tasks, in file order.
        players: the player of each seat as given to `make_game`, keyed by the index of the seat.
    """

    def __init__(
        self, game: Game, settings: Settings, players: Mapping[int, Any] | None = None, models: Any = None
    ) -> None:
        self.game = game
        self._models = models
        self.settings = settings
        self._loaded = _load(game, settings)
        self._finalizer = weakref.finalize(self, _let_go, self._loaded)
        self._finalizer.atexit = False
        self._tasks: TaskList = self._loaded.tasks
        self.ids: tuple[str, ...] = self._tasks.ids
        self._known = frozenset(self.ids)
        self.players = dict(game.players if players is None else players)
        self._factories = {
            seat: player_factory(player, USERS if seat != game.evaluated else AGENTS, game.name)
            for seat, player in self.players.items()
            if player is not OUTSIDE
        }

    def __enter__(self) -> Arena:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the tasks, and close their databases if no other arena uses them."""
        self._finalizer()

    def instruction(self, instance_id: str, seat: int | str | None = None) -> str:
        """Return a seat's instruction for a task. By default, the seat is the evaluated seat.

        Raises:
            InputError: there is no such task or seat.
        """
        index = self.game.evaluated if seat is None else self.game.seat_index(seat)
        rules = self._tasks.start(self._checked(instance_id))
        try:
            return rules.instruction(index)
        finally:
            rules.close()

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Return the evaluated seat's actions as tool schemas, in chat completions format.

        `birdenv.dialogue.tools_as` converts the schemas to other formats.
        """
        seat = self.game.seats[self.game.evaluated]
        if not self.ids:
            return tool_schemas(seat)
        rules = self._tasks.start(self.ids[0])
        try:
            return tool_schemas(seat, rules.offered(self.game.evaluated))
        finally:
            rules.close()

    def prompt(self, instance_id: str, *, markup: bool = False) -> str:
        """Return the first message to a model: the instruction and, with `markup`, how to use the markup.

        Raises:
            InputError: there is no such task, or the game has no markup.
        """
        instruction = self.instruction(instance_id)
        if not markup:
            return instruction
        if not self.game.markup_help:
            raise InputError(f"{self.game.name} has no markup: models play it with tool calls")
        return f"{instruction}\n\n{self.game.markup_help}"

    def rows(self, *, markup: bool = False) -> list[dict[str, Any]]:
        """Return a training dataset that contains only public data, with one row for each task.

        Each row has `id`, `prompt` (see the method `prompt`), `tools` (empty with `markup`), and the facts
        about the task that the game declares, such as `database` and `difficulty` for SQL games.
        """
        tools = [] if markup else self.tools
        return [
            {
                "id": name,
                "prompt": self.prompt(name, markup=markup),
                "tools": tools,
                **self._tasks.facts(name),
            }
            for name in self.ids
        ]

    def start(self, instance_id: str) -> Dialogue:
        """Return a new dialogue about a task, with no players. To play one seat, use `episode` instead."""
        return Dialogue(self._tasks.start(self._checked(instance_id)))

    def seat_players(
        self,
        dialogue: Dialogue,
        instance_id: str,
        *,
        seed: int = 0,
        repeat: int = 0,
        but: int | None = None,
        models: Any = None,
    ) -> list[Player | None]:
        """Return a new player for each seat of a dialogue, or None for a seat that the caller plays.

        Args:
            dialogue: the dialogue to create players for.
            instance_id: the id of the dialogue's task.
            seed: the seed of the players' random generators.
            repeat: the zero-based index of the repetition of the task.
            but: the index of a seat that gets no player because the caller plays it.
            models: the language models of the run.
        """
        made: list[Player | None] = []
        for seat in range(len(self.game.seats)):
            found = None if seat == but else self._factories.get(seat)
            if found is None:
                made.append(None)
                continue
            factory, argument = found
            context = self.context(dialogue, instance_id, seat, seed=seed, repeat=repeat, models=models)
            made.append(factory(argument, context))
        return made

    def context(
        self,
        dialogue: Dialogue,
        instance_id: str,
        seat: int,
        *,
        seed: int = 0,
        repeat: int = 0,
        options: Mapping[str, str] | None = None,
        models: Any = None,
    ) -> PlayerContext:
        """Return the context for creating the player of a seat (see `seat_players`)."""
        return PlayerContext(
            game=self.game.name,
            seat=seat,
            seat_name=self.game.seats[seat].name,
            instance_id=instance_id,
            scenario=self._tasks.public(instance_id),
            rng=seat_rng(seed, instance_id, repeat, seat),
            brief=dialogue.rules.private_brief(seat),
            tasks=self._tasks.all_public(),
            options=dict(options or {}),
            repeat=repeat,
            legal=dialogue.rules.legal(seat) if seat in dialogue.open else (),
            models=models,
        )

    def episode(self, instance_id: str, *, seed: int = 0, seat: int | str | None = None) -> Episode:
        """Start an episode of a task in which the caller plays one seat.

        Args:
            instance_id: the id of the task.
            seed: the seed for the random generators of the players in the other seats.
            seat: the index or name of the caller's seat; by default, the evaluated seat.

        Raises:
            InputError: there is no such task or seat.
        """
        index = self.game.evaluated if seat is None else self.game.seat_index(seat)
        dialogue = self.start(instance_id)
        others = self.seat_players(dialogue, instance_id, seed=seed, but=index, models=self._models)
        names = [player_name(self.players.get(each)) for each in range(len(self.game.seats))]
        return Episode(self.game, self._tasks, instance_id, dialogue, others, names, index)

    def _checked(self, instance_id: str) -> str:
        if not isinstance(instance_id, str) or instance_id not in self._known:
            raise InputError(f"there is no task {instance_id!r}; the tasks are {listed(self.ids)}")
        return instance_id


def player_name(player: Any) -> str:
    """Return the name of a player in records: its spec, or the name of its class or function."""
    if player is OUTSIDE or isinstance(player, str):
        return player or ""
    return str(getattr(player, "__name__", type(player).__name__))


def player_factory(player: Any, group: str, game: str = "") -> tuple[Any, str]:
    """Return the factory and its argument for a player given as a spec, an object or a function."""
    if isinstance(player, str):
        return PlayerSpec(player, group, game).load()
    return as_factory(player, type(player).__name__), ""


_NAMES_SHOWN: Final = 8


def listed(names: Sequence[str]) -> str:
    """Return text that lists the first few names and states how many more there are."""
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
