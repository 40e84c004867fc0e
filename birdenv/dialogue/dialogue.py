"""Dialogues, which pass an episode's moves to its rules and log them, and functions that replay logs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Final, Literal

from birdenv.dialogue.move import DECORATIVE, HOUSE, QUIT, STOP, UNKNOWN, Event, Move, View
from birdenv.dialogue.rules import AS_MADE, HOUSE_VOICE, Reply, Rules
from birdenv.dialogue.seat import CUT, MAX_TEXT, Fault

NOT_NOW: Final = "It is not your turn."
_event = partial(tuple.__new__, Event)  # needs all fields; takes half the time of `Event(...)`
_view = partial(tuple.__new__, View)
MOST_EVENTS: Final = 5_000
"""The number of events after which a dialogue ends with the status `event limit`."""

_LONGEST_NAME: Final = 100  # the most characters that the log keeps of an unknown action's name
_TICK: Final = 0.001  # seconds between two events if the clock has not advanced


class DialogueOver(ValueError):  # noqa: N818 (a state, not a fault)
    """A move was attempted after the end of the dialogue."""


class _Side:
    """The state of one seat in a dialogue.

    `since` is the index of the seat's last move in `heard`. `view` caches the view until the next event.
    """

    def __init__(self, rules: Rules, seat: int) -> None:
        declared = rules.seats[seat]
        self.seat = seat
        self.by_name = declared.by_name
        self.has_choices = declared.items > 0
        self.instruction = rules.instruction(seat)
        self.knowledge = rules.knowledge(seat)
        self.opening = rules.opening(seat)
        self.heard: list[Event] = []
        self.since = 0
        self.view: View | None = None


class Dialogue:
    """One episode: its rules, and an append-only log of all events that changed their state.

    `replay(rules, events)` restores a dialogue in the same state, with identical views. A dialogue is not
    thread-safe: callers with threads need a lock for each dialogue. Only `apply` and `stop` may change the
    state of the rules.

    Attributes:
        rules: the rules and the state of the episode.
        events: the log, oldest event first.
        open: the indices of the seats that may act now; empty if the dialogue is over.
        refused: why the last move was refused: a `Fault`, or `rules` if the rules refused a well-formed move.
            None if the last move was not refused.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.events: list[Event] = []
        self.open: Collection[int] = rules.open()
        self.refused: Fault | Literal["rules"] | None = None
        self._sides = {seat: _Side(rules, seat) for seat in range(len(rules.seats))}
        self._phase = rules.phase if type(rules).phase is not Rules.phase else None
        self._shown = rules.shown if type(rules).shown is not Rules.shown else None

    @property
    def turn(self) -> int | None:
        """Return the index of the seat that may act, or None if there is no such seat or more than one."""
        return next(iter(self.open)) if len(self.open) == 1 else None

    @property
    def is_over(self) -> bool:
        """Return True if the dialogue is over, which means that no seat may act."""
        return not self.open

    @property
    def terminated(self) -> bool:
        """Return True if the dialogue is over because the rules of the game ended it."""
        return not self.open and not self.rules.truncated

    @property
    def truncated(self) -> bool:
        """Return True if the dialogue was ended by a limit that is not part of the protocol."""
        return self.rules.truncated

    @property
    def rewards(self) -> tuple[float, ...]:
        """Return the reward that each seat has earned so far."""
        return self.rules.rewards

    @property
    def status(self) -> str:
        """Return the reason why the dialogue is over, or an empty string while it is running."""
        return self.rules.status

    def view(self, seat: int) -> View:
        """Return everything that a seat may see now.

        Raises:
            ValueError: there is no such seat.
        """
        side = self._sides.get(seat)
        if side is None:
            raise ValueError(f"there is no seat {seat}; the seats are 0 to {len(self._sides) - 1}")
        if side.view is not None:
            return side.view
        rules = self.rules
        is_open = seat in self.open
        message, sender = self._words(side, side.since)
        side.view = view = _view(
            (
                seat,
                side.instruction,
                message,
                sender,
                rules.legal(seat) if is_open else (),
                1 if self._phase is None else self._phase(),
                rules.gauges(seat),
                tuple(side.heard),
                is_open and len(self.open) > 1,
                side.knowledge,
                rules.choices(seat) if side.has_choices else (),
                rules.extras(seat),
            )
        )
        return view

    def heard(self, seat: int, after: int = 0) -> tuple[Event, ...]:
        """Return the events that a seat has seen, oldest first, skipping the first `after` events."""
        return tuple(self._sides[seat].heard[after:])

    def words(self, seat: int, after: int) -> tuple[str, str]:
        """Return the text of all messages to a seat, skipping the first `after` events that it saw.

        The second value is the sender of the last message.
        """
        return self._words(self._sides[seat], after)

    def apply(
        self, seat: int, move: Move, *, time: float | None = None, start_time: float | None = None
    ) -> Event:
        """Play a move, and return the event that was logged for it.

        A move that is illegal, malformed or out of turn raises no error. It is logged as refused, and the
        rules of the game determine the cost.

        Args:
            seat: the index of the seat that moves.
            move: the move to play.
            time: the time of the move on the caller's clock, in seconds; by default, a step counter from 1.
            start_time: the time at which the player began the move, on the same clock.

        Raises:
            DialogueOver: the dialogue is over.
            InfrastructureError: a database or other resource failed. Call `stop("infra_error")` to end the
                episode.
        """
        if not self.open:
            raise DialogueOver("the dialogue is over")
        rules, side = self.rules, self._sides[seat]
        action, data = move.action, move.data
        fault: Fault | None = None
        self.refused = None
        if seat not in self.open:
            fault, reply = "illegal", Reply(NOT_NOW, refused=True)
        elif (declared := side.by_name.get(action)) is None:
            if action == QUIT:
                reply, data = rules.leave(seat), None  # its data has passed no filter
            else:
                fault, reply = "unknown", rules.refuse(seat, move, "unknown")
        else:
            if action not in (rules.legal(seat) if side.view is None else side.view.legal):
                fault = "illegal"
            else:
                fault = declared.check(data, rules.choices(seat) if side.has_choices else ())
            reply = rules.play(seat, move) if fault is None else rules.refuse(seat, move, fault)
        if fault is not None:
            action, data = _kept_name(action), _kept(data)
        try:
            text, said = reply.text, reply.data
        except AttributeError:
            made = f"{type(rules).__name__} answered {action!r} with {type(reply).__name__}"
            raise TypeError(f"{made}, expected a birdenv.dialogue.Reply") from None
        if said is not AS_MADE:
            data = said
        metadata: dict[str, Any] | None = None if text is None else {"sender": reply.sender, "reply": text}
        if fault is not None or reply.refused:
            self.refused = fault or "rules"
        if reply.refused and metadata is not None:
            metadata["refused"] = True
        stamp = len(self.events) + 1 if time is None else self._later(time)
        event = _event((seat, stamp, action, data, start_time, metadata))
        side.since = len(side.heard)
        self._append(event, side if reply.refused else None)
        if len(self.events) >= MOST_EVENTS and not rules.replaying:
            self.stop("event limit", time=time)
        return event

    def stop(self, status: str, *, time: float | None = None) -> None:
        """End the dialogue for a reason that is not part of its rules. If it is already over, do nothing.

        Args:
            status: the reason, such as `event limit`, `silence`, `time limit`, `left` or `infra_error`.
            time: the time of the end on the caller's clock, in seconds; by default, a step counter.
        """
        if not self.open:
            return
        self.rules.stop(status)
        stamp = len(self.events) + 1 if time is None else self._later(time)
        self._append(Event(HOUSE, stamp, STOP, status), None)
        self.rules.close()

    def outcome(self) -> dict[str, Any]:
        """Return the public result of the episode."""
        return self.rules.outcome()

    def close(self) -> None:
        """Release the resources of the rules. This method can be called more than once."""
        self.rules.close()

    def _append(self, event: Event, only: _Side | None) -> None:
        self.events.append(event)
        self.open = self.rules.open()
        shown = self._shown
        for side in self._sides.values():
            side.view = None
            if only is None or side is only:
                seen = event if shown is None else shown(side.seat, event)
                if seen is not None:
                    side.heard.append(seen)

    def _later(self, time: float) -> float:
        last = self.events[-1].time if self.events else None
        return time if last is None or time > last else round(last + _TICK, 3)

    def _words(self, side: _Side, after: int) -> tuple[str, str]:
        heard = side.heard
        if not heard:
            return side.opening
        if after == len(heard) - 1 and (own := heard[after]).agent == side.seat:  # only its reply
            metadata = own.metadata
            return ("", HOUSE_VOICE) if metadata is None else (metadata["reply"], metadata["sender"])
        return words_of(self.rules, side.seat, heard[after:], side.opening if not after else None)


