"""The rules of c-Interact (BIRD-Interact §2, §5.1), its settings, and its registration as a game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import Field

from birdenv.databases import DatabaseSource
from birdenv.dialogue import Game, Move, Reply, Seat
from birdenv.dialogue.chat import NO_CALL
from birdenv.dialogue.people import Panel
from birdenv.grading import InteractGrader
from birdenv.grading.interact import Grade
from birdenv.tasks.c_interact import _messages as messages
from birdenv.tasks.interact._knowledge import shown_knowledge
from birdenv.tasks.interact._record import TaskRecord
from birdenv.tasks.interact._shared_rules import DONE, USER_SEAT, InteractRules
from birdenv.tasks.interact._task import AttemptName, CInteractTask
from birdenv.tasks.interact._task_list import InteractSettings, InteractTasks, load_interact
from birdenv.tasks.interact.display import DISPLAY
from birdenv.tasks.interact.measures import C_INTERACT
from birdenv.tasks.sql._actions import (
    ASKING_GUIDE,
    CLARIFY,
    EXECUTE_SQL,
    SENDERS,
    SUBMIT_ANY_SQL,
    SYSTEM,
    TURNS,
    USER,
    Kind,
)
from birdenv.tasks.sql._words import ASKING_WORDS, counted, knowledge_panel, tables_panel
from birdenv.tasks.sql.markup_reading import markup_help, read_markup

FREE_QUESTIONS_BACK = 2
"""The maximum number of questions in an episode that are free because the user does not understand them."""

SEATS: Final = (
    Seat(
        "system",
        (CLARIFY, EXECUTE_SQL, SUBMIT_ANY_SQL),
        SENDERS,
        {"turns_left": TURNS - 1},
        phases=2,
        guide=ASKING_GUIDE,
        words=ASKING_WORDS,
    ),
    USER_SEAT,
)


class CInteractRules(InteractRules):
    """A c-Interact episode: questions to the user, SQL, and a follow-up request.

    In each phase, the system has a second ("debug") attempt if its first SQL is incorrect. A refused action
    (illegal, malformed or empty) costs one question. If no question is left, the action counts as an empty
    submission, so that every episode ends. Under some profiles, the first refused actions after a submission
    are free (`Profile.free_refusals`), or a message without a tool call ends the attempt at once
    (`Profile.no_call_ends_attempt`).

    Attributes:
        questions: the number of questions charged against the budget. The record counts all other questions
            in `free_questions`.
        max_questions: the budget, that is, the maximum number of questions that can be charged for.
        turns_left: the number of questions left in the budget. This number stays the same after the first
            submission, even if the profile allows no more questions then.
    """

    seats = SEATS

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: InteractGrader,
        *,
        execute_sql: bool = False,
        questions: int | None = None,
        **settings: Any,
    ) -> None:
        self._execute_sql = execute_sql
        self._fixed = questions
        super().__init__(task, source, grader, **settings)

    def _begin(self, patience: int, engine: str) -> str:
        counted = self.task.public.counted_ambiguities
        self.max_questions = self.profile.questions(counted, patience) if self._fixed is None else self._fixed
        self.turns_left = self.max_questions
        self.questions = 0
        self._executions = 0
        self._debug = False
        self._passed_over = False  # the phase's first attempt ended without a submission
        self._refusals = 0  # of this phase, after the first submission
        self._actions = 0
        self._free = 0
        return messages.instruction(self.task, self.profile, engine, self.max_questions, self._execute_sql)

    def offered(self, seat: int) -> tuple[str, ...]:
        kinds = self.seats[seat].kinds
        return kinds if self._execute_sql else tuple(kind for kind in kinds if kind != "execute_sql")

    def gauges(self, seat: int) -> Mapping[str, float]:
        if seat != SYSTEM:
            return {}
        return {"turns_left": self.turns_left if self._may_clarify() else 0}

    def left_in_words(self, seat: int) -> str:
        if seat != SYSTEM or self.status:
            return ""
        attempts = f"You have {counted(1 if self._debug else 2, 'attempt')} at the SQL."
        if self._may_clarify() or not self._has_submitted:
            return f"You can ask {counted(self.turns_left, 'more question')}. {attempts}"
        return f"{'The second request. ' if self._phase == 2 else ''}{attempts}"

    def play(self, seat: int, move: Move) -> Reply:
        if seat == USER:
            return self._limited(self._heard(move))
        self._actions += 1
        text: str = move.data
        if move.action == "submit_sql":
            empty = self.task.has_gold and not text.strip()
            return self._limited(self._failed(text, "no_submission") if empty else self._submit(text))
        if move.action == "execute_sql":
            self._executions += 1
            return self._limited(self._execute(text))
        self.questions += 1
        self.turns_left = max(self.turns_left - 1, 0)
        return self._ask(text)

    def _heard(self, move: Move) -> Reply:
        """Return the user's answer, and refund the price of a question that the user did not understand."""
        reply = self._answered(move)
        if self.profile.tells_left:
            self._told_system = messages.left(self.turns_left, self.max_questions)
            return replace(reply, text=self._told_system)
        from birdenv.users import ASKING_BACK

        asks_back = self.profile.conversation and reply.data == ASKING_BACK
        if not asks_back or self._free >= FREE_QUESTIONS_BACK:
            return reply
        self._free += 1
        self.questions -= 1
        self.turns_left += 1
        self._told_system = messages.free(self.turns_left)
        return replace(reply, text=self._told_system)

    def refuse(self, seat: int, move: Move, why: str) -> Reply:
        if seat == USER:
            return self._limited(self._answered(move))
        self._actions += 1
        if move.action == NO_CALL and self.profile.no_call_ends_attempt:
            return self._limited(self._without_submission())
        if why in ("malformed", "too_long"):
            said = f"{self.seats[seat].by_name[move.action].needed()}."
        else:
            said = messages.EMPTY if why == "empty" else messages.refusal(move.action, self._legal())
        if self._may_clarify() and self.turns_left > 0:
            self.turns_left -= 1
            return self._limited(self._reply(f"{said} {messages.cost(self.turns_left)}"))
        if self._has_submitted and self._refusals < self.profile.free_refusals:
            self._refusals += 1
            left = self.profile.free_refusals - self._refusals
            return self._limited(self._reply(f"{said} {messages.free_refusal(left)}"))
        why_empty = messages.used_up(self.profile, has_submitted=self._has_submitted)
        return self._limited(self._failed("", "malformed", said=f"{said} {why_empty} "))

    def _panels(self) -> tuple[Panel, ...]:
        private = self.task.private
        notes, dialect = private.notes, private.brief.dialect
        entries = shown_knowledge(notes, private.deleted_knowledge)
        tables = tables_panel(notes.schema, notes.column_meanings, dialect, self._about_database)
        return tables, knowledge_panel(entries)

    def progress_fields(self) -> dict[str, Any]:
        return {
            "questions": self.questions,
            "max_questions": self.max_questions,
            "free_questions": self._free,
        }

    def _legal(self) -> tuple[Kind, ...]:
        legal: list[Kind] = []
        if self._may_clarify():
            legal.append("clarify")
        if self._execute_sql and self._executions < messages.MAX_EXECUTIONS:
            legal.append("execute_sql")
        return (*legal, "submit_sql")

    @property
    def _has_submitted(self) -> bool:
        return self._phase == 2 or self._debug

    def _may_clarify(self) -> bool:
        in_time = not self._has_submitted or self.profile.clarify_later
        return in_time and (self.turns_left > 0 or not self.profile.enforced)

    def _limited(self, reply: Reply) -> Reply:
        """Return the reply, and truncate the episode if the profile allows no more actions."""
        most = self.profile.max_actions
        if most is not None and self._actions >= most and not self.status:
            self._truncate("task limit reached")
        return reply

    def _judged(self, sql: str, grade: Grade) -> Reply:
        if not grade.passed:
            return self._failed(sql, grade.status, grade)
        self._log_attempt(sql, grade.status, grade)
        query = self._follow_up_query()
        if query is None:
            return self._end(DONE)
        self._move_on(sql, grade)
        self._debug, self._passed_over, self._refusals = False, False, 0
        return self._reply(messages.follow_up(query, self._may_clarify()))

    def _failed(self, sql: str, status: str, grade: Grade | None = None, *, said: str = "") -> Reply:
        """Begin the debug attempt or end the episode, and return the reply, which begins with `said`."""
        self._log_attempt(sql, status, grade)
        error = grade.error if grade is not None else None
        said += messages.failed(status, error, self.profile.error_text, last=self._debug)
        if self._debug:
            return self._end(said)
        self._debug = True
        return self._reply(said)

    def _without_submission(self) -> Reply:
        """End an attempt in which nothing was submitted. The record does not list such an attempt."""
        if self._debug:
            return self._end(f"{messages.NO_CALL} The episode ends.")
        self._debug = self._passed_over = True
        return self._reply(f"{messages.NO_CALL} {messages.ONE_MORE}")

    def _next_attempt(self) -> tuple[AttemptName, int]:
        return ("debug", 2) if self._debug and not self._passed_over else ("first", 1)

    def _left_words(self) -> str:
        return messages.LEFT


