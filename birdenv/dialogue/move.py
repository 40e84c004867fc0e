"""Moves, the views in which players see an episode, and the events and steps that result from moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

HOUSE: Final = -1
"""The `agent` of an event by which birdenv itself ("the house") ends a dialogue, such as at a time limit."""

STOP: Final = "stop"
"""The action by which the house ends a dialogue. The data of the event is the dialogue's final status."""

DECORATIVE: Final = frozenset({"join", "leave", "typing", "eval"})
"""The actions in CoCoA's files that are not moves. They never reach the rules, and a game must not use their
names for its own actions."""

UNKNOWN: Final = "unknown"
"""The name that the log gives to an action that is one of `DECORATIVE`, or whose name is too long."""


class Event(NamedTuple):
    """A logged move, with the fields of CoCoA's event files.

    Attributes:
        agent: the index of the seat that moved, or `HOUSE` if birdenv logged the event itself.
        time: the time of the move: a step counter from 1, or seconds on the caller's clock. The time
            increases with every event.
        action: the name of the action.
        data: the data of the action, as a JSON value.
        start_time: the time at which the player began the move, on the same clock; None if it is not known.
        metadata: the reply to the move (`{"sender": ..., "reply": ...}`), or None if there is no reply. If
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
"""The action by which a player leaves a dialogue. Every seat has this action."""


class Move(NamedTuple):
    """A move by a player.

    Attributes:
        action: the name of the action.
        data: the data of the action, as a JSON value; None if the action has no fields.
        trace: an explanation of the move, such as the annotation that an answer is based on; None if there is
            no explanation. Only the private record contains the trace; no seat sees it.
    """

    action: str
    data: Any = None
    trace: Any = None


class Step(NamedTuple):
    """The result of a move that the caller of an `Episode` made.

    Attributes:
        text: everything that was said to the caller since the move.
        sender: the last sender, such as `user`, `database` or `judge`.
        reward: the reward of this step; `Episode.reward` is the total.
        done: True if the episode is over.
        truncated: True if the episode was ended by a limit that is not part of the protocol.
        question: the question that the caller has to answer with `Episode.answer`. None unless the caller
            also plays the other seat, and that seat was asked a question.
        malformed: True if the move could not be read.
        void: True if an infrastructure failure, or a failure of another seat's player, ended the episode.
            Such an episode says nothing about the policy: exclude it from training and from all rates.
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
    """Convert the value that a player returned to a `Move`. None means that the player did not move.

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
            "birdenv.submit_sql(...) or a similar function, or None"
        )
    return Move(action, getattr(made, "data", None), getattr(made, "trace", None))


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class View(NamedTuple):
    """Everything that the player in one seat may see now.

    Gauges and extras can also be read as attributes: `view.turns_left`, `view.candidates`.

    Attributes:
        seat: the index of the seat.
        instruction: the rules and the knowledge of the seat as text; constant in an episode.
        message: everything that was said to the seat since its last move. Before the first move, the message
            begins with the opening of the dialogue.
        sender: the last sender of the message, such as `user`, `database` or `judge`.
        legal: the names of the actions that are possible now; empty while the seat may not act.
        phase: the current phase of the episode, counted from 1.
        gauges: how much is left of each limited resource, such as `turns_left`, keyed by name.
        heard: the events that this seat has seen, oldest first.
        waits: True if another seat may act as well, so the player can wait (return None).
        kb: the seat's knowledge as JSON data, which `instruction` contains as text; None for no data.
        choices: the possible values for a field of the kind `item`.
        extras: additional public values from the game, such as candidate statements, keyed by name.
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
