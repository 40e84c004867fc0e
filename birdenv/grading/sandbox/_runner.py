"""Runs a Management task's test cases against a database, in a process that can be killed.

The tests are Python of the benchmark, not of the agent; the agent's SQL is handed to them as data. So this
protects the machine and the other tasks from mistakes: endless loops, memory, processes, files, output. It is
no prison for a determined attacker: within Python, tests can reach the interpreter and claim to have passed.

Their process has no database, no files, no environment and no descriptor but one end of a socket, over
which it asks the owner for queries. What it sends is taken apart without trusting it. It leads a process
group of its own, which is killed as a whole at the end, whatever the end was. Forking is refused by an audit
hook, then by the kernel (as nobody, if this is root). Only where root may not become nobody does the second
bar fail, and then the killing of the group is what remains.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Any, Final

from birdenv.databases import EpisodeDatabase, Result
from birdenv.errors import BirdenvError
from birdenv.grading.sandbox._case_queries import Answers, TooManyQueriesError, rows_of
from birdenv.grading.sandbox._case_report import CAUSES, TestCause, TestOutcome, TestReport
from birdenv.grading.sandbox._limits import SandboxLimits
from birdenv.grading.sandbox._sources import imports_of, names_of_tests, parse_test_cases
from birdenv.processes.child import OUT_OF_MEMORY
from birdenv.processes.messages import MessageError
from birdenv.processes.process import ChildProcess, Death

_LONGEST_REQUEST: Final = 16 * 2**20  # bytes
_LONGEST_REASON: Final = 500
_DEFAULT_LIMITS: Final = SandboxLimits()
_NONSENSE: Final[tuple[TestCause, str]] = ("process", "sends its owner something else than a request")


def run_test_cases(
    sources: Sequence[str],
    pred_sqls: Sequence[str],
    sol_sqls: Sequence[str],
    database: EpisodeDatabase,
    *,
    pred_result: Result | None = None,
    limits: SandboxLimits = _DEFAULT_LIMITS,
    db_name: str = "",
    dialect: str = "sqlite",
) -> TestReport:
    """Run the tests (BIRD-Interact §4.3) on the state that `database` is in, which they may change.

    All sources are loaded, each in a namespace of its own, then each test is called with `(pred_sqls,
    sol_sqls, db_name, conn)`; what it returns does not matter. In scope are `ex_base`, `execute_queries`,
    `preprocess_results`, `remove_comments`, `remove_distinct`, `remove_round`, `json`, `re`, `datetime`,
    `date`, `Decimal` and `pred_query_result`: the rows of `pred_result`, None if it has none.

    `execute_queries(sqls, db_name, conn)` takes SQL or a list of SQL, runs it on `database` up to the first
    error and returns the last statement's rows (None without columns), whether there was an error, and
    whether there was a timeout. `ex_base` runs both sides and compares by `compare_strict`: 1 or 0. `conn` is
    good for handing on only.

    This looks at one state, and where the tests trip over it says `failed`: run them on the gold's state
    first, and let `judged` blame. Several threads may run tests at once, each on a database of its own.
    Raises `InputError` if no process can be started.
    """
    problems = parse_test_cases(sources) if sources else ["there are no test cases"]
    if problems:
        return TestReport("test_error", _one_line("; ".join(problems)))
    names = [names_of_tests(source) for source in sources]
    job = {
        "sources": list(sources),
        "names": names,
        "imports": [name for source in sources for name in imports_of(source)],
        "pred_sqls": list(pred_sqls),
        "sol_sqls": list(sol_sqls),
        "db_name": db_name,
        "pred_rows": rows_of(pred_result, limits.result_bytes)[0],
        "seconds": limits.seconds,
        "cpu_seconds": limits.cpu_seconds,
        "memory_bytes": limits.memory_bytes,
        "output_characters": limits.output_characters,
    }
    steps = [(number, "") for number in range(1, len(sources) + 1)]
    steps += [(number, name) for number, tests in enumerate(names, 1) for name in tests]
    return _Owner(steps, Answers(database, dialect, limits.queries, limits.result_bytes), limits).run(job)


class _Owner:
    """The owner's side of one run."""

    def __init__(self, steps: list[tuple[int, str]], answers: Answers, limits: SandboxLimits) -> None:
        self._steps = steps
        self._answers = answers
        self._limits = limits
        self._outcomes: list[TestOutcome] = []

    def run(self, job: dict[str, Any]) -> TestReport:
        process = ChildProcess("birdenv.grading.sandbox._child", sees="nothing")
        try:
            found = process.call(
                job, seconds=self._limits.seconds, most_bytes=_LONGEST_REQUEST, answer=self._answer
            )
            if not self._is_done:
                self._add(*(self._death(found) if isinstance(found, Death) else _NONSENSE))
        except BirdenvError:
            self._add(*_NONSENSE)
        except TooManyQueriesError:
            self._add("limit", f"asks for more than {self._limits.queries} queries")
        finally:
            process.kill()
        last = self._outcomes[-1]
        reason = f"{_where(last)}: {last.reason}" if last.reason else ""
        return TestReport(last.status, reason, tuple(self._outcomes))

    @property
    def _is_done(self) -> bool:
        """Whether the last step has been told of, or one that did not pass."""
        return len(self._outcomes) == len(self._steps) or (
            bool(self._outcomes) and self._outcomes[-1].cause != "passed"
        )

    def _answer(self, request: Any) -> Any:
        match request:
            case _ if self._is_done:
                raise MessageError("all is done")
            case ["outcome", "passed", ""]:
                self._add("passed")
            case ["outcome", str(cause), str(reason)] if cause in CAUSES and cause != "passed":
                self._add(cause, reason)
            case _:
                return self._answers.answer(request)
        return None

    def _add(self, cause: TestCause, reason: str = "") -> None:
        self._outcomes.append(TestOutcome(*self._steps[len(self._outcomes)], cause, _one_line(reason)))

    def _death(self, death: Death) -> tuple[TestCause, str]:
        seconds = self._limits.seconds
        if death.was_late and self._answers.seconds > seconds / 2:
            return "limit", f"is not done in {seconds:g} s, most of which the database took"
        if death.was_late:
            return "clock", f"is not done in {seconds:g} s"
        code = death.exit_code
        if code is None:
            return _NONSENSE
        if code == OUT_OF_MEMORY:
            return "limit", "runs out of memory"
        if code == -signal.SIGXCPU:
            return "limit", f"uses more than {self._limits.cpu_seconds} s of processor time"
        if code < 0 and code != -signal.SIGKILL:
            return "process", f"dies of {signal.Signals(-code).name}"
        # Which of them it was depends on who is faster.
        return "process", "ends its process or its connection, or is killed"


def _where(outcome: TestOutcome) -> str:
    return f"test case {outcome.source}" + (f", {outcome.name}" if outcome.name else "")


def _one_line(reason: str) -> str:
    return " ".join(reason.encode(errors="backslashreplace").decode().split())[:_LONGEST_REASON]
