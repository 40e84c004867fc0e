"""What an episode of c-Interact and one of a-Interact have in common: two seats, two phases, one log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from birdenv.databases import Checkpoint, DatabaseSource, Limits
from birdenv.dialogue import Event, Move
from birdenv.errors import BenchmarkError
from birdenv.grading import Grade, InteractGrader, reward
from birdenv.tasks.interact._agent_database import AgentDatabase
from birdenv.tasks.interact._grading_job import grading_job
from birdenv.tasks.interact._profile import Profile
from birdenv.tasks.interact._task import Attempt, AttemptName, CInteractTask
from birdenv.tasks.interact._user_seat import UserView, brief_of, filter_answer
from birdenv.tasks.sql._actions import SYSTEM, USER, Kind, Sender, SystemView

DONE = "Your SQL is correct. The task is complete."
_UNGRADED = "SQL received. This task has no published answer, so it is not graded; the episode ends."
_INFRASTRUCTURE = "This cannot be carried out because of a fault in the benchmark; the episode ends."


class InteractController(ABC):
    """The user's seat, the submissions of both phases, and the log. A game says what a move comes to.

    Every phase's reward is granted at most once, so an episode earns 1.0 at most. Tasks without gold end as
    `ungraded` at the first submission. Gold that does not run truncates the episode as `infra_error`.

    Public: `events`, `attempts`, `status`. Private (never shown to the system): `private_log`.
    """

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: InteractGrader,
        profile: Profile,
        limits: Limits,
        instruction: str,
    ) -> None:
        self.task = task
        self.profile = profile
        self.events: list[Event] = []
        self.attempts: list[Attempt] = []
        self.turn: int | None = SYSTEM
        self.terminated = False
        self.truncated = False
        self.rewards = (0.0, 0.0)
        self.status = ""
        self.phase = 1
        self.private_log: list[dict[str, Any]] = []
        self._grader = grader
        self._database = AgentDatabase(task, source, profile, limits)
        self._pending: str | None = None
        self._accepted: str | None = None
        self._left: Checkpoint | None = None  # by the SQL that was accepted, where it was kept
        self._instruction = instruction
        self._message = task.public.question
        self._sender: Sender = "user"

    # --- what a game decides

    @abstractmethod
    def _act(self, move: Move) -> Event:
        """The system's move, whatever it is."""

    @abstractmethod
    def _legal(self) -> tuple[Kind, ...]:
        """The system's actions that are possible now."""

    @abstractmethod
    def _questions_left(self) -> int:
        """How many questions may still be asked."""

    @abstractmethod
    def _judged(self, move: Move, sql: str, grade: Grade) -> Event:
        """What a verdict comes to that says something about the SQL; logs the attempt."""

    @abstractmethod
    def _next_attempt(self) -> tuple[AttemptName, int]:
        """What the next submission is called, and the attempt by whose reward it is paid (1 or 2)."""

    def _budget_left(self) -> float | None:
        """What is left to spend; None where nothing has a price."""
        return None

    def _standing(self) -> str:
        """What every reply after which the episode goes on says at its end."""
        return ""

    # --- both seats

    def view(self, seat: int) -> SystemView | UserView:
        if seat == SYSTEM:
            return self.system_view()
        brief = brief_of(self.task, self.phase)
        return UserView(brief, self.task.public.question, self._pending or "", tuple(self.events))

    def system_view(self) -> SystemView:
        follow_up = self.task.private.follow_up
        candidates = self.task.public.candidates
        if self.phase == 2 and follow_up is not None:
            candidates = follow_up.candidates
        return SystemView(
            instruction=self._instruction,
            message=self._message,
            sender=self._sender,
            phase=self.phase,
            turns_left=self._questions_left(),
            legal=self._legal() if self.turn == SYSTEM else (),
            candidates=candidates,
            budget=self._budget_left(),
        )

    def apply(self, seat: int, move: Move) -> Event:
        if seat != self.turn:
            raise ValueError(f"seat {seat} cannot move now")
        return self._answer(move) if seat == USER else self._act(move)

    def outcome(self) -> dict[str, Any]:
        """The public result, as it goes into the transcript."""
        return {
            "status": self.status,
            "reward": self.rewards[SYSTEM],
            "attempts": [attempt.public() for attempt in self.attempts],
        }

    def abort(self) -> None:
        """End because something that the episode needs was lost: truncated, as `infra_error`."""
        self._truncate("infra_error")

    def close(self) -> None:
        self._database.close()

    # --- the system's moves

    def _ask(self, move: Move, question: str) -> Event:
        self._pending, self.turn = question, USER
        return self._append(Event(SYSTEM, self._time(), move.action, question))

    def _execute(self, move: Move, sql: str) -> Event:
        try:
            shown = self._database.show(sql)
        except BenchmarkError as error:
            self.private_log.append({"kind": "infra_error", "reason": str(error)})
            return self._break(move, "infra_error")
        return self._reply(move, "database", shown)

    def _submit(self, move: Move, sql: str) -> Event:
        if not self.task.has_gold:
            self._log_attempt(sql, "ungraded")
            return self._end(self._record(move, "judge", _UNGRADED), "ungraded")
        job = grading_job(self.task, self.profile, self.phase, self._accepted, self._left)
        grade = self._grader.grade(job, sql)
        if grade.status in ("infra_error", "test_error"):
            self._log_attempt(sql, grade.status, grade)
            return self._break(move, grade.status)
        return self._judged(move, sql, grade)

    def _follow_up_query(self) -> str | None:
        """What comes behind a pass of phase 1; None where nothing does that could be graded."""
        follow_up = self.task.private.follow_up
        return follow_up.query if self.phase == 1 and follow_up is not None and follow_up.gold else None

    def _move_on(self, sql: str, grade: Grade) -> None:
        """Phase 2 begins, from what the SQL left that passed."""
        self._database.move_on(sql, grade.left)
        self._accepted, self._left, self.phase = sql, grade.left, 2

    def _log_attempt(self, sql: str, status: str, grade: Grade | None = None) -> None:
        passed = grade is not None and grade.passed
        if passed and any(a.passed and a.phase == self.phase for a in self.attempts):
            raise AssertionError(f"the reward of phase {self.phase} was granted before")
        attempt, paid_as = self._next_attempt()
        earned = reward(self.phase, paid_as, passed)
        total = round(self.rewards[SYSTEM] + earned, 10)
        self.rewards = (total, total)  # both seats earn the same: the game is cooperative
        made = Attempt(self.phase, attempt, sql, status, passed, earned)
        self.attempts.append(made)
        self.private_log.append(made.private(grade))

    # --- the user's moves

    def _answer(self, move: Move) -> Event:
        assert self._pending is not None
        heard = filter_answer(brief_of(self.task, self.phase), self._pending, move.data)
        self.private_log.append(heard.entry)
        self._pending, self.turn = None, SYSTEM
        standing = self._standing()
        self._message, self._sender = _with(heard.text, standing), "user"
        metadata = {"sender": "judge", "reply": standing} if standing else None
        return self._append(Event(USER, self._time(), "answer", heard.text, metadata=metadata))

    # --- the log

    def _reply(self, move: Move, sender: Sender, reply: str) -> Event:
        """A reply after which the episode goes on."""
        return self._record(move, sender, _with(reply, self._standing()))

    def _record(self, move: Move, sender: Sender, reply: str) -> Event:
        self._message, self._sender = reply, sender
        metadata = {"sender": sender, "reply": reply}
        return self._append(Event(SYSTEM, self._time(), move.action, move.data, metadata=metadata))

    def _append(self, event: Event) -> Event:
        self.events.append(event)
        return event

    def _time(self) -> int:
        return len(self.events) + 1

    def _end(self, event: Event, status: str = "") -> Event:
        """The protocol came to its end with this event."""
        self.terminated = True
        self._stop(status or ("completed" if self.attempts else "no_submission"))
        return event

    def _break(self, move: Move, status: str) -> Event:
        """The benchmark is at fault."""
        event = self._record(move, "judge", _INFRASTRUCTURE)
        self._truncate(status)
        return event

    def _truncate(self, status: str) -> None:
        self.truncated = True
        self._stop(status)

    def _stop(self, status: str) -> None:
        self.turn, self.status = None, status
        self.close()


def _with(reply: str, standing: str) -> str:
    return f"{reply}\n{standing}" if standing else reply
