"""The rules of BIRD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from birdenv.databases import DatabaseSource, EpisodeDatabase, Limits, QueryResult
from birdenv.databases.cache import result_cache
from birdenv.dialogue import Event, Move, Reply, Rules, Seat
from birdenv.dialogue.chat import chat_messages
from birdenv.dialogue.people import Panel
from birdenv.grading import LEAST_FETCHED, ExGrader, ExVerdict
from birdenv.tasks.bird._task import BirdTask
from birdenv.tasks.sql._actions import CLARIFY, EXECUTE_SQL, SENDERS, SUBMIT_SQL, SYSTEM, TURNS, Kind
from birdenv.tasks.sql._past_statements import PastStatements
from birdenv.tasks.sql._result_text import FETCHED_ROWS, result_text
from birdenv.tasks.sql._settings import today_words
from birdenv.tasks.sql._words import ASKING_WORDS, counted, tables_panel

_OPEN: Final = (SYSTEM,)
_LEGAL: Final[tuple[Kind, ...]] = ("execute_sql", "submit_sql")
_DEFAULT_LIMITS: Final = Limits()

_RULES = """\
Answer the question below by writing one SQL query ({engine}).
- execute_sql runs one statement on your own copy of the database and shows the result; use it to explore.
- submit_sql submits your answer and ends the task. Submit once, when you are sure.
You have {turns} actions in all. The result of your answer is compared with the reference result: the values
and the order of the columns count, and so do repeated rows; column names and the order of the rows do not."""

SEATS: Final = (
    Seat(
        "system",
        (CLARIFY, EXECUTE_SQL, SUBMIT_SQL),
        SENDERS,
        {"turns_left": TURNS - 1},
        phases=2,
        guide="Answer the question with one SQL query. Try statements first; submit once, when you are sure.",
        words=replace(
            ASKING_WORDS,
            voices={**ASKING_WORDS.voices, "user": "Question"},
            ends={**ASKING_WORDS.ends, "completed": "Your SQL was submitted, and the task is over."},
        ),
    ),
)


class BirdRules(Rules):
    """A BIRD episode: any number of `execute_sql` actions, then one `submit_sql`. EX is the reward.

    An episode has at most `max_turns` actions, and is truncated if the last action is not a submission.
    Refused actions, such as `clarify` or blank SQL, also count; the reply states why they were refused.

    Attributes:
        task: the task, with its gold SQL.
        submission: the submitted SQL; None before a submission.
        verdict: the grader's verdict; None before a submission or if the task has no gold SQL.
    """

    seats = SEATS
    rewards = (0.0,)

    def __init__(
        self,
        task: BirdTask,
        source: DatabaseSource,
        grader: ExGrader,
        *,
        evidence: bool = True,
        show_schema: bool = True,
        max_turns: int = 20,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        self.task = task
        self.submission: str | None = None
        self.verdict: ExVerdict | None = None
        self._source = source
        self._grader = grader
        self._turns_left = max_turns
        self._limits = limits
        self._database: EpisodeDatabase | None = None
        self._past = PastStatements()
        self._evidence = task.public.evidence.strip() if evidence else ""
        self._show_schema = show_schema
        self._instruction = _instruction(task, source, evidence, max_turns, show_schema) + today_words(source)
        self._extras = {"candidates": task.public.candidates}

    def open(self) -> tuple[int, ...]:
        return () if self.status else _OPEN

    def legal(self, seat: int) -> tuple[str, ...]:
        return _LEGAL

    def offered(self, seat: int) -> tuple[str, ...]:
        return _LEGAL

    def instruction(self, seat: int) -> str:
        return self._instruction

    def opening(self, seat: int) -> tuple[str, str]:
        return self.task.public.question, "user"

    def gauges(self, seat: int) -> Mapping[str, float]:
        return {"turns_left": self._turns_left}

    def extras(self, seat: int) -> Mapping[str, Any]:
        return self._extras

    def panels(self, seat: int) -> tuple[Panel, ...]:
        source, db_id = self._source, self.task.public.db_id
        schema = source.schema_text(db_id) if self._show_schema else ""
        about = f"The database is {source.engine}. {today_words(source).strip()}".strip()
        tables = tables_panel(schema, {}, source.dialect, about)
        return (*([Panel("Hint", self._evidence)] if self._evidence else []), tables)

    def left_in_words(self, seat: int) -> str:
        if self.status:
            return ""
        steps = counted(self._turns_left, "step")
        return f"You have {steps} left. Running SQL takes one, and so does submitting."

    def play(self, seat: int, move: Move) -> Reply:
        if move.action == "submit_sql":
            self._submit(move.data)
            return self._used("SQL submitted for evaluation.")
        if self.recalled is not None:
            self._past.recall(move.data, self.recalled["past"])
            return self._used(self.recalled["shown"], "database")
        sql, database = move.data, self._database
        if database is None:
            database = self._open()
        result = result_cache.execute(database, sql, FETCHED_ROWS)
        shown = result_text(result)
        self.noted = {"shown": shown, "past": self._past.ran(sql, result, database)}
        return self._used(shown, "database")

    def refuse(self, seat: int, move: Move, why: str) -> Reply:
        if why == "too_long":
            return self._used(f"SQL is limited to {SUBMIT_SQL.fields[0].max_length} characters.")
        if why in ("unknown", "illegal"):
            return self._used(_refusal(move.action))
        return self._used(f"No SQL given. {move.action} needs one SQL statement.")

    def leave(self, seat: int) -> Reply:
        self._turns_left -= 1
        self._finish("no_submission")
        return Reply("You left without an answer.")

    def stop(self, status: str) -> None:
        self.truncated = True
        self._finish(status)

    def outcome(self) -> dict[str, Any]:
        """Return the public result of the episode: its status, reward and EX (None if nothing was graded)."""
        ex = self.verdict.ex if self.verdict else None
        return {"status": self.status, "reward": self.rewards[SYSTEM], "ex": ex}

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def record(self, events: Sequence[Event]) -> dict[str, Any]:
        verdict = self.verdict
        error = verdict.error if verdict and verdict.status != "gold_error" else None
        result: dict[str, Any] = {
            "is_correct": bool(verdict and verdict.ex),
            "ex": int(bool(verdict and verdict.ex)),
            "ex_bird": int(bool(verdict and verdict.ex_bird)),
            "predicted_sql": self.submission,
            "predicted_result": _shown(verdict.pred_result) if verdict and verdict.pred_result else None,
            "error": error.message if error else None,
            "error_kind": error.kind if error else None,
            "verdict": verdict.status if verdict else None,
            "clean_steps": list(verdict.clean_steps) if verdict else [],
            "rows_pred": _told_rows(verdict.pred_result) if verdict and verdict.pred_result else None,
            **task_fields(self.task),
        }
        if verdict and verdict.metrics:
            result["metrics"] = dict(verdict.metrics)
        history = chat_messages(self._instruction, events, self.seats[SYSTEM], SYSTEM)
        return {"turns": len(events), "history": history, "result": result}

    def private_record(self) -> dict[str, Any]:
        verdict = self.verdict
        record: dict[str, Any] = {"gold_sql": list(self.task.private.gold)}
        if verdict is None:
            return record
        is_broken = verdict.error is not None and verdict.status == "gold_error"
        return record | {
            "gold_result": result_text(verdict.gold_result) if verdict.gold_result else None,
            "rows_gold": verdict.rows_gold,
            "gold_empty": verdict.gold_empty,
            "gold_error": verdict.error.message if is_broken and verdict.error else None,
            "matched_gold": verdict.matched_gold,
            "reason": verdict.reason,
            "flags": list(verdict.flags),
            "rows_pred": verdict.rows_pred,
            "first_difference": {"expected": verdict.expected, "returned": verdict.returned},
        }

    def durations(self) -> dict[str, float]:
        verdict = self.verdict
        return {"gold_s": verdict.gold_seconds, "pred_s": verdict.pred_seconds} if verdict else {}

    def _open(self) -> EpisodeDatabase:
        database = self._database = self._source.open(self.task.public.db_id, self._limits)
        self._past.run_again(database.execute)
        return database

    def _submit(self, sql: str) -> None:
        self.submission = sql
        if not self.task.has_gold:
            self._finish("ungraded")
            return
        self.close()  # frees the memory of the agent's database before grading
        self.verdict = self._grader.grade(self.task.public.db_id, self.task.private.gold, sql)
        self.rewards = (float(self.verdict.ex),)
        self._finish("completed")

    def _used(self, text: str, sender: str = "judge") -> Reply:
        """Count one action, and return a reply with this text. End the episode if no action is left."""
        self._turns_left -= 1
        if self._turns_left <= 0 and not self.status:
            self.truncated = True
            self._finish("task limit reached")
            text += "\nThat was your last action, and nothing was submitted."
        return Reply(text, sender)

    def _finish(self, status: str) -> None:
        self.status = status
        self.close()


def task_fields(task: BirdTask) -> dict[str, Any]:
    """Return the fields that describe a task in an episode record: its difficulty and database."""
    return {"difficulty": task.public.difficulty, "db_id": task.public.db_id}


def _refusal(action: str) -> str:
    if action == CLARIFY.name:
        return "There is nobody to ask in this task. Use execute_sql to explore and submit_sql to answer."
    return f"That is not a valid action. Possible actions: {', '.join(_LEGAL)}."


def _shown(result: QueryResult) -> str:
    """Return a result as text, limited to the rows that are always fetched.

    Additional rows would reveal the gold, because the size of its result determines how many rows the grader
    fetches.
    """
    rows, truncated = result.rows[:LEAST_FETCHED], len(result.rows) > LEAST_FETCHED or result.truncated
    return result_text(QueryResult(result.columns, rows, truncated))


def _told_rows(result: QueryResult) -> int | None:
    return None if result.truncated or len(result.rows) > LEAST_FETCHED else len(result.rows)


def _instruction(
    task: BirdTask, source: DatabaseSource, evidence: bool, max_turns: int, show_schema: bool
) -> str:
    public = task.public
    parts = [_RULES.format(engine=source.engine, turns=max_turns), f"Question: {public.question}"]
    if evidence and public.evidence.strip():
        parts.append(f"Hint: {public.evidence}")
    parts.append(f"Database: {public.db_id}")
    schema = source.schema_text(public.db_id) if show_schema else ""
    return "\n\n".join([*parts, schema] if schema else parts)