def seen_by(rules: Rules, seat: int, events: Iterable[Event]) -> list[tuple[int, Event]]:
    """Return the recorded events as one seat saw them, each with its index in the log.

    The events are not replayed, so no SQL runs.
    """
    seen = []
    for place, event in enumerate(events):
        if event.agent == seat or not (event.metadata or {}).get("refused"):
            shown = rules.shown(seat, event)
            if shown is not None:
                seen.append((place, shown))
    return seen


def words_of(
    rules: Rules, seat: int, events: Sequence[Event], opening: tuple[str, str] | None = None
) -> tuple[str, str]:
    """Return the text of all messages to a seat in a sequence of events, and the last sender."""
    said: list[str] = []
    voice, house, has_moved = "", HOUSE_VOICE, False
    for event in events:
        agent, _, kind, data, _, metadata = event
        if agent == seat:
            has_moved = True
        elif agent >= 0:
            speaker = rules.seats[agent]
            action = speaker.by_name.get(kind)
            if action is None or not action.is_text:
                said.append(_told(event))
            else:
                said.append(data if isinstance(data, str) else action.text_of(data))
            voice = speaker.name
        if metadata is not None:
            said.append(metadata["reply"])
            house = metadata["sender"]
        elif agent == HOUSE:
            said.append(f"The dialogue was ended: {data}.")
    if opening is not None and not has_moved:
        said, voice = [opening[0], *said], voice or opening[1]
    return "\n".join(filter(None, said)), voice or house


