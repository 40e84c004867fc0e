"""Moves, and the view that a player gets to make one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, overload

from birdenv.dialogue.event import Event

QUIT = "quit"
"""The action by which a player leaves a dialogue; every seat has it."""


class Move(NamedTuple):
    """One move: the name of an action, its JSON data, and a private trace.

    The trace says how the player came to the move (which annotation an answer draws on). It goes into the
    private record and into no view.
    """

    action: str
    data: Any = None
    trace: Any = None


def as_move(made: Any) -> Move | None:
    """Return what a player made as a `Move`; None is silence.

    Raises:
        TypeError: it is no move.
    """
    if made is None or (type(made) is Move and isinstance(made.action, str)):
        return made
    action = getattr(made, "action", None)
    if isinstance(made, Move):
        raise TypeError(f"a birdenv.Move needs the name of an action, got {type(action).__name__}")
    if not isinstance(action, str):
        raise TypeError(
            f"the player returned {type(made).__name__}, expected a birdenv.Move, the result of "
            "birdenv.submit_sql(...) and its like, or None"
        )
    return Move(action, getattr(made, "data", None), getattr(made, "trace", None))


class Heard(Sequence[Event]):
    """The first `count` events of a list that only grows: a value, made without copying."""

    __slots__ = ("_count", "_events")

    def __init__(self, events: Sequence[Event], count: int) -> None:
        self._events = events
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Event, ...]: ...
    def __getitem__(self, place: int | slice) -> Event | tuple[Event, ...]:
        if isinstance(place, slice):
            return tuple(self._events[i] for i in range(*place.indices(self._count)))
        return self._events[range(self._count)[place]]

    def __iter__(self) -> Iterator[Event]:
        return (self._events[i] for i in range(self._count))

    def __reversed__(self) -> Iterator[Event]:
        return iter(self._events[: self._count][::-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Heard, (tuple(self), self._count)


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class View(NamedTuple):
    """All that one seat may see now, and nothing else. Looking twice changes nothing.

    Gauges and extras can be read as attributes, too: `view.turns_left`, `view.candidates`.

    Attributes:
        seat: the seat's index.
        instruction: rules and knowledge of the seat as text; constant in an episode.
        message: everything said to the seat since its last move, or the opening.
        sender: the last one who spoke.
        legal: names of the actions that are possible now; empty while the seat may not act.
        phase: the phase, from 1.
        gauges: what is left of things that run out.
        heard: the events that this seat has seen, oldest first.
        waits: another seat may act, too, so that silence (None) is a move.
        kb: the seat's knowledge as JSON data; never more than `instruction` tells.
        choices: the values of `item` fields.
        extras: public extras of one game, such as candidate statements.
    """

    seat: int
    instruction: str
    message: str = ""
    sender: str = ""
    legal: tuple[str, ...] = ()
    phase: int = 1
    gauges: Mapping[str, float] = _NOTHING
    heard: Sequence[Event] = ()
    waits: bool = False
    kb: Any = None
    choices: Sequence[Any] = ()
    extras: Mapping[str, Any] = _NOTHING

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name not in ("gauges", "extras"):
            for values in (self.gauges, self.extras):
                if name in values:
                    return values[name]
            known = ", ".join([*self._fields, *self.gauges, *self.extras])
            raise AttributeError(f"a view of this game has no {name!r}; it has {known}")
        raise AttributeError(name)
