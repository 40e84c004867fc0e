"""One running dialogue: its rules, its players, and what each seat has been shown so far."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from birdenv.dialogue import Arena, Dialogue, Event, Game, Move, Player, replay
from birdenv.dialogue._move import as_move
from birdenv.dialogue.arena import player_factory
from birdenv.dialogue.players import AGENTS, USERS
from birdenv.errors import InfrastructureError
from birdenv.web.study._config import HUMAN
from birdenv.web.study._shown import actions, line, told
from birdenv.web.study._store import Store, StoredDialogue

INFRA_ERROR: Final = "infra_error"
PARTNER_ERROR: Final = "partner error"
_log = logging.getLogger("birdenv.web")


def seat_factory(game: Game, seat: int, spec: str) -> tuple[Any, str]:
    """Return the factory and the argument of a player in a seat.

    Raises:
        InputError: there is no such player.
    """
    return player_factory(spec, AGENTS if seat == game.evaluated else USERS)


class Shown(NamedTuple):
    """What a seat may see: the events so far, and what it may do now. A value; readers need no lock."""

    events: tuple[dict[str, Any], ...]
    state: dict[str, Any]


class RunningDialogue:
    """A dialogue of people and players, kept in the store move by move. Safe from any thread.

    One lock guards the dialogue while a move is played, so a slow statement holds up its own dialogue only.
    """

    def __init__(
        self, arena: Arena, store: Store, stored: StoredDialogue, clock: Callable[[], float]
    ) -> None:
        self.stored = stored
        self.ended = False
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._dialogue = arena.start(stored.task)
        self._players = self._make_players(arena)
        self._asked = dict.fromkeys(self._players, -1)  # events there were when a player was last asked
        self._numbers: dict[float, str] = {}  # the browser's number of a move, by the event's time
        self._known: set[tuple[int, str]] = set()
        self._active = dict.fromkeys(self.people, stored.started)
        self._resume()
        self._setups = {seat: self._setup(seat, arena) for seat in self.people}
        self._shown = {seat: self._show(seat) for seat in self.people}

    @property
    def people(self) -> tuple[int, ...]:
        """The seats of people."""
        return tuple(seat for seat, who in enumerate(self.stored.seats) if who == HUMAN)

    @property
    def has_players(self) -> bool:
        """True if not only people sit here."""
        return len(self.people) < len(self.stored.seats)

    @property
    def is_over(self) -> bool:
        """True when nobody may act any more."""
        return self._dialogue.is_over

    @property
    def status(self) -> str:
        """Why the dialogue is over."""
        return self._dialogue.status

    @property
    def outcome(self) -> dict[str, Any]:
        """The public result."""
        return self._dialogue.outcome()

    @property
    def rewards(self) -> tuple[float, ...]:
        """The rewards by seat."""
        return self._dialogue.rewards

    def setup(self, seat: int) -> dict[str, Any]:
        """Return what a person's page is built of: texts, knowledge, and actions. It never changes."""
        return self._setups[seat]

    def shown(self, seat: int) -> Shown:
        """Return what a seat may see now."""
        return self._shown[seat]

    def idle_since(self, seat: int) -> float | None:
        """Return since when a person could have acted and did not; None while they may not act."""
        if seat not in self._dialogue.open:
            return None
        others = [self._active[each] for each in self.people if each != seat]
        return max(self._active[seat], *others, 0.0) if len(self._dialogue.open) == 1 else self._active[seat]

    def play(self, seat: int, move: Move, cid: str, seconds: float | None = None) -> bool:
        """Play a person's move once, and keep it; False if it was played before or comes too late.

        Args:
            seat: the person's seat.
            move: the move.
            cid: the browser's number of the move.
            seconds: how long the person wrote.
        """
        with self._lock:
            if (seat, cid) in self._known or self._dialogue.is_over:
                return False
            self._known.add((seat, cid))
            self._active[seat] = self._clock()
            self._apply(seat, move, cid, seconds)
            return True

    def stop(self, status: str, *, wait: bool = True) -> None:
        """End the dialogue by the house.

        Without `wait`, nothing happens while a move is being carried out: whoever keeps the time asks again,
        and a slow statement of one dialogue holds up no other one.
        """
        if self._lock.acquire(blocking=wait):
            try:
                self._stop(status)
            finally:
                self._lock.release()

    def next_move(self) -> tuple[int, Move] | None:
        """Ask the players whose turn it may be; None if no player has anything to say now.

        A player is asked once after something happened, and again while no person may act, as by every
        driver.
        """
        while True:
            with self._lock:
                count = len(self._dialogue.events)
                waiting = [seat for seat in self._players if seat in self._dialogue.open]
                ask = next((seat for seat in waiting if self._asked[seat] < count), None)
                if ask is None:
                    if waiting and not set(self.people) & set(self._dialogue.open):
                        self._stop("silence")
                    return None
                view = self._dialogue.view(ask)
            try:
                move = as_move(self._players[ask].move(view))
            except Exception:
                _log.exception("the player in seat %d of %s failed", ask, self.stored.id)
                self.stop(PARTNER_ERROR)
                return None
            self._asked[ask] = count
            if move is not None:
                return ask, move

    def play_for(self, seat: int, move: Move) -> None:
        """Play a player's move."""
        with self._lock:
            if self._dialogue.is_over:
                return
            self._apply(seat, move, None, None)
            self._let_people_answer(seat)

    def close(self) -> None:
        """Let go of databases and of what players hold."""
        with self._lock:
            self._dialogue.close()
            players, self._players = self._players, {}
        for player in players.values():
            close = getattr(player, "close", None)
            if callable(close):
                close()

    def _make_players(self, arena: Arena) -> dict[int, Player]:
        made: dict[int, Player] = {}
        for seat, spec in enumerate(self.stored.seats):
            if spec == HUMAN:
                continue
            factory, argument = seat_factory(arena.game, seat, spec)
            context = arena.context(self._dialogue, self.stored.task, seat, seed=self.stored.seed)
            made[seat] = factory(argument, context)
        return made

    def _resume(self) -> None:
        """Play what is stored. Players are asked again, so that they know what they knew."""
        moves = self._store.moves(self.stored.id)
        for stored in moves:
            if stored.cid is not None:
                self._known.add((stored.seat, stored.cid))
                self._numbers[stored.event.time] = stored.cid
            if stored.seat in self._active:
                self._active[stored.seat] = stored.event.time
        if moves:
            self._dialogue = replay(self._dialogue.rules, [each.event for each in moves], self._remind)
            self._let_people_answer(moves[-1].seat)

    def _let_people_answer(self, seat: int) -> None:
        """A player that has just moved is not asked again while a person may act."""
        if seat in self._players and set(self.people) & set(self._dialogue.open):
            self._asked[seat] = len(self._dialogue.events)

    def _remind(self, dialogue: Dialogue, event: Event) -> None:
        player = self._players.get(event.agent)
        if player is None:
            return
        try:
            player.move(dialogue.view(event.agent))
        except Exception:
            _log.exception("the player in seat %d of %s failed", event.agent, self.stored.id)

    def _apply(self, seat: int, move: Move, cid: str | None, seconds: float | None) -> None:
        now = round(self._clock(), 3)
        begun = None if seconds is None else round(now - seconds, 3)
        try:
            event = self._dialogue.apply(seat, move, time=now, start_time=begun)
        except InfrastructureError:
            self._stop(INFRA_ERROR)
            return
        except Exception:
            _log.exception("a move of seat %d of %s failed", seat, self.stored.id)
            self._stop(INFRA_ERROR)
            return
        if cid is not None:
            self._numbers[event.time] = cid
        self._keep(event, cid, move.data)

    def _stop(self, status: str) -> None:
        if self._dialogue.is_over:
            return
        self._dialogue.stop(status, time=round(self._clock(), 3))
        self._keep(self._dialogue.events[-1], None, None)

    def _keep(self, event: Event, cid: str | None, sent: Any) -> None:
        number = len(self._dialogue.events)
        self._store.add_move(self.stored.id, number, event.agent, cid, sent, event)
        self._shown = {seat: self._show(seat) for seat in self.people}

    # --- what people see

    def _setup(self, seat: int, arena: Arena) -> dict[str, Any]:
        game, rules = arena.game, self._dialogue.rules
        return {
            **told(game, rules, seat),
            "phases": game.seats[seat].phases,
            "actions": actions(game, rules, seat),
        }

    def _show(self, seat: int) -> Shown:
        dialogue = self._dialogue
        old = self._shown[seat].events if hasattr(self, "_shown") else ()
        new = tuple(
            self._line(seat, len(old) + place, event)
            for place, event in enumerate(dialogue.heard(seat, len(old)))
        )
        view = dialogue.view(seat)
        state: dict[str, Any] = {
            "legal": list(view.legal),
            "phase": view.phase,
            "gauges": dict(view.gauges),
            "choices": list(view.choices),
            "over": dialogue.is_over,
        }
        if dialogue.is_over:
            state |= {"status": dialogue.status, "reward": dialogue.rewards[seat]}
        return Shown((*old, *new), state)

    def _line(self, seat: int, number: int, event: Event) -> dict[str, Any]:
        """One event as a seat sees it; a move of its own has the browser's number."""
        cid = self._numbers.get(event.time) if event.agent == seat else None
        return {"number": number, "cid": cid, **line(event, seat)}
