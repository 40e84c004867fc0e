"""The rules of a c-Interact episode (BIRD-Interact §2, §5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from birdenv.databases import Checkpoint, DatabaseSource, Limits
from birdenv.dialogue import Event, Move
from birdenv.errors import BenchmarkError
from birdenv.grading import ConversationalGrader, Grade, reward
from birdenv.tasks._actions import MAX_TEXT, SYSTEM, USER, Kind
from birdenv.tasks._result_text import result_text
from birdenv.tasks._view import Sender, SystemView
from birdenv.tasks.c_interact import _messages as messages
from birdenv.tasks.c_interact._assignment import assignment
from birdenv.tasks.c_interact._own_database import OwnDatabase
from birdenv.tasks.c_interact._profile import PROFILES, Profile
from birdenv.tasks.c_interact._task import CInteractTask
from birdenv.tasks.c_interact._user_seat import UserView, brief_of, hear

__all__ = ["MAX_EXECUTIONS", "Attempt", "CInteractController"]

MAX_EXECUTIONS = 50
"""`execute_sql` actions in an episode made with `execute_sql=True`; the next one is refused."""

_DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One graded (or empty) submission. `reward` is what it earned."""

    phase: int
    attempt: Literal["first", "debug"]
    sql: str
    status: str
    passed: bool
    reward: float


