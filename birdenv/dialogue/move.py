"""Moves and what they come to: the view that a player gets to make one, the step, the event in the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, overload

HOUSE: Final = -1
"""The seat of the house in the log: time limits, people who leave, lost servers."""

STOP: Final = "stop"
"""The action of the house that ends a dialogue; its data is the status."""

DECORATIVE: Final = frozenset({"join", "leave", "typing", "eval"})
"""Actions in files that stand beside the log: they never reach the rules. No move has such a name."""

UNKNOWN: Final = "unknown"
"""The name in the log of a move that was called as one of those."""


class Event(NamedTuple):
    """One thing that a seat did, in the fields of CoCoA's event files.

    `time` is unique in a dialogue and grows: a step counter from 1, or the driver's clock in seconds. `data`
    is a JSON value, as its action declares it. `metadata` holds the house's reply to the move
    (`{"sender": ..., "reply": ...}`) or null. `"refused": true` stands there where the move changed nothing
    and was seen by its author only. Who sees an event: `_dialogue.seen_by`, `Rules.shown`.
    """

    agent: int
    time: float
    action: str
    data: Any = None
    start_time: float | None = None
    metadata: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {
            "agent": self.agent,
            "time": self.time,
            "action": self.action,
            "data": self.data,
            "start_time": self.start_time,
            "metadata": dict(self.metadata) if self.metadata is not None else None,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Event:
        """Read an event from a JSON object."""
        return cls(
            agent=record["agent"],
            time=record["time"],
            action=record["action"],
            data=record.get("data"),
            start_time=record.get("start_time"),
            metadata=record.get("metadata"),
        )


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


class Step(NamedTuple):
    """The result of one move of the caller.

    Attributes:
        text: everything said to the caller since.
        sender: the last one who spoke.
        reward: earned by this step; the total is `Episode.reward`.
        done: the episode is over.
        truncated: a limit outside of the protocol ended it.
        question: words that wait for the caller's `answer`, where another seat is played from outside.
        malformed: the move could not be read.
        void: something failed that is not the caller's, the machine or another seat's player, and ended the
            episode. It says nothing about the policy: leave it out of training and of every rate.
    """

    text: str
    sender: str
    reward: float
    done: bool
    truncated: bool
    question: str | None = None
    malformed: bool = False
    void: bool = False


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
