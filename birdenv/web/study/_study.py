"""A study: people from consent to completion code, and the dialogues between. No network, any clock."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from random import Random, SystemRandom
from typing import Any, Final
from uuid import UUID

from birdenv.dialogue import Arena, Move
from birdenv.dialogue.games import Question
from birdenv.errors import InputError
from birdenv.web._platform import TAKEN, is_same_visit
from birdenv.web.study._answers import read_answer, read_words
from birdenv.web.study._config import PAID, Ending, StudyConfig
from birdenv.web.study._game import check_players
from birdenv.web.study._running_dialogue import INFRA_ERROR, PARTNER_ERROR, RunningDialogue
from birdenv.web.study._store import Person, Report, Store
from birdenv.web.study._waiting_room import End, Presence, WaitingRoom

TRIES: Final = 2
"""Tries of the comprehension check."""

_MOST_REPORTS: Final = 20  # of one person
LEFT: Final = "left"
BROKEN: Final = (LEFT, PARTNER_ERROR, INFRA_ERROR)
"""Ends of dialogues that leave a person alone, and that fill no quota."""

_QUESTIONS: Final = (
    Question("humanlike", "How much did your partner talk like a person?"),
    Question("cooperative", "How well did your partner work with you?"),
    Question("comments", "Is there anything that you would like to tell us?", "dialogue", 0, False),
)


class Study:
    """One study over one arena. Safe from any thread.

    Attributes:
        arena: the game.
        config: the study's settings.
        store: its database.
        changed: called with the ids of people whose status or dialogue changed.
        presence: who is connected.
        waiting: the waiting room.
    """

    def __init__(
        self,
        arena: Arena,
        config: StudyConfig,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
    ) -> None:
        if len(arena.game.seats) > 2:
            raise InputError(f"{arena.game.name} has more than two seats, which a study cannot fill")
        check_players(arena.game, config)
        self.arena = arena
        self.config = config
        self.store = store
        self.clock = clock
        self.changed: Callable[[Iterable[str]], None] = lambda people: None
        self.presence = Presence(clock)
        self._rng = rng or SystemRandom()
        self._lock = threading.RLock()  # of changes of status; never held while a move is played
        self._loading = threading.Lock()
        self._rooms: dict[str, RunningDialogue] = {}
        self.waiting = WaitingRoom(arena, config, store, self._rng, BROKEN)
        self._keep_settings()

    @property
    def title(self) -> str:
        """The study's name on the pages."""
        return self.config.title or self.arena.game.title or self.arena.game.name

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions after a dialogue."""
        own = self.config.survey
        return own if own is not None else self.arena.game.survey or _QUESTIONS

    def new_id(self) -> str:
        """Return a random id."""
        return UUID(int=self._rng.getrandbits(128), version=4).hex

    # --- people

    def agree(
        self, id: str, external: str | None = None, platform: Mapping[str, str] | None = None
    ) -> Person:
        """Take a person in who agreed.

        One whom the platform sent before goes on as the same person if it is the same visit, and no browser
        of theirs is connected.

        Raises:
            InputError: somebody else takes part under this id of the platform, as far as can be told.
        """
        platform = platform or {}
        person = self.store.add_person(id, external, platform, self.clock())
        is_known = person.id == id or is_same_visit(person.platform, platform)
        if not is_known or (person.id != id and self.presence.tabs(person.id)):
            raise InputError(TAKEN)
        return person

    def understood(self, id: str, answers: Mapping[int, int], number: int | None = None) -> bool:
        """Judge the comprehension check, and let a person into the waiting room; False after a wrong answer.

        The second wrong try ends their part. `number` counts tries from 0: one sent twice counts once.
        """
        with self._lock:
            person = self._in_status(id, "instructions")
            if person is None:
                return True
            if number is not None and number < person.tries:
                return False
            if all(answers.get(place) == each.answer for place, each in enumerate(self.config.check)):
                self._set(id, "waiting")
                return True
            tries = person.tries + 1
            if tries >= TRIES:
                self._finish(id, "failed_check", tries=tries)
            else:
                self.store.move_person(id, "instructions", person.since, tries=tries)
            return False

    def play(self, id: str, move: Move, cid: str, seconds: float | None = None) -> None:
        """Play a person's move in their dialogue; nothing happens where they have none."""
        person = self._in_status(id, "chat")
        if person is None or person.dialogue is None or person.seat is None:
            return
        room = self.room(person.dialogue)
        room.play(person.seat, move, cid, seconds)
        self.settle(room)

    def leave(self, id: str) -> None:
        """Let a person leave for good. A partner is told, and may go on."""
        with self._lock:
            person = self.store.person(id)
            if person is None or person.status in ("finished", "survey"):
                return
            self._finish(id, "left")
        if person.status == "chat" and person.dialogue is not None:
            room = self.room(person.dialogue)
            room.stop(LEFT)
            self.settle(room)

    def again(self, id: str) -> None:
        """Let a person whose partner left wait for another one."""
        with self._lock:
            if self._in_status(id, "alone"):
                self._set(id, "waiting")

    def end_alone(self, id: str) -> None:
        """Let a person whose partner left finish."""
        with self._lock:
            if self._in_status(id, "alone"):
                self._finish(id, "partner_left")

    def answer(self, id: str, answers: Mapping[str, str]) -> None:
        """Keep a survey. An answer that was left out is null.

        Raises:
            InputError: a needed answer is missing, or one is not possible.
        """
        read = {each.name: read_answer(each, answers.get(each.name, "")) for each in self.questions}
        with self._lock:
            person = self._in_status(id, "survey")
            if person is None or person.dialogue is None or person.seat is None:
                return
            self.store.add_survey(person.dialogue, person.seat, read)
            self._finish(id, "done")

    def report(self, id: str, text: str) -> None:
        """Keep what a person tells the study's owner. Nothing else changes for them.

        Raises:
            InputError: there is no text, or too much.
        """
        person = self.store.person(id)
        if person is not None and len(self.store.reports(id)) < _MOST_REPORTS:
            words = read_words("What is wrong?", text, required=True) or ""
            self.store.add_report(Report(id, person.dialogue, person.status, self.clock(), words))

    # --- dialogues

    def used(self) -> dict[tuple[str, str], int]:
        """Return how many dialogues each task has with each partner; those that broke off do not count."""
        return self.store.used(BROKEN)

    def loaded(self, dialogue: str) -> RunningDialogue | None:
        """Return a running dialogue if it is in memory; never waits."""
        return self._rooms.get(dialogue)

    def room(self, dialogue: str) -> RunningDialogue:
        """Return a running dialogue; after a restart it is played again from what is stored."""
        room = self._rooms.get(dialogue)
        if room is not None:
            return room
        with self._loading:
            if dialogue not in self._rooms:
                stored = self.store.dialogue(dialogue)
                self._rooms[dialogue] = RunningDialogue(self.arena, self.store, stored, self.clock)
            return self._rooms[dialogue]

    def settle(self, room: RunningDialogue) -> None:
        """Tell people what happened; after the end, keep the outcome and send them on."""
        people = self.store.seated(room.stored.id)
        if room.is_over:
            with self._lock:
                if not room.ended:
                    room.ended = True
                    self._end(room, people)
            room.close()
            self._rooms.pop(room.stored.id, None)
        self.changed(people.values())

    def _end(self, room: RunningDialogue, people: Mapping[int, str]) -> None:
        now = self.clock()
        with self.store.transaction():
            self.store.end_dialogue(room.stored.id, now, room.status, room.outcome, room.rewards)
            for id in people.values():
                if self._in_status(id, "chat"):
                    if room.status in BROKEN:
                        self._set(id, "alone")
                    elif self.questions:
                        self._set(id, "survey")
                    else:
                        self._finish(id, "done")

    # --- the clock

    def tick(self) -> list[RunningDialogue]:
        """Pair people, and carry out all time limits; return the dialogues that began."""
        with self._lock:
            begun = self._pair()
        for stored in self.store.running():
            self._check(self.room(stored.id))
        return begun

    def _pair(self) -> list[RunningDialogue]:
        now, begun = self.clock(), []
        for step in self.waiting.steps(now, self.presence):
            if isinstance(step, End):
                self._finish(step.person, step.ending)
            elif self.store.add_dialogue(step.dialogue, step.people):
                begun.append(self.room(step.dialogue.id))
                self.changed(step.people.values())
        return begun

    def _check(self, room: RunningDialogue) -> None:
        now, limits, stored = self.clock(), self.config.limits, room.stored
        if not room.is_over:
            gone = [
                id
                for seat, id in self.store.seated(stored.id).items()
                if _is_past(self.presence.away_since(id), limits.away, now)
                or _is_past(room.idle_since(seat), limits.idle, now)
            ]
            with self._lock:
                for id in gone:
                    if self._in_status(id, "chat"):
                        self._finish(id, "left")
            if gone:
                room.stop(LEFT, wait=False)
            elif _is_past(stored.started, limits.chat, now):
                room.stop("time limit", wait=False)
        if room.is_over:
            self.settle(room)

    # --- changes of status

    def _in_status(self, id: str, status: str) -> Person | None:
        person = self.store.person(id)
        return person if person is not None and person.status == status else None

    def _set(self, id: str, status: str) -> None:
        self.store.move_person(id, status, self.clock())
        self.changed([id])

    def _finish(self, id: str, ending: Ending, **fields: Any) -> None:
        code = self.config.codes.get(ending)
        if code is None and ending in PAID:
            code = f"{self.config.prefix}-{self.new_id()[:16].upper()}"
        self.store.move_person(id, "finished", self.clock(), ending=ending, code=code, **fields)
        self.changed([id])

    def _keep_settings(self) -> None:
        game = self.arena.game
        told = {"game": game.name, "settings": self.arena.settings.model_dump(mode="json")}
        kept = self.store.setting("game", json.dumps(told, sort_keys=True))
        if json.loads(kept) != told:
            raise InputError("this study was begun with another game or other settings; name another folder")


def _is_past(since: float | None, limit: float | None, now: float) -> bool:
    return since is not None and limit is not None and now - since > limit
