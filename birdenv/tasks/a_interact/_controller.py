"""The rules of an a-Interact episode."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from birdenv.databases import Checkpoint, DatabaseSource, Limits
from birdenv.dialogue import Event, Move
from birdenv.errors import BenchmarkError
from birdenv.grading import ConversationalGrader, Grade, reward
from birdenv.tasks._actions import SYSTEM, TOOLS, USER, Kind
from birdenv.tasks._result_text import result_text
from birdenv.tasks._view import Sender, SystemView
from birdenv.tasks.a_interact import _messages as messages
from birdenv.tasks.a_interact._budget import Budget, budget_for
from birdenv.tasks.a_interact._call import read_call
from birdenv.tasks.a_interact._lookups import look_up
from birdenv.tasks.c_interact import (
    PROFILES,
    CInteractTask,
    OwnDatabase,
    UserView,
    assignment,
    brief_of,
    hear,
)

__all__ = ["AInteractController", "Attempt"]

_RULES: Final = PROFILES["strict"]
_DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One graded (or empty) submission, the `number`-th of its phase; `reward` is what it earned."""

    phase: int
    number: int
    sql: str
    status: str
    passed: bool
    reward: float


class AInteractController:
    """Nine tools with prices (`COSTS`), one budget for both phases, rewards of 0.7 and 0.3 at any attempt.

    Where the published implementations differ, these rules hold:

    * The price of a tool is taken before it runs, whatever comes of it.
    * A tool that costs more than is left is refused, at no price. From then on, and where nothing is left
      that pays for a tool, only `submit_sql` is possible; any other action ends the episode.
    * `submit_sql` is always possible. What it costs above what is left is waived, but it is the last: the
      episode ends, passed or not, without a follow-up.
    * An action that is none (unknown, too long, without the text it needs) costs 0.2.
    * A failed submission is told that it failed, or the database's message if it did not run; nothing of what
      was expected.

    Tasks without gold end as `ungraded` at the first submission. Gold that does not run truncates the episode
    as `infra_error`. Submissions are graded under the strict rules of c-Interact.

    Public: `events`, `attempts`, `status`, `calls` (by tool), `budget`. Private (never shown to the system):
    `private_log`.
    """

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: ConversationalGrader,
        *,
        patience: int = 3,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        self.task = task
        self.events: list[Event] = []
        self.attempts: list[Attempt] = []
        self.turn: int | None = SYSTEM
        self.terminated = False
        self.truncated = False
        self.rewards = (0.0, 0.0)
        self.status = ""
        self.phase = 1
        self.budget = Budget(budget_for(task.public.counted_ambiguities, patience))
        self.calls: Counter[Kind] = Counter()
        self.malformed = 0
        self.private_log: list[dict[str, Any]] = []
        self._grader = grader
        self._database = OwnDatabase(task, source, _RULES, limits)
        self._refused = False
        self._pending: str | None = None
        self._accepted: str | None = None
        self._left: Checkpoint | None = None  # by the SQL that was accepted, where it was kept
        self._instruction = messages.instruction(task.public, source.engine, self.budget.total)
        self._message = task.public.question
        self._sender: Sender = "user"

    def view(self, seat: int) -> SystemView | UserView:
        if seat == SYSTEM:
            return self.system_view()
        brief = brief_of(self.task, self.phase)
        return UserView(brief, self.task.public.question, self._pending or "", tuple(self.events))

    def system_view(self) -> SystemView:
        follow_up = self.task.private.follow_up
        in_follow_up = self.phase == 2 and follow_up is not None
        return SystemView(
            instruction=self._instruction,
            message=self._message,
            sender=self._sender,
            phase=self.phase,
            turns_left=0 if self._must_submit else self.budget.questions,
            legal=self._legal() if self.turn == SYSTEM else (),
            readings=follow_up.readings if in_follow_up and follow_up else self.task.public.readings,
            budget=self.budget.left,
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
            "attempts": [
                {"phase": a.phase, "attempt": a.number, "status": a.status, "reward": a.reward}
                for a in self.attempts
            ],
            "budget": self.budget.total,
            "budget_used": self.budget.used,
        }

    def break_off(self) -> None:
        """End because something that the episode needs was lost: truncated, as `infra_error`."""
        self.truncated = True
        self._stop("infra_error")

    def close(self) -> None:
        self._database.close()

    # --- the system's moves

    @property
    def _must_submit(self) -> bool:
        return self._refused or self.budget.is_spent

    def _legal(self) -> tuple[Kind, ...]:
        if self._must_submit:
            return ("submit_sql",)
        return tuple(kind for kind in TOOLS if kind == "submit_sql" or self.budget.pays_for(kind))

    def _act(self, asked: Move) -> Event:
        kind, text, move = read_call(asked)
        if asked.action == "quit":
            return self._end(self._record(move, "judge", messages.LEFT))
        if self._must_submit and (kind != "submit_sql" or text is None):
            return self._end(self._record(move, "judge", messages.NOT_SUBMITTED))
        if kind is None or text is None:
            self.malformed += 1
            self.budget.pay_malformed()
            return self._reply(move, "judge", messages.malformed(move.action, self._legal()))
        if kind == "submit_sql":
            return self._submit(move, text)
        if not self.budget.pays_for(kind):
            self._refused = True
            return self._reply(move, "judge", messages.too_dear(kind))
        self.budget.pay(kind)
        self.calls[kind] += 1
        return self._use(kind, text, move)

    def _use(self, kind: Kind, text: str, move: Move) -> Event:
        """A tool that is paid for."""
        if kind == "clarify":
            self._pending, self.turn = text, USER
            return self._append(Event(SYSTEM, self._time(), kind, text))
        if kind != "execute_sql":
            private = self.task.private
            found = look_up(kind, text, private.notes, private.deleted_knowledge)
            return self._reply(move, "database", found)
        try:
            result = self._database.execute(text)
        except BenchmarkError as error:
            self.private_log.append({"kind": "infra_error", "reason": str(error)})
            return self._truncate("infra_error", move)
        return self._reply(move, "database", result_text(result))

    def _submit(self, move: Move, sql: str) -> Event:
        last = not self.budget.pay("submit_sql")
        self.calls["submit_sql"] += 1
        follow_up = self.task.private.follow_up
        if not self.task.has_gold:
            self._log_attempt(sql, "ungraded")
            return self._end(self._record(move, "judge", messages.UNGRADED), "ungraded")
        grade = self._grade(sql)
        self._log_attempt(sql, grade.status, grade)
        if grade.status in ("infra_error", "test_error"):
            return self._truncate(grade.status, move)
        if not grade.passed:
            why = messages.failed(grade.status, grade.error, last)
            return self._end(self._record(move, "judge", why)) if last else self._reply(move, "judge", why)
        if self.phase == 2 or follow_up is None or not follow_up.gold:
            return self._end(self._record(move, "judge", messages.DONE))
        if last:
            return self._end(self._record(move, "judge", messages.DONE_AND_SPENT))
        self._database.move_on(sql, grade.left)
        self._accepted, self._left, self.phase = sql, grade.left, 2
        return self._reply(move, "judge", messages.follow_up(follow_up.query))

    def _grade(self, sql: str) -> Grade:
        job = assignment(self.task, _RULES, self.phase, self._accepted, self._left)
        return self._grader.grade(job, sql)

    def _log_attempt(self, sql: str, status: str, grade: Grade | None = None) -> None:
        passed = grade is not None and grade.passed
        if passed and any(a.passed and a.phase == self.phase for a in self.attempts):
            raise AssertionError(f"the reward of phase {self.phase} was granted before")
        number = 1 + sum(a.phase == self.phase for a in self.attempts)
        earned = reward(self.phase, 1, passed)  # every attempt earns what the first would
        total = round(self.rewards[SYSTEM] + earned, 10)
        self.rewards = (total, total)  # both seats earn the same: the game is cooperative
        self.attempts.append(Attempt(self.phase, number, sql, status, passed, earned))
        entry: dict[str, Any] = {
            "kind": "submission",
            "phase": self.phase,
            "attempt": number,
            "status": status,
        }
        if grade is not None:
            entry |= {"reason": grade.reason, "flags": list(grade.flags)}
            entry |= {"rows_gold": grade.rows_gold, "rows_pred": grade.rows_pred}
        self.private_log.append(entry)

    # --- the user's moves

    def _answer(self, move: Move) -> Event:
        assert self._pending is not None
        heard = hear(brief_of(self.task, self.phase), self._pending, move.data)
        self.private_log.append(heard.entry)
        self._pending, self.turn = None, SYSTEM
        left = messages.budget_left(self.budget)
        self._message, self._sender = f"{heard.text}\n{left}", "user"
        metadata = {"sender": "judge", "reply": left}
        return self._append(Event(USER, self._time(), "answer", heard.text, metadata=metadata))

    # --- the log

    def _reply(self, move: Move, sender: Sender, reply: str) -> Event:
        """A reply after which the episode goes on: it says what is left."""
        return self._record(move, sender, f"{reply}\n{messages.budget_left(self.budget)}")

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

    def _truncate(self, status: str, move: Move) -> Event:
        event = self._record(move, "judge", messages.INFRASTRUCTURE)
        self.truncated = True
        self._stop(status)
        return event

    def _stop(self, status: str) -> None:
        self.turn, self.status = None, status
        self.close()
