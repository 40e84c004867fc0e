"""The rules of an a-Interact episode.

Reading a move as a call of a tool.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

from birdenv.databases import DatabaseSource, Limits
from birdenv.dialogue import Event, Move
from birdenv.grading import Grade, InteractGrader
from birdenv.tasks.a_interact import _messages as messages
from birdenv.tasks.a_interact._budget import Budget, budget_for
from birdenv.tasks.a_interact._lookups import look_up
from birdenv.tasks.c_interact import DONE, AttemptName, CInteractTask, InteractController, Profile
from birdenv.tasks.c_interact import PROFILES as ALL_PROFILES
from birdenv.tasks.sql._actions import ARGUMENTS, MAX_TEXT, SEPARATOR, TOOLS, Kind


class Call(NamedTuple):
    """What a move asks for. `text` is None where the tool's argument is missing or malformed.

    `move` is what the log keeps: without text that is too long, or that the tool does not take.
    """

    kind: Kind | None
    text: str | None
    move: Move


def read_call(move: Move) -> Call:
    """The tool of that name with its text; an empty submission is one, any other empty argument is not."""
    kind = next((kind for kind in TOOLS if kind == move.action), None)
    legible = move.data if isinstance(move.data, str) and len(move.data) <= MAX_TEXT else None
    if kind is None:
        return Call(None, None, Move(move.action, legible))
    if not ARGUMENTS[kind]:
        return Call(kind, "", Move(kind, ""))
    complete = legible is not None and (kind == "submit_sql" or _is_complete(kind, legible))
    return Call(kind, legible if complete else None, Move(kind, legible))


def _is_complete(kind: Kind, text: str) -> bool:
    parts = text.split(SEPARATOR) if len(ARGUMENTS[kind]) > 1 else [text]
    return len(parts) == len(ARGUMENTS[kind]) and all(part.strip() for part in parts)


PROFILES: Final = {name: ALL_PROFILES[name] for name in ("strict", "adk")}
"""By name. The original pipeline (`shell`) has no a-Interact."""

_DEFAULT_LIMITS: Final = Limits()


class AInteractController(InteractController):
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

    `profile` says how submissions are judged and where a follow-up starts; what it says of the turns of
    c-Interact means nothing here.

    Public, beside what every `InteractController` has: `calls` (by tool), `malformed`, `budget`.
    """

    def __init__(
        self,
        task: CInteractTask,
        source: DatabaseSource,
        grader: InteractGrader,
        *,
        profile: Profile = PROFILES["strict"],
        patience: int = 3,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        self.budget = Budget(budget_for(task.public.counted_ambiguities, patience))
        instruction = messages.instruction(task.public, source.engine, self.budget.total)
        super().__init__(task, source, grader, profile, limits, instruction)
        self.calls: Counter[Kind] = Counter()
        self.malformed = 0
        self._refused = False
        self._is_last = False  # the submission that is being judged

    def outcome(self) -> dict[str, Any]:
        return super().outcome() | {"budget": self.budget.total, "budget_used": self.budget.used}

    @property
    def _must_submit(self) -> bool:
        return self._refused or self.budget.is_spent

    def _questions_left(self) -> int:
        return 0 if self._must_submit else self.budget.questions

    def _budget_left(self) -> float:
        return self.budget.left

    def _standing(self) -> str:
        return messages.budget_left(self.budget)

    def _legal(self) -> tuple[Kind, ...]:
        if self._must_submit:
            return ("submit_sql",)
        return tuple(kind for kind in TOOLS if kind == "submit_sql" or self.budget.pays_for(kind))

    def _act(self, move: Move) -> Event:
        kind, text, legible = read_call(move)
        if move.action == "quit":
            return self._end(self._record(legible, "judge", messages.LEFT))
        if self._must_submit and (kind != "submit_sql" or text is None):
            return self._end(self._record(legible, "judge", messages.NOT_SUBMITTED))
        if kind is None or text is None:
            self.malformed += 1
            self.budget.pay_malformed()
            return self._reply(legible, "judge", messages.malformed(legible.action, self._legal()))
        if kind == "submit_sql":
            self._is_last = not self.budget.pay(kind)
            self.calls[kind] += 1
            return self._submit(legible, text)
        if not self.budget.pays_for(kind):
            self._refused = True
            return self._reply(legible, "judge", messages.over_budget(kind))
        self.budget.pay(kind)
        self.calls[kind] += 1
        return self._use(kind, text, legible)

    def _use(self, kind: Kind, text: str, move: Move) -> Event:
        """A tool that is paid for."""
        if kind == "clarify":
            return self._ask(move, text)
        if kind == "execute_sql":
            return self._execute(move, text)
        private, renumber = self.task.private, self.profile.renumber_knowledge
        found = look_up(kind, text, private.notes, private.deleted_knowledge, renumber=renumber)
        return self._reply(move, "database", found)

    def _judged(self, move: Move, sql: str, grade: Grade) -> Event:
        self._log_attempt(sql, grade.status, grade)
        if not grade.passed:
            error_text = self.profile.error_text
            why = messages.failed(grade.status, grade.error, error_text, last=self._is_last)
            if self._is_last:
                return self._end(self._record(move, "judge", why))
            return self._reply(move, "judge", why)
        query = self._follow_up_query()
        if query is None or self._is_last:
            done = DONE if query is None else messages.DONE_AND_SPENT
            return self._end(self._record(move, "judge", done))
        self._move_on(sql, grade)
        return self._reply(move, "judge", messages.follow_up(query))

    def _next_attempt(self) -> tuple[AttemptName, int]:
        """Every attempt earns what the first would."""
        return 1 + sum(a.phase == self.phase for a in self.attempts), 1
