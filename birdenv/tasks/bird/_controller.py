"""The rules of a BIRD episode."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from birdenv.databases import DatabaseSource, EpisodeDatabase, Limits, result_cache
from birdenv.dialogue import Event, Move
from birdenv.grading import ExGrader, ExVerdict
from birdenv.tasks.bird._loader import BirdTask
from birdenv.tasks.sql._actions import KINDS, MAX_TEXT, SYSTEM, Kind, Sender, SystemView
from birdenv.tasks.sql._result_text import FETCHED_ROWS, result_text

_LEGAL: tuple[Kind, ...] = ("execute_sql", "submit_sql")
_DEFAULT_LIMITS: Final = Limits()

_RULES = """\
Answer the question below by writing one SQL query ({engine}).
- execute_sql runs one statement on your own copy of the database and shows the result; use it to explore.
- submit_sql hands in your answer and ends the task. Submit once, when you are sure.
You have {turns} actions in all. Your answer is compared with the reference result: the values and the order
of the columns count, and so do repeated rows; column names and the order of the rows do not."""


class BirdController:
    """`execute_sql` any number of times, then one `submit_sql`; EX is the reward (1 or 0).

    `max_turns` actions are allowed; the last one that is not a submission truncates the episode. A refused
    action (clarify, blank SQL) costs one action and says why. `verdict` is the grader's, once submitted.
    """

    def __init__(
        self,
        task: BirdTask,
        source: DatabaseSource,
        grader: ExGrader,
        *,
        evidence: bool = True,
        max_turns: int = 20,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        self.task = task
        self.events: list[Event] = []
        self.turn: int | None = SYSTEM
        self.terminated = False
        self.truncated = False
        self.rewards = (0.0, 0.0)
        self.submission: str | None = None
        self.verdict: ExVerdict | None = None
        self.status = ""
        self._source = source
        self._grader = grader
        self._max_turns = max_turns
        self._limits = limits
        self._database: EpisodeDatabase | None = None
        self._instruction = _instruction(task, source, evidence, max_turns)
        self._readings = task.public.candidates
        self._message = task.public.question
        self._sender: Sender = "user"

    def view(self, seat: int) -> SystemView:
        """The system's view; this game has no user to play."""
        if seat != SYSTEM:
            raise ValueError(f"seat {seat} has no view in a BIRD episode")
        legal = () if self.turn is None else _LEGAL
        turns_left = self._max_turns - len(self.events)
        return SystemView(
            self._instruction, self._message, self._sender, 1, turns_left, legal, self._readings
        )

    def apply(self, seat: int, move: Move) -> Event:
        if seat != self.turn:
            raise ValueError(f"seat {seat} cannot move now")
        if move.action == "quit":
            self._terminate("no_submission")
            return self._record(move, "judge", "You left without an answer.")
        sql = move.data if isinstance(move.data, str) else ""
        if move.action not in _LEGAL:
            event = self._record(move, "judge", _refusal(move.action))
        elif len(sql) > MAX_TEXT:
            event = self._record(Move(move.action), "judge", f"SQL is limited to {MAX_TEXT} characters.")
        elif not sql.strip():
            event = self._record(move, "judge", f"No SQL given. {move.action} needs one SQL statement.")
        elif move.action == "execute_sql":
            event = self._record(move, "database", self._execute(sql))
        else:
            self._submit(sql)
            event = self._record(move, "judge", "SQL submitted for evaluation.")
        if self.turn is not None and len(self.events) >= self._max_turns:
            self._message += "\nThat was the last action; nothing was submitted."
            self.truncated = True
            self._end("task limit reached")
        return event

    def outcome(self) -> dict[str, Any]:
        """The public result of the episode, as it goes into the transcript."""
        ex = self.verdict.ex if self.verdict else None
        return {"status": self.status, "reward": self.rewards[SYSTEM], "ex": ex}

    def abort(self) -> None:
        """End because something that the episode needs was lost: truncated, as `infra_error`."""
        self.truncated = True
        self._end("infra_error")

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _execute(self, sql: str) -> str:
        if self._database is None:
            self._database = self._source.open(self.task.public.db_id, self._limits)
        return result_text(result_cache.execute(self._database, sql, FETCHED_ROWS))

    def _submit(self, sql: str) -> None:
        self.submission = sql
        if not self.task.has_gold:
            self._terminate("ungraded")
            return
        self.verdict = self._grader.grade(self.task.public.db_id, self.task.private.gold, sql)
        self.rewards = (float(self.verdict.ex), 0.0)
        self._terminate("completed")

    def _terminate(self, status: str) -> None:
        self.terminated = True
        self._end(status)

    def _end(self, status: str) -> None:
        self.turn, self.status = None, status
        self.close()

    def _record(self, move: Move, sender: Sender, reply: str) -> Event:
        self._message, self._sender = reply, sender
        reported = {"sender": sender, "reply": reply}
        event = Event(SYSTEM, len(self.events) + 1, move.action, move.data, metadata=reported)
        self.events.append(event)
        return event


def _refusal(action: str) -> str:
    if action == "clarify":
        return "There is nobody to ask in this task. Use execute_sql to explore, submit_sql to answer."
    known: Sequence[str] = [kind for kind in KINDS if kind in _LEGAL]
    return f"Unknown action. Use one of: {', '.join(known)}."


def _instruction(task: BirdTask, source: DatabaseSource, evidence: bool, max_turns: int) -> str:
    public = task.public
    hint = public.evidence if evidence else ""
    schema = source.schema_text(public.db_id)
    return _instruction_text(source.engine, max_turns, public.question, hint, public.db_id, schema)


@lru_cache(maxsize=64)  # rollouts of one task begin with the same
def _instruction_text(engine: str, turns: int, question: str, hint: str, db_id: str, schema: str) -> str:
    parts = [_RULES.format(engine=engine, turns=turns), f"Question: {question}"]
    if hint.strip():
        parts.append(f"Hint: {hint}")
    return "\n\n".join([*parts, f"Database: {db_id}", schema])
