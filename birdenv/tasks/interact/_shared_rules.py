"""The rules that c-Interact and a-Interact share: two seats, two phases, submissions and answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from birdenv.databases import Checkpoint, DatabaseSource, Limits
from birdenv.dialogue import Event, Move, Reply, Rules, Seat
from birdenv.dialogue.people import Panel
from birdenv.errors import BenchmarkError
from birdenv.grading import InteractGrader
from birdenv.grading.interact import Grade
from birdenv.tasks.interact._databases import AgentDatabase, grading_job
from birdenv.tasks.interact._task import Attempt, AttemptName, CInteractTask, private_task_fields, task_fields
from birdenv.tasks.interact._user_seat import (
    LeakGuard,
    UserSees,
    brief_of,
    briefs_of,
    filter_answer,
    user_instruction,
    user_panels,
)
from birdenv.tasks.interact.profile import PATIENCE, PROFILES, Profile
from birdenv.tasks.interact.rewards import RewardScheme, reward, told_points
from birdenv.tasks.sql._actions import ANSWER, ANSWERING_GUIDE, SYSTEM, USER, Kind
from birdenv.tasks.sql._settings import today_words
from birdenv.tasks.sql._words import ANSWERING_WORDS
from birdenv.tasks.sql.markup_reading import NO_SQL, SQL_EXPECTED
from birdenv.users import UserStyle

DONE: Final = "Your SQL is correct. The task is complete."
_HEARD: Final = Reply()
_DEFAULT_LIMITS: Final = Limits()
_SHARED: Final = RewardScheme()
_UNGRADED = "SQL received. This task has no published answer, so it is not graded; the episode ends."
_INFRASTRUCTURE = "This cannot be carried out because of a fault in the benchmark; the episode ends."

USER_SEAT: Final = Seat(
    "user", (ANSWER,), ("system", "judge"), phases=3, guide=ANSWERING_GUIDE, words=ANSWERING_WORDS
)
"""The seat of the user, who answers the system's questions."""