class CInteractSettings(InteractSettings):
    """The settings of a c-Interact run or environment."""

    execute_sql: bool = Field(False, description="Let the agent run SQL (not in the official protocol).")
    questions: int | None = Field(
        None,
        ge=0,
        description="Questions allowed in every task. Default: one for each ambiguity, plus patience.",
    )

    def rules(self) -> dict[str, object]:
        fixed = {} if self.questions is None else {"questions": self.questions}
        return super().rules() | {"execute_sql": self.execute_sql} | fixed


def load(settings: CInteractSettings) -> InteractTasks:
    """Load the c-Interact tasks.

    Raises:
        InputError: a file, a name or a database cannot be used.
    """
    idle = {"questions": 0, "max_questions": 0, "free_questions": 0}
    more = {"execute_sql": settings.execute_sql, "questions": settings.questions}
    return load_interact(settings, CInteractRules, idle, **more)


GAME = Game(
    "c-interact",
    SEATS,
    CInteractSettings,
    load,
    title="Ambiguous question -> dialogue -> SQL (BIRD-Interact)",
    study_title="A question for a database",
    players={1: "rule"},
    read_text=read_markup,
    markup_help=markup_help(("clarify", "submit_sql")),
    record_model=TaskRecord,
    measures=C_INTERACT,
    display=DISPLAY,
    with_people={"user": {"leak_guard": "log"}},
)
