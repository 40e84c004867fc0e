"""The protocol, context and errors of players, and the loops that let them play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.move import QUIT, Move, View, as_move
from birdenv.errors import BirdenvError, InfrastructureError


class Player(Protocol):
    """Plays one seat of one episode.

    Three methods are optional. `usage() -> Usage | None` is called when the episode is over. `close()`
    releases resources. When a dialogue continues after a restart, `remember(view, move)` tells the new player
    which move was made at this view; a player without this method is asked for the move again.
    """

    def move(self, view: View) -> Move | None:
        """Return a move for this view, or None to wait. The player is asked again after the next event."""


def close_players(players: Iterable[Player | None]) -> None:
    """Close all players that have a `close` method."""
    for player in players:
        close = getattr(player, "close", None)
        if callable(close):
            close()


@dataclass(frozen=True, slots=True)
class PlayerContext:
    """Everything that a player learns when it is created, apart from its argument.

    Attributes:
        game: the name of the game.
        seat: the index of the seat.
        seat_name: the name of the seat.
        instance_id: the id of the task.
        scenario: the public description of the task.
        rng: a random generator, which depends on the seed of the run, the task, the repeat and the seat.
        brief: the private knowledge of the seat, such as the annotations for the simulated user; None for an
            evaluated seat.
        tasks: the public descriptions of all tasks of the file, in its order.
        options: the run's settings for players, by name.
        repeat: which of several episodes of the task this is, from 0.
        legal: the actions that are possible in the first move; empty if it is another seat's turn.
        models: the run's language models (`birdenv.llm.Models`); None outside of runs, and for players of
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
"""A function that creates the player of one episode from its argument (the text after the name in a spec)
and the context."""


@runtime_checkable
class SeesEnd(Protocol):
    """A player that wants to know how its dialogue ended."""

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        """Learn how the dialogue ended, from the last view and the public outcome with the seat's reward."""


def seat_rng(seed: int, instance_id: str, repeat: int = 0, seat: int = 0) -> Random:
    """Return the random generator of one seat in one episode.

    The generator is the same in every process, whatever the hash seed. Repeat 0 has the same generator as the
    only episode in a run that plays each task once.
    """
    name = f"{seed}/{instance_id}" + (f"/repeat {repeat}" if repeat else "")
    return Random(name + (f"/seat {seat}" if seat else ""))


class SeatError(BirdenvError):
    """The player of a seat raised an error or returned something that is not a move.

    Attributes:
        seat: the seat.
        cause: the error.
    """

    def __init__(self, seat: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.seat = seat
        self.cause = cause


class Watched:
    """A player that asks another player, and raises `SeatError` if that player fails.

    Attributes:
        left: `left` if the player quit in its last move, `said nothing` if it waited; otherwise empty.
    """

    def __init__(self, player: Player, seat: int) -> None:
        self.left = ""
        self._player = player
        self._seat = seat

    def move(self, view: View) -> Move | None:
        """Return the player's move.

        Raises:
            InfrastructureError: something that the player needs was lost.
            SeatError: the player raised anything else.
        """
        try:
            made = as_move(self._player.move(view))
            self.left = "said nothing" if made is None else "left" if made.action == QUIT else ""
            return made
        except InfrastructureError:
            raise
        except Exception as error:
            raise SeatError(self._seat, error) from error

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        """Tell the player how the dialogue ended, if it wants to know."""
        if isinstance(self._player, SeesEnd):
            try:
                self._player.see_end(view, outcome)
            except Exception as error:
                raise SeatError(self._seat, error) from error


SILENT_ROUNDS: Final = 2
"""The number of rounds without any move after which a dialogue ends with the status `silence`."""


def play(
    dialogue: Dialogue,
    players: Sequence[Player | None],
    *,
    first: int = 0,
    patience: int = SILENT_ROUNDS,
    most_events: int | None = None,
) -> None:
    """Let players play a dialogue to its end.

    Open seats are asked in the order of their indices, beginning with `first`.

    Args:
        dialogue: the dialogue.
        players: the players, by seat; a seat without a player (None) is never asked.
        first: the seat that is asked first in each round.
        patience: the number of rounds without any move after which the dialogue ends as `silence`.
        most_events: the number of events after which the dialogue ends as `event limit`.

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
    """Let the other seats play until the caller's seat may act or the dialogue is over.

    In each round, every other open seat is asked once, in the order of the indices. The dialogue ends as
    `silence` if all of them say nothing for several rounds.

    Returns:
        The open seat that has no player and so waits for an answer from outside; None if there is none.
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