class InteractRules(Rules):
    """The rules that c-Interact and a-Interact share: the system submits SQL, and the user answers questions.

    Phase 1 is about the ambiguous request, phase 2 about the follow-up. Each phase is rewarded at most once,
    so an episode earns at most 1.0. If a task has no gold SQL, its episode ends at the first submission with
    the status `ungraded`. If the gold SQL does not run, the episode is truncated with the status
    `infra_error`.

    Attributes:
        task: the task, with its private part.
        profile: the protocol profile.
        attempts: the submissions so far.
        private_log: the detailed verdicts, and the traces of the user's answers; the system never sees them.
        user_sees: the kinds of system moves that the user sees (see `UserSees`).
        leak_guard: what happens to an answer that reveals SQL (see `LeakGuard`).
        user_style: the rule-based user's answer style.
    """

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: InteractGrader,
        *,
        profile: Profile = PROFILES["strict"],
        patience: int = PATIENCE,
        limits: Limits = _DEFAULT_LIMITS,
        user_sees: UserSees = "words",
        leak_guard: LeakGuard = "filter",
        user_style: UserStyle = "plain",
        scheme: RewardScheme = _SHARED,
    ) -> None:
        self.task = task
        self.profile = profile
        self.attempts: list[Attempt] = []
        self.private_log: list[dict[str, Any]] = []
        self.user_sees = user_sees
        self.leak_guard: LeakGuard = leak_guard
        self.user_style: UserStyle = user_style
        self._scheme = scheme
        self._earned = 0.0  # the reward of the SQL
        self._asked = 0
        self._told: set[str] = set()  # the snippets that the user disclosed, if disclosure has a price
        self._phase = 1
        self._grader = grader
        self._database = AgentDatabase(task, source, profile, limits)
        self._pending: str | None = None
        self._accepted: str | None = None
        self._left: Checkpoint | None = None  # the state after the accepted SQL, if it was kept
        self._told_system = ""  # a note to the system after the user's answer, apart from `_standing`
        today = today_words(source)
        self._instruction = self._begin(patience, source.engine) + today
        self._about_database = f"The database is {source.engine}. {today.strip()}".strip()

    # --- methods that a game overrides

    @abstractmethod
    def _begin(self, patience: int, engine: str) -> str:
        """Compute the budget, and return the system's instruction."""

    @abstractmethod
    def _legal(self) -> tuple[Kind, ...]:
        """Return the system's actions that are possible now."""

    @abstractmethod
    def _judged(self, sql: str, grade: Grade) -> Reply:
        """Log the attempt, and return the reply to a graded submission."""

    @abstractmethod
    def _next_attempt(self) -> tuple[AttemptName, int]:
        """Return the name of the next attempt, and 1 or 2: the attempt in `REWARDS` whose reward it earns."""

    def _panels(self) -> tuple[Panel, ...]:
        """Return the panels for a person in the system's seat."""
        return ()

    def _standing(self) -> str:
        """Return the sentence that ends every reply after which the episode continues."""
        return ""

    # --- methods of Rules

    def open(self) -> tuple[int, ...]:
        if self.status:
            return ()
        return (USER,) if self._pending is not None else (SYSTEM,)

    def legal(self, seat: int) -> tuple[str, ...]:
        return (ANSWER.name,) if seat == USER else self._legal()

    def instruction(self, seat: int) -> str:
        if seat == SYSTEM:
            return self._instruction + self._scheme.system_words
        return user_instruction(self.task) + self._scheme.user_words

    def opening(self, seat: int) -> tuple[str, str]:
        return (self.task.public.question, "user") if seat == SYSTEM else ("", "judge")

    def phase(self) -> int:
        return self._phase

    def panels(self, seat: int) -> tuple[Panel, ...]:
        return self._panels() if seat == SYSTEM else user_panels(self.task)

    def extras(self, seat: int) -> Mapping[str, Any]:
        if seat != SYSTEM:
            return {}
        follow_up = self.task.private.follow_up
        if self._phase == 2 and follow_up is not None:
            return {"candidates": follow_up.candidates}
        return {"candidates": self.task.public.candidates}

    def private_brief(self, seat: int) -> Any:
        if seat != USER:
            return None
        profile = self.profile
        return briefs_of(
            self.task,
            converses=profile.conversation,
            first_line=profile.first_line,
            style=self.user_style,
        )

    def shown(self, seat: int, event: Event) -> Event | None:
        """Return an event as a seat sees it, or None if the seat does not see it.

        The setting `user_sees` decides which of the system's moves the user sees.
        """
        if seat == SYSTEM or event.agent < 0:
            return event
        if event.agent == USER:  # notes after an answer are for the system only
            reply = None if event.metadata is None else event.metadata["reply"]
            said = reply is not None and reply in (self._standing(), self._told_system)
            return event._replace(metadata=None) if said else event
        if event.action == "clarify" and event.metadata is None:
            return event
        if self.user_sees == "all" or (self.user_sees == "results" and event.action == "execute_sql"):
            return event
        return None

    def leave(self, seat: int) -> Reply:
        if seat == USER:
            return super().leave(seat)
        return self._end(self._left_words())

    def stop(self, status: str) -> None:
        self._truncate(status)

    def outcome(self) -> dict[str, Any]:
        """Return the public result of the episode: its status, rewards and attempts."""
        return {
            "status": self.status,
            **self._paid(),
            "attempts": [attempt.public() for attempt in self.attempts],
        }

    def record(self, events: Sequence[Event]) -> dict[str, Any]:
        attempts = [attempt.public() for attempt in self.attempts]
        return {"attempts": attempts, **self._paid(), **self.progress_fields(), **task_fields(self.task)}

    def private_record(self) -> dict[str, Any]:
        return {**private_task_fields(self.task), "log": list(self.private_log)}

    def progress_fields(self) -> dict[str, Any]:
        """Return the fields of the public record about moves other than submissions, such as questions."""
        return {}

    def points(self) -> tuple[int, int]:
        """Return the number of annotated ambiguities that the user has resolved, and their total number."""
        granted = {snippet for entry in self.private_log for snippet in entry.get("granted", ())}
        points = {point.snippet for point in self.task.private.brief.ambiguities}
        return len(points & granted), len(points)

    def close(self) -> None:
        self._database.close()

    # --- the system's moves

    def _ask(self, question: str) -> Reply:
        self._pending = question
        self._asked += 1
        if self._scheme.question_price:
            self._pay()
        return _HEARD

    def _execute(self, sql: str) -> Reply:
        if self.recalled is not None:
            self._database.recall(sql, self.recalled["past"])
            return self._reply(self.recalled["shown"], "database")
        try:
            shown, past = self._database.show(sql)
        except BenchmarkError as error:
            self.private_log.append({"kind": "infra_error", "reason": str(error)})
            return self._break("infra_error")
        self.noted = {"shown": shown, "past": past}
        return self._reply(shown, "database")

    def _submit(self, sql: str) -> Reply:
        if not self.task.has_gold:
            self._log_attempt(sql, "ungraded")
            return self._end(_UNGRADED, "ungraded")
        self._database.set_aside()
        if self.recalled is not None:
            grade = Grade.recalled(self.recalled)
        else:
            job = grading_job(self.task, self.profile, self._phase, self._accepted, self._left)
            grade = self._grader.grade(job, sql)
            self.noted = grade.noted()
        if grade.status in ("infra_error", "test_error"):
            self._log_attempt(sql, grade.status, grade)
            return self._break(grade.status)
        reply = self._judged(sql, grade)
        if sql == NO_SQL:
            return replace(reply, text=f"{SQL_EXPECTED} {reply.text}")
        return reply

    def _follow_up_query(self) -> str | None:
        """Return the follow-up request, or None in phase 2 or if no follow-up can be graded."""
        follow_up = self.task.private.follow_up
        return follow_up.query if self._phase == 1 and follow_up is not None and follow_up.gold else None

    def _move_on(self, sql: str, grade: Grade) -> None:
        """Begin phase 2 from the database state after the accepted SQL."""
        self._database.move_on(sql, grade.left)
        self._accepted, self._left, self._phase = sql, grade.left, 2

    def _log_attempt(self, sql: str, status: str, grade: Grade | None = None) -> None:
        passed = grade is not None and grade.passed
        if passed and any(a.passed and a.phase == self._phase for a in self.attempts):
            raise AssertionError(f"the reward of phase {self._phase} was granted before")
        attempt, paid_as = self._next_attempt()
        earned = reward(self._phase, paid_as, passed)
        self._earned += earned
        self._pay()
        made = Attempt(self._phase, attempt, sql, status, passed, earned)
        self.attempts.append(made)
        self.private_log.append(made.private(grade))

    def _paid(self) -> dict[str, Any]:
        """Return the reward for the SQL and, if the reward scheme is not the default, both seats' rewards."""
        seats = zip(("system", "user"), self.rewards, strict=True)
        paid = {} if self._scheme == _SHARED else {"rewards": dict(seats)}
        return {"reward": round(self._earned, 10), **paid}

    def _pay(self) -> None:
        self.rewards = self._scheme.rewards(self._earned, self._asked, len(self._told))

    # --- the user's moves

    def _answered(self, move: Move) -> Reply:
        """Filter the user's answer through the leak guard, and return the turn to the system."""
        question, self._pending = self._pending, None
        guard = None if self.replaying else self.leak_guard
        heard = filter_answer(self.task, self._phase, question or "", move, guard)
        self.private_log.append(heard.entry)
        if self._scheme.disclosure_price and self._phase == 1:
            self._told |= told_points(brief_of(self.task, 1), heard.text)
            self._pay()
        standing = self._standing()
        return Reply(standing or None, data=heard.text)

    # --- replies

    def _reply(self, text: str, sender: str = "judge") -> Reply:
        """Return a reply after which the episode continues."""
        standing = self._standing()
        return Reply(f"{text}\n{standing}" if standing else text, sender)

    def _end(self, text: str, status: str = "") -> Reply:
        """End the episode as the protocol prescribes, and return the reply."""
        self._finish(status or ("completed" if self.attempts else "no_submission"))
        return Reply(text)

    def _break(self, status: str) -> Reply:
        """End the episode because of a fault in the benchmark, and return the reply."""
        self._truncate(status)
        return Reply(_INFRASTRUCTURE)

    def _truncate(self, status: str) -> None:
        self.truncated = True
        self._finish(status)

    def _finish(self, status: str) -> None:
        self.status, self._pending = status, None
        self.close()

    @abstractmethod
    def _left_words(self) -> str:
        """Return the reply to a system that leaves the episode."""
