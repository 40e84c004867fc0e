"""The rules of a c-Interact episode (BIRD-Interact §2, §5.1)."""

from __future__ import annotations

from typing import Final

from birdenv.databases import DatabaseSource, Limits
from birdenv.dialogue import Event, Move
from birdenv.grading import Grade, InteractGrader
from birdenv.tasks.c_interact import _messages as messages
from birdenv.tasks.interact._controller import DONE, InteractController
from birdenv.tasks.interact._profile import PROFILES, Profile
from birdenv.tasks.interact._task import AttemptName, CInteractTask
from birdenv.tasks.sql._actions import MAX_TEXT, SYSTEM, Kind

MAX_EXECUTIONS = 50
"""`execute_sql` actions in an episode made with `execute_sql=True`; the next one is refused."""

_DEFAULT_LIMITS: Final = Limits()


class CInteractController(InteractController):
    """Clarification within the turn budget, SQL, one debug attempt; then the follow-up, one debug attempt.

    A refused action (illegal, malformed, empty) costs one clarification turn; where none is left it counts as
    an empty submission of the current attempt, so that every episode ends.

    Public, beside what every `InteractController` has: `questions`, `max_questions`, `turns_left`.
    """

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: InteractGrader,
        *,
        profile: Profile = PROFILES["strict"],
        patience: int = 3,
        execute_sql: bool = False,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        self.max_questions = profile.questions(task.public.counted_ambiguities, patience)
        instruction = messages.instruction(task, profile, source.engine, self.max_questions, execute_sql)
        super().__init__(task, source, grader, profile, limits, instruction)
        self.turns_left = self.max_questions
        self.questions = 0
        self._execute_sql = execute_sql
        self._executions = 0
        self._debug = False
        self._actions = 0

    def apply(self, seat: int, move: Move) -> Event:
        event = super().apply(seat, move)
        limit = self.profile.max_actions
        if limit is not None and self._actions >= limit and self.turn == SYSTEM:
            self._truncate("task limit reached")
        return event

    def _questions_left(self) -> int:
        return self.turns_left

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
            return self._end(self._record(move, "judge", messages.LEFT))
        if text is None or move.action not in self._legal():
            return self._refuse(Move(move.action, text), messages.refusal(move.action, self._legal()))
        if move.action == "submit_sql":
            if self.task.has_gold and not text.strip():
                return self._failed(move, text, "no_submission")
            return self._submit(move, text)
        if not text.strip():
            return self._refuse(move, messages.EMPTY)
        if move.action == "execute_sql":
            self._executions += 1
            return self._execute(move, text)
        self.questions += 1
        self.turns_left = max(self.turns_left - 1, 0)
        return self._ask(move, text)

    def _refuse(self, move: Move, why: str) -> Event:
        if self._may_clarify() and self.turns_left > 0:
            self.turns_left -= 1
            return self._reply(move, "judge", f"{why} {messages.cost(self.turns_left)}")
        return self._failed(move, "", "malformed", said=f"{why} {messages.COUNTS_AS_EMPTY} ")

    def _judged(self, move: Move, sql: str, grade: Grade) -> Event:
        if not grade.passed:
            return self._failed(move, sql, grade.status, grade)
        self._log_attempt(sql, grade.status, grade)
        query = self._follow_up_query()
        if query is None:
            return self._end(self._record(move, "judge", DONE))
        self._move_on(sql, grade)
        self._debug = False
        return self._reply(move, "judge", messages.follow_up(query, self._may_clarify()))

    def _failed(
        self, move: Move, sql: str, status: str, grade: Grade | None = None, *, said: str = ""
    ) -> Event:
        """A failed attempt is followed by the debug attempt, or is the last; `said` is told before that."""
        self._log_attempt(sql, status, grade)
        error = grade.error if grade is not None else None
        if self._debug:
            last = messages.failed(error, self.profile.error_text)
            return self._end(self._record(move, "judge", f"{said}{last}"))
        self._debug = True
        return self._reply(move, "judge", said + messages.debug(status, error, self.profile.error_text))

    def _next_attempt(self) -> tuple[AttemptName, int]:
        return ("debug", 2) if self._debug else ("first", 1)
