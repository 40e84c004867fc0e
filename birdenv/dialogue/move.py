"""Moves, the views that players base their moves on, and the events and steps that result from moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

HOUSE: Final = -1
"""The seat of the house in the log. The house ends dialogues: time limits, people who leave, lost servers."""

STOP: Final = "stop"
"""The action by which the house ends a dialogue; its data is the status."""

DECORATIVE: Final = frozenset({"join", "leave", "typing", "eval"})
"""Actions of CoCoA's files that are no moves. They never reach the rules, and no action of a game may have
one of these names."""

UNKNOWN: Final = "unknown"
"""The name under which the log keeps a move that has one of those names."""


class Event(NamedTuple):
    """One move of a seat, with the fields of CoCoA's event files.

    `seen_by` and `Rules.shown` decide who sees an event.

    Attributes:
        agent: the seat.
        time: a step counter from 1, or the driver's clock in seconds. It increases with every event.
        action: the name of the action.
        data: a JSON value of the form that the action declares.
        start_time: when the player began, by the same clock.
        metadata: the reply of the house (`{"sender": ..., "reply": ...}`), or None if there is no reply. If
            the move was refused, `metadata` also has `"refused": true`, and only the player who moved sees
            the event.
    """

    agent: int
    time: float
    action: str
    data: Any = None
    start_time: float | None = None
    metadata: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return self._asdict() | {"metadata": None if self.metadata is None else dict(self.metadata)}

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
"""The action by which a player leaves a dialogue. Every seat has it."""


class Move(NamedTuple):
    """One move: the name of an action, its JSON data, and a private trace.

    The trace explains how the player chose the move, for example by the annotation that an answer draws on.
    Only the private record contains the trace; no seat sees it.
    """

    action: str
    data: Any = None
    trace: Any = None


class Step(NamedTuple):
    """The result of one move of the caller.

    Attributes:
        text: everything said to the caller since the move.
        sender: who spoke last.
        reward: the reward of this step; `Episode.reward` is the total.
        done: True if the episode is over.
        truncated: True if a limit outside of the protocol ended the episode.
        question: the question that `Episode.answer` has to answer next; None unless the other seat is played
            from outside and was asked.
        malformed: True if the move could not be read.
        void: True if a fault of the machine or of another seat's player ended the episode. Such an episode
            says nothing about the policy: leave it out of training and of every rate.
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
    """Convert the value that a player returned to a `Move`, or to None if the player did not move.

    Raises:
        TypeError: the value is not a move.
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


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class View(NamedTuple):
    """Everything that one seat may see now. Creating a view has no side effects.

    Gauges and extras can also be read as attributes: `view.turns_left`, `view.candidates`.

    Attributes:
        seat: the seat's index.
        instruction: the rules and the knowledge of the seat as text; constant in an episode.
        message: everything said to the seat since its last move; before the first move, with the opening.
        sender: who spoke last.
        legal: the names of the actions that are possible now; empty while the seat may not act.
        phase: the current phase, counted from 1.
        gauges: how much is left of each limited resource, by name.
        heard: the events that this seat has seen, oldest first.
        waits: True if another seat may act as well, so that the player may wait (return None).
        kb: the seat's knowledge as JSON data; it never says more than `instruction`.
        choices: the values that a field of the kind `item` may have.
        extras: further public values of the game, such as candidate statements.
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
