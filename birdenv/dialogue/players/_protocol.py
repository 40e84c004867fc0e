"""The protocol of players, the same for every seat; what they are told when they are made, and at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, TypeAlias, runtime_checkable

from birdenv.dialogue.move import Move, View


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
    """All that a player is told when it is made, beside its argument.

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
        legal: the actions that the seat may take in the first move; none where it is not its turn.
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