def spoken(event: Event) -> str:
    """Return the text of a logged move. If the move has no text, return its action and data in brackets."""
    return event.data if isinstance(event.data, str) else _told(event)


def _told(event: Event) -> str:
    data = "" if event.data is None else f" {json.dumps(event.data, ensure_ascii=False)}"
    return f"[{event.action}{data}]"


def _kept_name(action: str) -> str:
    """Return the name under which the log keeps the action of a refused move."""
    return UNKNOWN if action in DECORATIVE or len(action) > _LONGEST_NAME else action


def _kept(data: Any) -> Any:
    """Return the data of a refused move as JSON for the log, or only its length if it is too long."""
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, str):
        return data if len(data) <= MAX_TEXT else {CUT: len(data)}
    try:
        text = json.dumps(data, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return json.loads(text) if len(text) <= MAX_TEXT else {CUT: len(text)}


def replay(
    rules: Rules,
    events: Sequence[Event],
    before: Callable[[Dialogue, Event], None] | None = None,
    noted: Sequence[Any] = (),
) -> Dialogue:
    """Replay recorded events, and return the dialogue in its final state.

    Args:
        rules: new rules for the same task, before any moves.
        events: the recorded events. Events that are not moves are skipped.
        before: a function that is called before each event, with the dialogue so far and the event.
        noted: the value of `Rules.noted` that was recorded after each event. If an event has no such value,
            its SQL is re-run.
    """
    rules.replaying = True
    dialogue = Dialogue(rules)
    for event, rules.recalled in zip_longest(events, noted):
        if event.action in DECORATIVE:
            continue
        if before is not None:
            before(dialogue, event)
        if event.agent == HOUSE:
            dialogue.stop(str(event.data), time=event.time)
        else:
            move = Move(event.action, event.data)
            dialogue.apply(event.agent, move, time=event.time, start_time=event.start_time)
    rules.replaying, rules.recalled = False, None
    return dialogue