class CInteractController:
    """Clarification within the turn budget, SQL, one debug attempt; then the follow-up, one debug attempt.

    Every phase's reward is granted at most once, so an episode earns 1.0 at most. A refused action (illegal,
    malformed, empty) costs one clarification turn; where none is left it counts as an empty submission of
    the current attempt, so that every episode ends. Tasks without gold end as `ungraded` at the first
    submission. Gold that does not run truncates the episode as `infra_error`.

    Public: `events`, `attempts`, `status`, `questions`. Private (never shown to the system): `private_log`.
    """

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: ConversationalGrader,
        *,
        profile: Profile = PROFILES["strict"],
        patience: int = 3,
        execute_sql: bool = False,
        limits: Limits = _DEFAULT_LIMITS,
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
        self.max_questions = profile.questions(task.public.counted_ambiguities, patience)
        self.turns_left = self.max_questions
        self.questions = 0
        self.private_log: list[dict[str, Any]] = []
        self._grader = grader
        self._execute_sql = execute_sql
        self._executions = 0
        self._database = OwnDatabase(task, source, profile, limits)
        self._debug = False
        self._pending: str | None = None
        self._accepted: str | None = None
        self._left: Checkpoint | None = None  # by the SQL that was accepted, where it was kept
        self._actions = 0
        self._instruction = messages.instruction(
            task, profile, source.engine, self.max_questions, execute_sql
        )
        self._message = task.public.question
        self._sender: Sender = "user"

    def view(self, seat: int) -> SystemView | UserView:
        if seat == SYSTEM:
            return self.system_view()
        brief = brief_of(self.task, self.phase)
        return UserView(brief, self.task.public.question, self._pending or "", tuple(self.events))

    def system_view(self) -> SystemView:
        follow_up = self.task.private.follow_up
        readings = self.task.public.readings
        if self.phase == 2 and follow_up is not None:
            readings = follow_up.readings
        return SystemView(
            instruction=self._instruction,
            message=self._message,
            sender=self._sender,
            phase=self.phase,
            turns_left=self.turns_left,
            legal=self._legal() if self.turn == SYSTEM else (),
            readings=readings,
        )

    def apply(self, seat: int, move: Move) -> Event:
        if seat != self.turn:
            raise ValueError(f"seat {seat} cannot move now")
        event = self._answer(move) if seat == USER else self._act(move)
        limit = self.profile.max_actions
        if limit is not None and self._actions >= limit and self.turn == SYSTEM:
            self._truncate("task limit reached")
        return event

    def outcome(self) -> dict[str, Any]:
        """The public result, as it goes into the transcript."""
        return {
            "status": self.status,
            "reward": self.rewards[SYSTEM],
            "attempts": [
                {"phase": a.phase, "attempt": a.attempt, "status": a.status, "reward": a.reward}
                for a in self.attempts
            ],
        }

    def break_off(self) -> None:
        """End because something that the episode needs was lost: truncated, as `infra_error`."""
        self._truncate("infra_error")

    def close(self) -> None:
        self._database.close()

    # --- the system's moves

    def _legal(self) -> tuple[Kind, ...]:
        legal: list[Kind] = []
        if self._may_clarify():
            legal.append("clarify")
        if self._execute_sql and self._executions < MAX_EXECUTIONS:
            legal.append("execute_sql")
        return (*legal, "submit_sql")

    def _may_clarify(self) -> bool:
        before_submission = self.phase == 1 and not self._debug
        in_time = before_submission or self.profile.clarify_later
        return in_time and (self.turns_left > 0 or not self.profile.enforced)

    def _act(self, move: Move) -> Event:
        self._actions += 1
        text = move.data if isinstance(move.data, str) and len(move.data) <= MAX_TEXT else None
        if move.action == "quit":
            event = self._record(move, "judge", messages.LEFT)
            self._terminate("completed" if self.attempts else "no_submission")
        elif text is None or move.action not in self._legal():
            event = self._refuse(Move(move.action, text), messages.refusal(move.action, self._legal()))
        elif move.action == "submit_sql":
            event = self._submit(move, text)
        elif not text.strip():
            event = self._refuse(move, messages.EMPTY)
        elif move.action == "execute_sql":
            event = self._execute(move, text)
        else:
            self.questions += 1
            self.turns_left = max(self.turns_left - 1, 0)
            self._pending, self.turn = text, USER
            event = self._append(Event(SYSTEM, self._time(), move.action, text))
        return event

    def _refuse(self, move: Move, why: str) -> Event:
        if self._may_clarify() and self.turns_left > 0:
            self.turns_left -= 1
            return self._record(move, "judge", f"{why} {messages.cost(self.turns_left)}")
        reply = self._fail("", "malformed", None)
        return self._record(move, "judge", f"{why} {messages.COUNTS_AS_EMPTY} {reply}")

    def _submit(self, move: Move, sql: str) -> Event:
        if not self._gold():
            self._log_attempt(sql, "ungraded", passed=False)
            event = self._record(move, "judge", messages.UNGRADED)
            self._terminate("ungraded")
            return event
        if not sql.strip():
            return self._record(move, "judge", self._fail(sql, "no_submission", None))
        grade = self._grade(sql)
        if grade.status in ("infra_error", "test_error"):
            self._log_attempt(sql, grade.status, passed=False, grade=grade)
            event = self._record(move, "judge", messages.INFRASTRUCTURE)
            self._truncate(grade.status)
            return event
        reply = self._pass(sql, grade) if grade.passed else self._fail(sql, grade.status, grade)
        return self._record(move, "judge", reply)

    def _grade(self, sql: str) -> Grade:
        job = assignment(self.task, self.profile, self.phase, self._accepted, self._left)
        return self._grader.grade(job, sql)

    def _pass(self, sql: str, grade: Grade) -> str:
        self._log_attempt(sql, grade.status, passed=True, grade=grade)
        follow_up = self.task.private.follow_up
        if self.phase == 2 or follow_up is None or not follow_up.gold:
            self._terminate("completed")
            return messages.DONE
        self._database.move_on(sql, grade.left)
        self._accepted, self._left = sql, grade.left
        self.phase, self._debug = 2, False
        return messages.follow_up(follow_up.query, self._may_clarify())

    def _fail(self, sql: str, status: str, grade: Grade | None) -> str:
        self._log_attempt(sql, status, passed=False, grade=grade)
        error = grade.error if grade is not None else None
        if self._debug:
            self._terminate("completed")
            return messages.failed(error, self.profile.error_text)
        self._debug = True
        return messages.debug(status, error, self.profile.error_text)

    def _log_attempt(self, sql: str, status: str, *, passed: bool, grade: Grade | None = None) -> None:
        attempt: Literal["first", "debug"] = "debug" if self._debug else "first"
        earned = reward(self.phase, 2 if self._debug else 1, passed)
        if passed and any(a.passed and a.phase == self.phase for a in self.attempts):
            raise AssertionError(f"the reward of phase {self.phase} was granted before")
        total = round(self.rewards[SYSTEM] + earned, 10)
        self.rewards = (total, total)  # both seats earn the same: the game is cooperative
        self.attempts.append(Attempt(self.phase, attempt, sql, status, passed, earned))
        entry: dict[str, Any] = {
            "kind": "submission",
            "phase": self.phase,
            "attempt": attempt,
            "status": status,
        }
        if grade is not None:
            entry |= {"reason": grade.reason, "flags": list(grade.flags)}
            entry |= {"rows_gold": grade.rows_gold, "rows_pred": grade.rows_pred}
        self.private_log.append(entry)

    def _gold(self) -> tuple[str, ...]:
        follow_up = self.task.private.follow_up
        return self.task.private.gold if self.phase == 1 or follow_up is None else follow_up.gold

    def _execute(self, move: Move, sql: str) -> Event:
        self._executions += 1
        try:
            result = self._database.execute(sql)
        except BenchmarkError as error:
            self.private_log.append({"kind": "infra_error", "reason": str(error)})
            event = self._record(move, "judge", messages.INFRASTRUCTURE)
            self._truncate("infra_error")
            return event
        return self._record(move, "database", result_text(result))

    # --- the user's moves

    def _answer(self, move: Move) -> Event:
        assert self._pending is not None
        heard = hear(brief_of(self.task, self.phase), self._pending, move.data)
        self.private_log.append(heard.entry)
        self._pending, self.turn = None, SYSTEM
        self._message, self._sender = heard.text, "user"
        return self._append(Event(USER, self._time(), "answer", heard.text))

    # --- the log

    def _record(self, move: Move, sender: Sender, reply: str) -> Event:
        self._message, self._sender = reply, sender
        metadata = {"sender": sender, "reply": reply}
        return self._append(Event(SYSTEM, self._time(), move.action, move.data, metadata=metadata))

    def _append(self, event: Event) -> Event:
        self.events.append(event)
        return event

    def _time(self) -> int:
        return len(self.events) + 1

    def _terminate(self, status: str) -> None:
        self.terminated = True
        self._end(status)

    def _truncate(self, status: str) -> None:
        self.truncated = True
        self._end(status)

    def _end(self, status: str) -> None:
        self.turn, self.status = None, status
        self.close()
