"""A running dialogue between people and players, and the check of its time limits."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from birdenv.dialogue import Arena, Dialogue, Event, Game, Move, Player, View, replay
from birdenv.dialogue.arena import player_factory
from birdenv.dialogue.move import as_move
from birdenv.dialogue.players import AGENTS, USERS, close_players
from birdenv.errors import InfrastructureError
from birdenv.studies.study._config import HUMAN, StudyLimits
from birdenv.studies.study._records import StoredDialogue
from birdenv.studies.study._shown import Shown, setup, show
from birdenv.studies.study._store import Store
from birdenv.studies.study._waiting_room import Presence

INFRA_ERROR: Final = "infra_error"
PARTNER_ERROR: Final = "partner error"
_log = logging.getLogger("birdenv.studies")


def seat_factory(game: Game, seat: int, spec: str) -> tuple[Any, str]:
    """Return the factory that makes a player for a seat, and the factory's argument.

    Args:
        game: the game.
        seat: the seat.
        spec: the player, such as `learned:FILE`, where `FILE` is the argument.

    Raises:
        InputError: the player does not exist.
    """
    return player_factory(spec, AGENTS if seat == game.evaluated else USERS, game.name)


class LostDialogueError(RuntimeError):
    """Raised if a dialogue differs from the database because a move could not be stored."""


class RunningDialogue:
    """A running dialogue between people and players. Each move is stored immediately.

    This class is thread-safe. Each dialogue has its own lock for playing moves, so a slow SQL statement
    does not delay other dialogues. After a restart of the server, the dialogue is restored from the database
    without rerunning its SQL.

    Attributes:
        stored: the dialogue's database record from when the dialogue began.
        dialogue: the dialogue with its rules. Only methods of this class may change it.
        ended: True if the end of the dialogue is stored.
        is_lost: True if a move could not be stored. Such a dialogue can no longer be used.
        thinking_since: the time at which a player began to think about a move; None if no player is thinking.
    """

    def __init__(
        self, arena: Arena, store: Store, stored: StoredDialogue, clock: Callable[[], float]
    ) -> None:
        self.stored = stored
        self.ended = stored.ended is not None
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self.is_lost = False
        self._wish: str | None = None  # the status with which the dialogue should be stopped
        self.thinking_since: float | None = None  # when the player was asked that is thinking now
        self._thought = 0.0  # when a player last answered
        self.dialogue = arena.start(stored.task)
        self._players = self._make_players(arena)
        self._asked = dict.fromkeys(self._players, -1)  # number of events when a player was last asked
        self._reminders: list[tuple[int, View, Move]] = []  # what players saw and did before a restart
        self._numbers: dict[float, str] = {}  # the browser's number of a move, by the event's time
        self._known: set[tuple[int, str]] = set()
        self._active = dict.fromkeys(self.people, clock())  # nobody could act while no server was running
        self._resume()
        self._setups = {seat: setup(arena.game, self.dialogue.rules, seat) for seat in self.people}
        self._shown = {seat: show(self.dialogue, seat, self._numbers) for seat in self.people}

    @property
    def people(self) -> tuple[int, ...]:
        """Return the indices of the seats that people sit in."""
        return tuple(seat for seat, who in enumerate(self.stored.seats) if who == HUMAN)

    @property
    def has_players(self) -> bool:
        """Return True if a player sits in any of the seats."""
        return len(self.people) < len(self.stored.seats)

    def setup(self, seat: int) -> dict[str, Any]:
        """Return the constant data for the page of the person in a seat: labels, knowledge, and actions."""
        return self._setups[seat]

    def shown(self, seat: int) -> Shown:
        """Return the events and the possible actions that a seat may see now."""
        return self._shown[seat]

    def idle_since(self, seat: int) -> float | None:
        """Return the time at which the person in a seat became idle: able to act, but not acting.

        The result is None if the person may not act, if a move is being played, or if a player is thinking.
        """
        if seat not in self.dialogue.open or self._lock.locked() or self.thinking_since is not None:
            return None
        others = self._active.values() if len(self.dialogue.open) == 1 else ()
        return max(self._active[seat], self._thought, *others)

    def play(self, seat: int, move: Move, cid: str, seconds: float | None = None) -> bool:
        """Play and store a person's move; return False if the move is a duplicate or the dialogue is over.

        Args:
            seat: the person's seat.
            move: the move.
            cid: the browser's id for the move.
            seconds: the time that the person took to write the move; None if unknown.
        """
        with self._held():
            if (seat, cid) in self._known or self.dialogue.is_over:
                return False
            self._known.add((seat, cid))
            self._active[seat] = self._clock()
            self._apply(seat, move, cid, seconds)
            self._active[seat] = self._clock()  # a statement may have taken long
            return True

    def stop(self, status: str) -> None:
        """End the dialogue with a status: immediately, or right after the move that is being played.

        This method returns without waiting. If it is called several times, the first status counts.
        """
        self._wish = self._wish or status
        self._stop_if_wished()

    def next_move(self) -> tuple[int, Move] | None:
        """Ask the players for a move, and return the pair (seat, move), or None if no player moves.

        Only players that may act now are asked, and only once after each event. If no player moves and no
        person may act, the dialogue ends.
        """
        self._remind_players()
        while True:
            with self._held():
                count = len(self.dialogue.events)
                waiting = [seat for seat in self._players if seat in self.dialogue.open]
                ask = next((seat for seat in waiting if self._asked[seat] < count), None)
                if ask is None:
                    if waiting and not set(self.people) & set(self.dialogue.open):
                        self._stop("silence")
                    return None
                view = self.dialogue.view(ask)
            try:
                self.thinking_since = self._clock()
                move = as_move(self._players[ask].move(view))
            except Exception:
                _log.exception("the player in seat %d of %s failed", ask, self.stored.id)
                self.stop(PARTNER_ERROR)
                return None
            finally:
                self.thinking_since, self._thought = None, self._clock()
            self._asked[ask] = count
            if move is not None:
                return ask, move

    def play_for(self, seat: int, move: Move) -> None:
        """Play and store a player's move, unless the dialogue is over."""
        with self._held():
            if self.dialogue.is_over:
                return
            self._apply(seat, move, None, None)
            self._let_people_answer(seat)

    def close(self) -> None:
        """Release the resources of the dialogue and its players, such as databases."""
        with self._lock:
            self.dialogue.close()
            players, self._players = self._players, {}
        close_players(players.values())

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Lock the dialogue in the `with` block. Afterwards, end it if `stop` was called in the meantime."""
        with self._lock:
            if self.is_lost:
                raise LostDialogueError(f"{self.stored.id} differs from the database")
            yield
        self._stop_if_wished()

    def _stop_if_wished(self) -> None:
        if self._wish is not None and not self.is_lost and self._lock.acquire(blocking=False):
            try:
                self._stop(self._wish)
            finally:
                self._lock.release()

    def _make_players(self, arena: Arena) -> dict[int, Player]:
        made: dict[int, Player] = {}
        for seat, spec in enumerate(self.stored.seats):
            if spec == HUMAN:
                continue
            factory, argument = seat_factory(arena.game, seat, spec)
            context = arena.context(self.dialogue, self.stored.task, seat, seed=self.stored.seed)
            made[seat] = factory(argument, context)
        return made

    def _resume(self) -> None:
        moves = self._store.moves(self.stored.id)
        for stored in moves:
            if stored.cid is not None:
                self._known.add((stored.seat, stored.cid))
                self._numbers[stored.event.time] = stored.cid
        if moves:
            events, noted = [each.event for each in moves], [each.noted for each in moves]
            self.dialogue = replay(self.dialogue.rules, events, self._note_view, noted)
            self._let_people_answer(moves[-1].seat)

    def _let_people_answer(self, seat: int) -> None:
        """If a person may act, do not ask the player that has just moved for a second move."""
        if seat in self._players and set(self.people) & set(self.dialogue.open):
            self._asked[seat] = len(self.dialogue.events)

    def _note_view(self, dialogue: Dialogue, event: Event) -> None:
        if event.agent in self._players:
            made = Move(event.action, event.data)
            self._reminders.append((event.agent, dialogue.view(event.agent), made))

    def _remind_players(self) -> None:
        """Tell players what they saw and did before a restart, so that they can restore their state.

        A player without a `remember` method is asked to repeat its moves. People do not wait for this.
        """
        reminders, self._reminders = self._reminders, []
        for seat, view, made in reminders:
            player = self._players.get(seat)
            remember = getattr(player, "remember", None)
            try:
                if callable(remember):
                    remember(view, made)
                elif player is not None:
                    player.move(view)
            except Exception:
                _log.exception("the player in seat %d of %s failed", seat, self.stored.id)

    def _apply(self, seat: int, move: Move, cid: str | None, seconds: float | None) -> None:
        now = round(self._clock(), 3)
        begun = None if seconds is None else round(now - seconds, 3)
        rules = self.dialogue.rules
        rules.noted = None
        count = len(self.dialogue.events)
        try:
            event = self.dialogue.apply(seat, move, time=now, start_time=begun)
        except InfrastructureError:
            self._stop(INFRA_ERROR)
            return
        except Exception:
            _log.exception("a move of seat %d of %s failed", seat, self.stored.id)
            self._stop(INFRA_ERROR)
            return
        if cid is not None:
            self._numbers[event.time] = cid
        self._keep(count, cid, move.data, rules.noted)
        if len(self.dialogue.events) > count + 1:  # the last move that is allowed ends the dialogue
            self._keep(count + 1, None, None)

    def _stop(self, status: str) -> None:
        if self.dialogue.is_over:
            return
        self.dialogue.stop(status, time=round(self._clock(), 3))
        self._keep(len(self.dialogue.events) - 1, None, None)

    def _keep(self, place: int, cid: str | None, sent: Any, noted: Any = None) -> None:
        event = self.dialogue.events[place]
        try:
            self._store.add_move(self.stored.id, place + 1, event.agent, cid, sent, event, noted)
        except BaseException:
            self.is_lost = True
            raise
        self._shown = {
            seat: show(self.dialogue, seat, self._numbers, before.events)
            for seat, before in self._shown.items()
        }


def steady_clock() -> Callable[[], float]:
    """Return a clock that counts seconds since 1970, and does not jump if the system clock is changed."""
    ahead = time.time() - time.monotonic()
    return lambda: ahead + time.monotonic()


def people_gone(
    room: RunningDialogue, people: Mapping[int, str], presence: Presence, limits: StudyLimits, now: float
) -> list[str]:
    """Return the ids of the people in a dialogue who have been away or idle for too long.

    Args:
        room: the dialogue.
        people: the ids of the people in the dialogue, keyed by seat.
        presence: the record of who is connected.
        limits: the limits of the study.
        now: the current time in seconds.
    """
    return [
        id
        for seat, id in people.items()
        if _is_past(presence.away_since(id), limits.away, now)
        or _is_past(room.idle_since(seat), limits.idle, now)
    ]


def overdue(room: RunningDialogue, limits: StudyLimits, now: float) -> str | None:
    """Return the end status if a dialogue has exceeded a time limit, and None otherwise."""
    if _is_past(room.thinking_since, limits.idle, now):
        return PARTNER_ERROR
    return "time limit" if _is_past(room.stored.started, limits.chat, now) else None


def _is_past(since: float | None, limit: float | None, now: float) -> bool:
    return since is not None and limit is not None and now - since > limit
