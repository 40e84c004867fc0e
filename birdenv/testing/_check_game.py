"""A checker that plays a game to find common mistakes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

from birdenv.dialogue import Action, Dialogue, Field, Game, Move, Seat, make_game
from birdenv.dialogue.games import GROUP
from birdenv.dialogue.rules import method_that_raised
from birdenv.errors import BirdenvError, describe_error
from birdenv.plugins import load_plugin, plugins
from birdenv.statistics import counted

_EPISODES: Final = 4  # the number of episodes for each task
_TASKS: Final = 5
_MOST_MOVES: Final = 2_000


class GameFaultsError(BirdenvError):
    """A game's declaration or rules contain mistakes.

    Attributes:
        faults: a description of each mistake, keyed by name (see `check_game`).
    """

    def __init__(self, name: str, faults: dict[str, str]) -> None:
        lines = "".join(f"\n  {fault}: {found}" for fault, found in faults.items())
        super().__init__(f"the game {name} has {counted(len(faults), 'mistake')}:{lines}")
        self.faults = faults


def check_game(game: Game, *, seed: int = 0, **settings: Any) -> None:
    """Play a game with random legal moves, and check it for mistakes.

    The names of the mistakes are `seats`, `actions`, `fields`, `name`, `tasks`, `rewards`, `open`, `legal`,
    `instruction`, `gauges`, `voices`, `phases`, `end`, `outcome`, `repeatable` and `error`.

    Args:
        game: the declaration of the game.
        seed: the seed for the random moves.
        **settings: the game's settings for `make_game`.

    Raises:
        GameFaultsError: there are mistakes; the message names all of them.
    """
    faults: dict[str, str] = {}
    for name, found in _declared(game):
        faults.setdefault(name, found)
    if not faults:
        for name, found in _played(game, seed, settings):
            faults.setdefault(name, found)
    if faults:
        raise GameFaultsError(getattr(game, "name", "?"), faults)


def _declared(game: Game) -> Iterator[tuple[str, str]]:
    if (
        not isinstance(game.seats, tuple)
        or not game.seats
        or not all(isinstance(s, Seat) for s in game.seats)
    ):
        yield "seats", f"expected a tuple of birdenv.dialogue.Seat, got {game.seats!r:.80}"
        return
    for name, count in Counter(game.seat_names).items():
        if count > 1:
            yield "seats", f"{count} seats are called {name!r}"
    if not 0 <= game.evaluated < len(game.seats):
        yield (
            "seats",
            f"the evaluated seat is {game.evaluated}, but the game has {counted(len(game.seats), 'seat')}",
        )
    for seat in game.seats:
        if not isinstance(seat.actions, tuple | list) or not all(isinstance(a, Action) for a in seat.actions):
            yield "actions", f"{seat.name}: expected a tuple of Action, got {seat.actions!r:.80}"
            continue
        for name, count in Counter(action.name for action in seat.actions).items():
            if count > 1:
                yield "actions", f"{seat.name} has {count} actions called {name!r}"
        for action in seat.actions:
            fields = action.fields
            if not isinstance(fields, tuple | list) or not all(isinstance(f, Field) for f in fields):
                yield (
                    "fields",
                    f"{action.name}: expected a tuple of Field, such as (Field(...),), got {fields!r:.80}",
                )
    owner = plugins(GROUP).get(game.name)
    if owner is not None and load_plugin(owner) is not game:
        yield "name", f"another game is registered as {game.name!r}"


def _played(game: Game, seed: int, settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    try:
        arena = make_game(game, **settings)
    except Exception as error:
        yield "tasks", f"{game.name} cannot be loaded: {describe_error(error)}"
        return
    with arena:
        if not arena.ids or len(set(arena.ids)) < len(arena.ids):
            yield "tasks", f"expected tasks with unique ids, got {list(arena.ids)!r:.80}"
            return
        for name in arena.ids[:_TASKS]:
            for number in range(_EPISODES):
                found = _CheckedEpisode(game, arena.start(name), Random(f"{seed} {name} {number}"))
                yield from found.play()
                again = _CheckedEpisode(game, arena.start(name), Random(f"{seed} {name} {number}"))
                list(again.play())
                if found.trace() != again.trace():
                    yield "repeatable", f"{name}: the same moves did not give the same events and rewards"


class _CheckedEpisode:
    def __init__(self, game: Game, dialogue: Dialogue, random: Random) -> None:
        self._game, self._dialogue, self._random = game, dialogue, random
        self._moves: list[str] = []

    def trace(self) -> str:
        dialogue = self._dialogue
        return repr((dialogue.events, dialogue.rewards, dialogue.status))

    def play(self) -> Iterator[tuple[str, str]]:
        dialogue = self._dialogue
        try:
            for _ in range(_MOST_MOVES):
                yield from self._state()
                if dialogue.is_over:
                    break
                self._move()
            else:
                yield "end", f"an episode did not end within {_MOST_MOVES} random moves"
            json.dumps(dialogue.outcome(), allow_nan=False)
        except _WrongStateError as error:
            yield error.fault, str(error)
        except (TypeError, ValueError) as error:
            yield ("outcome" if dialogue.is_over else "error"), self._said(error)
        except Exception as error:
            yield "error", self._said(error)
        finally:
            dialogue.close()

    def _said(self, error: Exception) -> str:
        where = method_that_raised(self._dialogue.rules, error)
        return f"{describe_error(error)}{where}"

    def _state(self) -> Iterator[tuple[str, str]]:
        rules, seats = self._dialogue.rules, self._game.seats
        rewards = rules.rewards
        if not isinstance(rewards, tuple) or len(rewards) != len(seats) or not all(map(_is_finite, rewards)):
            yield "rewards", f"expected a tuple of {len(seats)} finite numbers, got {rewards!r:.80}"
        strangers = [seat for seat in self._dialogue.open if seat not in range(len(seats))]
        if strangers:
            raise _WrongStateError(
                "open", f"there is no seat {strangers[0]!r}; the game has {counted(len(seats), 'seat')}"
            )
        for seat in self._dialogue.open:
            declared, legal = seats[seat], rules.legal(seat)
            unknown = [name for name in legal if name not in declared.by_name]
            if isinstance(legal, str) or unknown:
                raise _WrongStateError(
                    "legal", f"{declared.name} has no action {next(iter(unknown), legal)!r}"
                )
            if not legal and not declared.waits:
                raise _WrongStateError("legal", f"{declared.name} is open, but none of its actions is legal")
            if not isinstance(told := rules.instruction(seat), str):
                yield "instruction", f"{declared.name}: expected a string, got {told!r:.80}"
            if not 1 <= rules.phase() <= declared.phases:
                yield (
                    "phases",
                    f"{declared.name} is in phase {rules.phase()!r} of {declared.phases}",
                )
            for name, left in rules.gauges(seat).items():
                if not _is_finite(left) or not 0 <= left <= declared.gauges.get(name, -1):
                    most = declared.gauges.get(name)
                    yield "gauges", f"{declared.name}: {name} is {left!r}, but its declared limit is {most!r}"

    def _move(self) -> None:
        seat = self._random.choice(sorted(self._dialogue.open))
        declared, view = self._game.seats[seat], self._dialogue.view(seat)
        if view.sender not in declared.voices:
            raise _WrongStateError(
                "voices",
                f"{declared.name} got a message from {view.sender!r}, but its voices are {declared.voices}",
            )
        if not view.legal:
            self._dialogue.stop("silence")
            return
        action = declared.by_name[self._random.choice(view.legal)]
        values = {field.name: self._value(field, view.choices) for field in action.fields}
        self._dialogue.apply(seat, Move(action.name, action.data_of(values)))

    def _value(self, field: Field, choices: Sequence[Any]) -> Any:
        random = self._random
        if field.is_text:
            return random.choice(("yes", "SELECT 1", "what do you mean?", "5"))
        if field.kind == "item":
            return random.choice(choices) if choices else None
        if field.kind == "integer":
            return random.randint(math.ceil(field.low), math.floor(field.high))
        return random.uniform(field.low, field.high)


class _WrongStateError(Exception):
    """The game is in a state in which no more moves can be played."""

    def __init__(self, fault: str, found: str) -> None:
        super().__init__(found)
        self.fault = fault


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
