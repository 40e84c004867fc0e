"""Guide participants from consent to completion code, and run their dialogues, without a network."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random, SystemRandom
from typing import Any, Final
from uuid import UUID

from birdenv.dialogue import Arena, Move
from birdenv.dialogue.games import SurveyQuestion
from birdenv.errors import InputError
from birdenv.studies._platform import TAKEN, is_same_visit
from birdenv.studies._questions import read_answer, read_words
from birdenv.studies.study._config import PAID, Ending, StudyConfig, default_survey
from birdenv.studies.study._deletion import DELETED
from birdenv.studies.study._loaded_dialogues import LoadedDialogues
from birdenv.studies.study._records import Person, ProblemReport
from birdenv.studies.study._running_dialogue import (
    INFRA_ERROR,
    PARTNER_ERROR,
    RunningDialogue,
    overdue,
    people_gone,
    steady_clock,
)
from birdenv.studies.study._store import Store
from birdenv.studies.study._study_game import check_players, keep_settings
from birdenv.studies.study._waiting_room import End, Presence, WaitingRoom

TRIES: Final = 2
"""The number of attempts at the comprehension check."""

_log = logging.getLogger("birdenv.studies")
_MOST_REPORTS: Final = 20  # of one person
LEFT: Final = "left"
BROKEN: Final = (LEFT, PARTNER_ERROR, INFRA_ERROR, DELETED)
"""The statuses of dialogues that leave a person without a partner and do not count for quotas."""


class Study:
    """A thread-safe study of one game.

    Attributes:
        arena: the game and its tasks.
        config: the configuration of the study.
        store: the database.
        changed: a function that is called with the ids of people whose status or dialogue has changed.
        presence: the record of who is connected.
        waiting: the waiting room.
    """

    def __init__(
        self,
        arena: Arena,
        config: StudyConfig,
        store: Store,
        *,
        clock: Callable[[], float] | None = None,
        rng: Random | None = None,
    ) -> None:
        if len(arena.game.seats) > 2:
            raise InputError(f"{arena.game.name} has more than two seats, but studies support at most two")
        check_players(arena.game, config)
        self.arena = arena
        self.config = config
        self.store = store
        self.clock = clock = clock or steady_clock()
        self.changed: Callable[[Iterable[str]], None] = lambda people: None
        self.presence = Presence(clock)
        self._rng = rng or SystemRandom()
        self._lock = threading.RLock()  # for changes of status; never held while a move is played
        self._rooms = LoadedDialogues(self._make)
        self.waiting = WaitingRoom(arena, config, store, self._rng, BROKEN)
        keep_settings(arena, store)

    @property
    def title(self) -> str:
        """Return the title of the study's pages."""
        game = self.arena.game
        return self.config.title or game.study_title or game.title or game.name

    @property
    def questions(self) -> tuple[SurveyQuestion, ...]:
        """Return the questions of the survey that follows each dialogue."""
        own = self.config.survey
        return own if own is not None else default_survey(self.arena.game)

    def new_id(self) -> str:
        """Return a random id for a new person."""
        return UUID(int=self._rng.getrandbits(128), version=4).hex

    # --- people

    def agree(
        self, id: str, external: str | None = None, platform: Mapping[str, str] | None = None
    ) -> Person:
        """Admit a person who has given consent.

        If a recruiting platform resends the same person in the same visit, the person continues, unless a
        different browser is still connected. `external` is the person's id on the platform, and `platform`
        contains the parameters that the platform sent; both are None for a person without a platform.

        Raises:
            InputError: somebody else or a different browser uses the same id on the platform.
        """
        platform = platform or {}
        person = self.store.add_person(id, external, platform, self.clock())
        is_known = person.id == id or is_same_visit(person.platform, platform)
        if not is_known or (person.id != id and self.presence.tabs(person.id)):
            raise InputError(TAKEN)
        return person

    def understood(self, id: str, answers: Mapping[int, int], number: int | None = None) -> bool:
        """Grade a person's answers to the comprehension check, and return False if an answer is incorrect.

        If all answers are correct, the person goes to the waiting room. The second failed attempt ends the
        person's participation. `answers` maps the index of each question to the index of the chosen option.
        `number` is the zero-based index of the attempt, so that a form submitted twice is counted once.
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

    def play(
        self, id: str, move: Move, cid: str, seconds: float | None = None, dialogue: str | None = None
    ) -> None:
        """Play a person's move in the person's current dialogue.

        Nothing happens if the person is not in a dialogue, or if `dialogue` is the id of an earlier dialogue.
        `cid` is the browser's id for the move, and `seconds` is the time that the person took to write it.
        """
        person = self._in_status(id, "chat")
        if person is None or person.dialogue is None or person.seat is None:
            return
        if dialogue in (None, person.dialogue):
            room = self.room(person.dialogue)
            room.play(person.seat, move, cid, seconds)
            self.settle(room)

    def play_for(self, room: RunningDialogue, seat: int, move: Move) -> None:
        """Play a player's move in a dialogue."""
        room.play_for(seat, move)
        self.settle(room)

    def leave(self, id: str) -> None:
        """End the participation of a person who leaves. The partner is notified, and may be paired again."""
        with self._lock:
            person = self.store.person(id)
            if person is None or person.status in ("finished", "survey"):
                return
            self._finish(id, "left")
        if person.status == "chat" and person.dialogue is not None:
            self._stop(self.room(person.dialogue), LEFT)

    def again(self, id: str) -> None:
        """Send a person back to the waiting room if the person's dialogue did not count."""
        with self._lock:
            if self._in_status(id, "alone"):
                self._set(id, "waiting")

    def end_alone(self, id: str) -> None:
        """End the participation of a person whose dialogue did not count and who wants no new dialogue."""
        with self._lock:
            person = self._in_status(id, "alone")
            if person and person.dialogue:
                broken = self.store.dialogue(person.dialogue).status in (
                    *BROKEN,
                    None,
                )  # None: it ends just now
                self._finish(id, "partner_left" if broken else "too_short")

    def answer(self, id: str, answers: Mapping[str, str]) -> None:
        """Store a person's survey answers, and complete the person's participation.

        Raises:
            InputError: a required answer is missing, or an answer is invalid.
        """
        with self._lock:
            person = self._in_status(id, "survey")
            if person is None or person.dialogue is None or person.seat is None:
                return
            read = {each.name: read_answer(each, answers.get(each.name, "")) for each in self.questions}
            self.store.add_survey(person.dialogue, person.seat, read)
            self._finish(id, "done")

    def report(self, id: str, text: str) -> None:
        """Store a person's report of a problem for the study's team.

        Raises:
            InputError: the text is empty or too long.
        """
        person = self.store.person(id)
        if person is not None and len(self.store.reports(id)) < _MOST_REPORTS:
            words = read_words("What is wrong?", text, required=True) or ""
            self.store.add_report(ProblemReport(id, person.dialogue, person.status, self.clock(), words))

    # --- dialogues

    def used(self) -> dict[tuple[str, str], int]:
        """Count the dialogues for each pair (task, kind of partner), excluding abandoned dialogues."""
        return self.store.used(BROKEN)

    def loaded(self, dialogue: str) -> RunningDialogue | None:
        """Return a dialogue, or None if the dialogue is not in memory or differs from the database."""
        return self._rooms.find(dialogue)

    def unloaded(self) -> list[str]:
        """Return the ids of running dialogues that are not in memory, for example after a restart."""
        return [each.id for each in self.store.running() if self.loaded(each.id) is None]

    def room(self, dialogue: str) -> RunningDialogue:
        """Return a running dialogue, restored from the database if it is not in memory."""
        return self._rooms.get(dialogue)

    def _make(self, dialogue: str) -> RunningDialogue:
        """Restore a dialogue from the database; if it cannot be restored, end it as abandoned."""
        stored = self.store.dialogue(dialogue)
        try:
            return RunningDialogue(self.arena, self.store, stored, self.clock)
        except sqlite3.Error:  # the database may come back
            raise
        except Exception:
            self._end(dialogue, INFRA_ERROR, {}, [0.0] * len(stored.seats))
            raise

    def settle(self, room: RunningDialogue) -> None:
        """Notify the people in a dialogue. If it is over, store its outcome and change people's status."""
        id = room.stored.id
        if room.dialogue.is_over and not room.is_lost:
            with self._lock:
                if not room.ended:
                    ended = room.dialogue
                    self._end(id, ended.status, ended.outcome(), ended.rewards)
                    room.ended = True
            room.close()
            self._rooms.drop(id)
        self.changed(self.store.seated(id).values())

    def _end(self, id: str, status: str, outcome: Mapping[str, Any], rewards: Sequence[float]) -> None:
        with self._lock, self.store.transaction():
            self.store.end_dialogue(id, self.clock(), status, outcome, rewards)
            for seat, person in self._people_in(id).items():
                if status in BROKEN or self.store.words(id, seat) < self.config.least_words:
                    self._set(person, "alone")
                elif self.questions:
                    self._set(person, "survey")
                else:
                    self._finish(person, "done")

    def _people_in(self, dialogue: str) -> dict[int, str]:
        """Return the people who are still in a dialogue, keyed by seat."""
        seated = self.store.seated(dialogue).items()
        found = {seat: self._in_status(id, "chat") for seat, id in seated}
        return {seat: each.id for seat, each in found.items() if each and each.dialogue == dialogue}

    def _stop(self, room: RunningDialogue, status: str) -> None:
        """End a dialogue. A person whose partner left need not wait for a statement that is running."""
        room.stop(status)
        if room.dialogue.is_over:
            self.settle(room)
        elif status == LEFT:
            with self._lock:
                for id in self._people_in(room.stored.id).values():
                    self._set(id, "alone")

    # --- the clock

    def tick(self) -> list[RunningDialogue]:
        """Pair waiting people, enforce all time limits, and return the dialogues that have begun.

        Time limits are checked only for dialogues in memory. Call `room` to load other dialogues.
        """
        with self._lock:
            begun = self._pair()
        made = []
        for id in begun:
            try:
                made.append(self.room(id))
            except Exception:
                _log.exception("%s could not begin", id)
        for room in self._rooms.all():
            try:
                self._check(room)
            except Exception:
                _log.exception("the limits of %s could not be enforced", room.stored.id)
        return made

    def _pair(self) -> list[str]:
        now, begun = self.clock(), []
        for step in self.waiting.steps(now, self.presence):
            if isinstance(step, End):
                self._finish(step.person, step.ending)
            elif self.store.add_dialogue(step.dialogue, step.people):
                begun.append(step.dialogue.id)
                self.changed(step.people.values())
        return begun

    def _check(self, room: RunningDialogue) -> None:
        if room.dialogue.is_over:
            self.settle(room)
            return
        now, limits = self.clock(), self.config.limits
        people = self._people_in(room.stored.id)
        gone = people_gone(room, people, self.presence, limits, now)
        with self._lock:
            for id in gone:
                if self._in_status(id, "chat"):
                    self._finish(id, "left")
        has_left = len(people) < len(room.people)  # perhaps just before the server was killed
        status = LEFT if gone or has_left else overdue(room, limits, now)
        if status is not None:
            self._stop(room, status)

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
