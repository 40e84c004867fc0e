"""The rules of a-Interact, its settings, and its registration as a game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic import Field

from birdenv.dialogue import Game, Move, Reply, Seat
from birdenv.dialogue.people import ActionWords, Panel, SeatWords
from birdenv.grading.interact import Grade
from birdenv.tasks.a_interact import _messages as messages
from birdenv.tasks.a_interact._budget import COSTS, Budget, budget_for
from birdenv.tasks.a_interact._messages import look_up
from birdenv.tasks.interact._record import TaskRecord
from birdenv.tasks.interact._shared_rules import DONE, USER_SEAT, InteractRules
from birdenv.tasks.interact._task import AttemptName
from birdenv.tasks.interact._task_list import InteractSettings, InteractTasks, load_interact
from birdenv.tasks.interact.display import DISPLAY
from birdenv.tasks.interact.measures import A_INTERACT
from birdenv.tasks.interact.profile import MAX_PATIENCE, PATIENCE
from birdenv.tasks.interact.profile import PROFILES as ALL_PROFILES
from birdenv.tasks.sql._actions import (
    ASKING_GUIDE,
    BUDGET,
    CLARIFY,
    EXECUTE_SQL,
    READING_TOOLS,
    SENDERS,
    SUBMIT_ANY_SQL,
    SYSTEM,
    TOOLS,
    TURNS,
    USER,
    Kind,
)
from birdenv.tasks.sql._words import ASKING_WORDS
from birdenv.tasks.sql.markup_reading import markup_help, read_markup

PROFILES: Final = {name: ALL_PROFILES[name] for name in ("strict", "adk")}
"""The protocol profiles of a-Interact, keyed by name. The pipeline that `shell` reproduces has no a-Interact.
"""

_LABELS: Final[Mapping[str, str]] = {
    "get_schema": "Read the tables",
    "get_all_column_meanings": "Read the meanings of all columns",
    "get_column_meaning": "Read the meaning of one column",
    "get_all_external_knowledge_names": "Read the names of all knowledge entries",
    "get_knowledge_definition": "Read one knowledge entry",
    "get_all_knowledge_definitions": "Read all knowledge entries",
}
_BUDGET_GUIDE: Final = (
    "Everything that you do has a price, which is shown on its button, and is paid from one budget. This "
    "includes reading about the data. Keep enough of the budget for your SQL."
)
_FIELDS: Final = {"table": "Table", "column": "Column", "name": "Name"}


def _words() -> SeatWords:
    """Return the button labels and messages of c-Interact with prices, and labels for the six other tools."""
    actions = {
        name: replace(each, label=f"{each.label} ({_price(name)})")
        for name, each in ASKING_WORDS.actions.items()
    }
    read = {
        kind: ActionWords(f"{label} ({_price(kind)})", done=_told(label), fields=_FIELDS)
        for kind, label in _LABELS.items()
    }
    names = {**_LABELS, **{name: each.label for name, each in ASKING_WORDS.actions.items()}}
    refusals = ((f"{kind} costs ", f"“{label}” costs ") for kind, label in names.items())
    return replace(ASKING_WORDS, actions={**actions, **read}, replies=(*ASKING_WORDS.replies, *refusals))


def _price(kind: str) -> str:
    return f"costs {dict(COSTS)[kind]:g}"  # type: ignore[index]


def _told(label: str) -> str:
    return f"{label[0].lower()}{label[1:]}"


SEATS: Final = (
    Seat(
        "system",
        (CLARIFY, EXECUTE_SQL, SUBMIT_ANY_SQL, *READING_TOOLS),
        SENDERS,
        {"turns_left": TURNS - 1, "budget": BUDGET},
        phases=2,
        guide=f"{ASKING_GUIDE.rpartition('. ')[0]}. {_BUDGET_GUIDE}",
        words=_words(),
    ),
    USER_SEAT,
)


class AInteractRules(InteractRules):
    """An a-Interact episode: nine tools with prices (`COSTS`), and one budget for both phases.

    Passing phase 1 earns 0.7, and passing phase 2 earns 0.3, regardless of the number of submissions. Where
    the published implementations disagree, the rules are:

    * The price of a tool is deducted before the tool runs, regardless of the result.
    * A tool that costs more than the remaining budget is refused, and the refusal costs nothing. After a
      refusal, or if the budget does not cover any tool, only `submit_sql` is possible; any other action ends
      the episode.
    * `submit_sql` is always possible. A submission that the budget does not cover spends the rest of the
      budget and ends the episode without a follow-up.
    * An invalid action (an unknown tool, text that is too long, or a missing argument) costs 0.2.
    * If submitted SQL does not run, the reply contains the database's message. If the SQL runs but is
      incorrect, the reply says only that.

    The profile determines how submissions are graded, and from which database state a follow-up starts. The
    profile's rules about turns do not apply to a-Interact.

    Attributes:
        calls: the number of calls to each tool, keyed by tool name.
        malformed: the number of invalid actions.
        budget: the budget of the episode.
    """

    seats = SEATS

    def _begin(self, patience: int, engine: str) -> str:
        self.budget = Budget(budget_for(self.task.public.counted_ambiguities, patience))
        self.calls: Counter[str] = Counter()
        self.malformed = 0
        self._refused = False
        self._is_last = False  # the submission that is being judged
        return messages.instruction(self.task.public, engine, self.budget.total)

    def gauges(self, seat: int) -> Mapping[str, float]:
        if seat != SYSTEM:
            return {}
        questions = 0 if self._must_submit else self.budget.questions
        return {"turns_left": questions, "budget": self.budget.left}

    def left_in_words(self, seat: int) -> str:
        if seat != SYSTEM or self.status:
            return ""
        second = "The second request. " if self._phase == 2 else ""
        left = f"{second}You have {self.budget.left:g} of {self.budget.total} points of your budget left."
        return f"{left} Now you can only submit." if self._must_submit else left

    def outcome(self) -> dict[str, Any]:
        """Return the public result of the episode, with the total budget and the amount spent."""
        return super().outcome() | {"budget": self.budget.total, "budget_used": self.budget.used}

    def progress_fields(self) -> dict[str, Any]:
        return {
            "budget": self.budget.total,
            "budget_used": self.budget.used,
            "calls": {kind: self.calls[kind] for kind in TOOLS if self.calls[kind]},
            "malformed": self.malformed,
        }

    def play(self, seat: int, move: Move) -> Reply:
        if seat == USER:
            return self._answered(move)
        kind = move.action
        if _is_none(move):
            return self._malformed(move)
        if move.action == "submit_sql":
            self._is_last = not self.budget.pay("submit_sql")
            self.calls[kind] += 1
            return self._submit(move.data)
        paid: Kind = next(tool for tool in TOOLS if tool == kind)
        self.budget.pay(paid)
        self.calls[kind] += 1
        if kind == "clarify":
            return self._ask(move.data)
        if kind == "execute_sql":
            return self._execute(move.data)
        private, renumber = self.task.private, self.profile.renumber_knowledge
        found = look_up(paid, move.data, private.notes, private.deleted_knowledge, renumber=renumber)
        return self._reply(found, "database")

    def refuse(self, seat: int, move: Move, why: str) -> Reply:
        if seat == USER:
            return self._answered(move)
        if self._must_submit:
            return self._end(messages.NOT_SUBMITTED)
        kind = next((tool for tool in TOOLS if tool == move.action), None)
        if kind is None or _is_none(move):
            return self._malformed(move)
        self._refused = True
        return self._reply(messages.over_budget(kind))

    def _malformed(self, move: Move) -> Reply:
        self.malformed += 1
        self.budget.pay_malformed()
        return self._reply(messages.malformed(move.action, self._legal()))

    @property
    def _must_submit(self) -> bool:
        return self._refused or self.budget.is_spent

    def _standing(self) -> str:
        return messages.budget_left(self.budget)

    def _legal(self) -> tuple[Kind, ...]:
        if self._must_submit:
            return ("submit_sql",)
        return tuple(kind for kind in TOOLS if kind == "submit_sql" or self.budget.pays_for(kind))

    def _judged(self, sql: str, grade: Grade) -> Reply:
        self._log_attempt(sql, grade.status, grade)
        if not grade.passed:
            why = messages.failed(grade.status, grade.error, self.profile.error_text, last=self._is_last)
            return self._end(why) if self._is_last else self._reply(why)
        query = self._follow_up_query()
        if query is None or self._is_last:
            return self._end(DONE if query is None else messages.DONE_AND_SPENT)
        self._move_on(sql, grade)
        return self._reply(messages.follow_up(query))

    def _panels(self) -> tuple[Panel, ...]:
        how = "Read about its tables, columns and knowledge here. What you read appears in the conversation."
        return (Panel("Data", f"{self._about_database} {how}", actions=tuple(_LABELS)),)

    def _next_attempt(self) -> tuple[AttemptName, int]:
        """Return the number of the attempt, and 1, because every attempt earns as much as the first."""
        return 1 + sum(a.phase == self._phase for a in self.attempts), 1

    def _left_words(self) -> str:
        return messages.LEFT


def _is_none(move: Move) -> bool:
    """Return True if a move is invalid, because it names no tool or lacks a valid argument of the tool.

    Names of tables and columns may not contain `|`, which separates them in the text form of the action.
    """
    action = SEATS[SYSTEM].by_name.get(move.action)
    if action is None or action.fault(move.data) is not None:
        return True
    return move.action == "get_column_meaning" and any("|" in name for name in move.data.values())


class AInteractSettings(InteractSettings):
    """The settings of an a-Interact run or environment."""

    profile: Literal["strict", "adk"] = Field(
        "strict",
        description="How submissions are graded: strict (birdenv's rules) or adk (as in the reference "
        "implementation).",
    )
    patience: int = Field(
        PATIENCE,
        ge=0,
        le=MAX_PATIENCE,
        strict=True,
        description="Each unit adds 2 to the budget, which begins with 6, plus 2 for each ambiguity.",
    )


def load(settings: AInteractSettings) -> InteractTasks:
    """Load the a-Interact tasks.

    Raises:
        InputError: a file, a name or a database cannot be used.
    """
    idle = {"budget": 0, "budget_used": 0.0, "calls": {}, "malformed": 0}
    return load_interact(settings, AInteractRules, idle)


GAME = Game(
    "a-interact",
    SEATS,
    AInteractSettings,
    load,
    title="Ambiguous question -> tools on a budget -> SQL (BIRD-Interact)",
    study_title="A question for a database, on a budget",
    players={1: "rule"},
    read_text=read_markup,
    markup_help=markup_help(SEATS[0].kinds),
    record_model=TaskRecord,
    measures=A_INTERACT,
    display=DISPLAY,
    with_people={"user": {"leak_guard": "log"}},
)
