"""Players of every seat: their protocol, what they are told, letting them play, and whose an error was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.move import QUIT, Move, View, as_move
from birdenv.errors import BirdenvError, InfrastructureError


class Player(Protocol):
    """Plays one seat of one episode.

    Three methods are optional: `usage() -> Usage | None` is asked when the episode is over; `close()` lets go
    of what the player holds; `remember(view, move)` takes a move as one that the player made at this view, so
    that a dialogue can go on after a restart. A player without it is asked again.
    """

    def move(self, view: View) -> Move | None:
        """Return a move for this view; None says nothing now. It is asked again after anything happens."""


@dataclass(frozen=True, slots=True)
class PlayerContext:
    """Everything that a player is told when it is made, apart from its argument.

    Attributes:
        game: name of the game.
        seat: index of the seat.
        seat_name: name of the seat.
        instance_id: the task of the episode.
        scenario: the public description of that task.
        rng: a random generator, seeded by run, task, repeat and seat.
        brief: private knowledge of the seat (the simulated user's annotations); None for evaluated seats.
        tasks: public descriptions of all tasks of the file, in its order.
        options: the run's settings for players, by name.
        repeat: which of several episodes of the task, from 0.
        legal: the actions that the seat may take in the first move; empty if it is not its turn.
        models: the run's language models (`birdenv.llm.Models`); None outside of runs and in players of
            others.
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
"""Makes the player of one episode from the text after the name, and the context."""


@runtime_checkable
class SeesEnd(Protocol):
    """A player that is told how its dialogue ended: its last view, and the public outcome with its reward."""

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None: ...


def seat_rng(seed: int, instance_id: str, repeat: int = 0, seat: int = 0) -> Random:
    """Return the random stream of one seat in one episode: the same in every process and hash seed.

    Repeat 0 has the stream of a run that plays each task once.
    """
    name = f"{seed}/{instance_id}" + (f"/repeat {repeat}" if repeat else "")
    return Random(name + (f"/seat {seat}" if seat else ""))


class SeatError(BirdenvError):
    """The player of a seat raised an error, or did not return a move; `__cause__` has the details."""

    def __init__(self, seat: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.seat = seat
        self.cause = cause


class Watched:
    """Plays as another player does, and raises `SeatError` for what that one raises.

    Attributes:
        left: how the player left without doing what its seat is there for, in silence or by name; else empty.
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
"""Rounds in which all open seats are silent; then the dialogue is over as `silence`."""


def play(
    dialogue: Dialogue,
    players: Sequence[Player | None],
    *,
    first: int = 0,
    patience: int = SILENT_ROUNDS,
    most_events: int | None = None,
) -> None:
    """Let players (one a seat, by index) play a dialogue to its end.

    Open seats are asked in index order from `first`. When all of them are silent for `patience` rounds, the
    dialogue is stopped as `silence`; after `most_events` events as `event limit`.

    Raises:
        TypeError: a player returns something that is no move.
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
    """Let the others play until the caller's seat may act or the dialogue is over.

    Every other open seat is asked once, in index order; while the caller's seat may not act, the others go
    on, until all are silent.

    Returns:
        the seat that waits for words from outside, if one does.
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
