"""The protocol, context and errors for players, and the loops that ask players for moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.move import QUIT, Move, View, as_move
from birdenv.errors import BirdenvError, InfrastructureError


class Player(Protocol):
    """The player of one seat in one episode.

    Three additional methods are optional. `usage() -> Usage | None` is called when the episode is over.
    `close()` releases resources. When an interrupted dialogue is resumed, `remember(view, move)` tells the
    new player which move was made for each view; a player that lacks this method is asked for these moves
    again.
    """

    def move(self, view: View) -> Move | None:
        """Return a move, or None to wait until the next event. `view` is everything that the seat may see."""


def close_players(players: Iterable[Player | None]) -> None:
    """Close all players that have a `close` method."""
    for player in players:
        close = getattr(player, "close", None)
        if callable(close):
            close()


@dataclass(frozen=True, slots=True)
class PlayerContext:
    """The information that a factory gets to create the player of one episode.

    Attributes:
        game: the name of the game.
        seat: the index of the player's seat.
        seat_name: the name of the player's seat.
        instance_id: the id of the task.
        scenario: the public description of the task.
        rng: a random generator, seeded by the run's seed, the task, `repeat` and the seat.
        brief: the private knowledge of the seat, such as the annotations for the simulated user; None for an
            evaluated seat.
        tasks: the public descriptions of all tasks in the file, in file order.
        options: the run's settings for players, keyed by name.
        repeat: the zero-based index of the repetition of the task.
        legal: the names of the actions that are possible in the first move; empty if another seat begins.
        models: the run's language models (`birdenv.llm.Models`); None outside of runs, and for players from
            other packages.
    """

    game: str
    seat: int
    seat_name: str
    instance_id: str
    scenario: Any
    rng: Random
    brief: Any = None
    tasks: Sequence[Any] = field(default=(), repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0
    legal: Sequence[str] = ()
    models: Any = field(default=None, repr=False)


PlayerFactory: TypeAlias = Callable[[str, PlayerContext], Player]
"""A function that creates the player of one episode. Its arguments are the text after the name in a spec, and
the context."""


@runtime_checkable
class SeesEnd(Protocol):
    """A player that is notified at the end of the dialogue."""

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        """Receive the seat's last view, and the public outcome with the seat's reward."""


def seat_rng(seed: int, instance_id: str, repeat: int = 0, seat: int = 0) -> Random:
    """Return the random generator for one seat's player in one episode.

    Equal arguments yield the same random numbers in every process, regardless of the hash seed.

    Args:
        seed: the seed of the run.
        instance_id: the id of the task.
        repeat: the zero-based index of the repetition of the task.
        seat: the index of the seat.
    """
    name = f"{seed}/{instance_id}" + (f"/repeat {repeat}" if repeat else "")
    return Random(name + (f"/seat {seat}" if seat else ""))


class SeatError(BirdenvError):
    """A player raised an error, or returned something that is not a move.

    Attributes:
        seat: the index of the seat.
        cause: the error that the player raised.
    """

    def __init__(self, seat: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.seat = seat
        self.cause = cause


class Watched:
    """A wrapper that raises `SeatError` if the wrapped player fails.

    Attributes:
        left: `left` if the player quit in the last call to `move`, `said nothing` if the player waited, and
            otherwise an empty string.
    """

    def __init__(self, player: Player, seat: int) -> None:
        self.left = ""
        self._player = player
        self._seat = seat

    def move(self, view: View) -> Move | None:
        """Return the player's move.

        Raises:
            InfrastructureError: a resource that the player needs failed.
            SeatError: the player raised any other exception.
        """
        try:
            return self._noted(self._player.move(view))
        except InfrastructureError:
            raise
        except Exception as error:
            raise SeatError(self._seat, error) from error

    async def move_later(self, view: View) -> Move | None:
        """Async version of `move`, for an asynchronous player."""
        try:
            return self._noted(await self._player.move(view))  # type: ignore[misc]
        except InfrastructureError:
            raise
        except Exception as error:
            raise SeatError(self._seat, error) from error

    def _noted(self, said: Any) -> Move | None:
        made = as_move(said)
        self.left = "said nothing" if made is None else "left" if made.action == QUIT else ""
        return made

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        """Call the player's `see_end` method, if there is one.

        Raises:
            SeatError: the method raised an exception.
        """
        if isinstance(self._player, SeesEnd):
            try:
                self._player.see_end(view, outcome)
            except Exception as error:
                raise SeatError(self._seat, error) from error


SILENT_ROUNDS: Final = 2
"""The number of rounds without a move after which a dialogue ends with the status `silence`."""


def play(
    dialogue: Dialogue,
    players: Sequence[Player | None],
    *,
    first: int = 0,
    patience: int = SILENT_ROUNDS,
    most_events: int | None = None,
) -> None:
    """Let players play a dialogue to its end.

    In each round, the players of all seats that may act are asked once, in the order of the seats' indices.

    Args:
        dialogue: the dialogue to play.
        players: the player of each seat; a seat with None is never asked.
        first: the index of the seat that begins each round.
        patience: the number of consecutive rounds without a move after which the dialogue ends as `silence`.
        most_events: the number of events after which the dialogue ends as `event limit`; None for no limit.

    Raises:
        TypeError: a player returned something that is not a move.
    """
    silent = 0
    count = len(players)
    while seats := dialogue.open:
        spoke = False
        for place in range(count):
            seat = (first + place) % count
            player = players[seat]
            if seat not in seats or player is None or seat not in dialogue.open:
                continue
            move = as_move(player.move(dialogue.view(seat)))
            if move is None:
                continue
            dialogue.apply(seat, move)
            spoke = True
            if most_events is not None and len(dialogue.events) >= most_events:
                dialogue.stop("event limit")
        silent = 0 if spoke else silent + 1
        if silent >= patience:
            dialogue.stop("silence")
    for seat, player in enumerate(players):
        if isinstance(player, SeesEnd):
            earned = {"status": dialogue.status, "reward": dialogue.rewards[seat]}
            player.see_end(dialogue.view(seat), {**dialogue.outcome(), **earned})


def advance(dialogue: Dialogue, players: Sequence[Player | None], seat: int) -> int | None:
    """Let the players of the other seats play until the caller's seat may act or the dialogue is over.

    In each round, the players of all other seats that may act are asked once, in the order of the seats'
    indices. The dialogue ends as `silence` after `SILENT_ROUNDS` rounds without a move.

    Returns:
        The index of another seat that has to move but has no player; None if there is no such seat.
    """
    silent = 0
    while seats := dialogue.open:
        if seat in seats and len(seats) == 1:
            return None
        spoke = False
        for other in sorted(seats):
            if other == seat or other not in dialogue.open:
                continue
            player = players[other]
            if player is None:
                return other
            move = as_move(player.move(dialogue.view(other)))
            if move is not None:
                dialogue.apply(other, move)
                spoke = True
        if seat in dialogue.open:
            return None
        silent = 0 if spoke else silent + 1
        if silent >= SILENT_ROUNDS:
            dialogue.stop("silence")
    return None
