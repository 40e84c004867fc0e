"""Run the test cases of a Management task against a database, in a process that can be killed.

The tests are the benchmark's Python code, which receives the agent's SQL as data. The sandbox protects the
machine and other tasks from mistakes in this code, such as endless loops or excessive use of memory, files
and processes. It does not stop a determined attacker: Python code can manipulate the interpreter, and claim
that tests passed.

The process that runs the tests has no database, no files, no environment, and only one file descriptor: a
socket, over which it sends queries to its parent. The parent does not trust these messages. The process leads
its own process group, which is always killed at the end. Both an audit hook and the kernel prevent it from
forking. The kernel does not prevent root from forking, so a root process becomes `nobody` if possible.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from birdenv.databases import EpisodeDatabase, Result
from birdenv.errors import BirdenvError, InputError
from birdenv.grading.sandbox._case_queries import Answers, TooManyQueriesError, rows_of
from birdenv.grading.sandbox._sources import imports_of, names_of_tests, parse_test_cases
from birdenv.processes.child import OUT_OF_MEMORY
from birdenv.processes.messages import MessageError
from birdenv.processes.process import ChildProcess, Death


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits that all test cases of a task share.

    Attributes:
        seconds: limit on the wall-clock time, including queries. A query that is still running after this
            time is stopped only by the limits of the database.
        cpu_seconds: limit on the CPU time of the tests' process.
        memory_bytes: limit on the tests' memory, not counting the interpreter's own.
        output_characters: limit on printed characters.
        queries: limit on the number of queries.
        result_bytes: limit on the size of one result. For a larger result, the test gets an error instead.

    Raises:
        InputError: a limit is so low that no test could run.
    """

    seconds: float = 240.0
    cpu_seconds: int = 20
    memory_bytes: int = 512 * 2**20
    output_characters: int = 65_536
    queries: int = 1_000
    result_bytes: int = 16 * 2**20

    def __post_init__(self) -> None:
        if not (0 < self.seconds < math.inf and self.cpu_seconds >= 1 and self.memory_bytes > 0):
            raise InputError(
                "test-case limits must allow at least 1 s of CPU time, and more than 0 for wall-clock time "
                "and memory"
            )
        if min(self.output_characters, self.queries, self.result_bytes) < 0:
            raise InputError("limits on output, queries and results cannot be negative")


TestStatus: TypeAlias = Literal["passed", "failed", "test_error"]

TestCause: TypeAlias = Literal["passed", "assertion", "exception", "harness", "limit", "clock", "process"]

CAUSES: Final[dict[TestCause, TestStatus]] = {
    "passed": "passed",
    "assertion": "failed",
    "exception": "failed",
    "harness": "test_error",
    "limit": "test_error",
    "clock": "test_error",
    "process": "test_error",
}
"""The status of a test by the cause of its end. `assertion`: an assertion failed. `exception`: any other
error of the test's code, such as indexing missing rows. `harness`: the test uses a name or module that is not
offered. `limit`: it exceeded CPU time, memory, recursion, output or queries, or the database was slow.
`clock`: it exceeded the wall clock although the database was not slow. `process`: its process ended."""


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The outcome of one step: loading a source, or calling one of its tests.

    Attributes:
        source: the number of the source, from 1.
        name: the name of the test; empty if the step is loading the source.
        cause: how the step ended.
        reason: a one-line explanation, which must not be shown to agents; empty if the step passed.
    """

    source: int
    name: str
    cause: TestCause
    reason: str = ""

    @property
    def status(self) -> TestStatus:
        """Return `passed`, `failed` or `test_error`, depending on the cause."""
        return CAUSES[self.cause]


@dataclass(frozen=True, slots=True)
class TestReport:
    """The result of running tests on a database state, in order, until a test does not pass.

    Running the same tests on the same state always produces the same report.

    Attributes:
        status: `passed`, `failed` (the state is incorrect) or `test_error` (the tests are at fault).
        reason: an explanation in one line, which quotes the tests and must not be shown to agents; empty if
            all tests passed.
        outcomes: the outcomes of all steps that ran.
    """

    status: TestStatus
    reason: str = ""
    outcomes: tuple[TestOutcome, ...] = ()

    @property
    def depends_on_machine(self) -> bool:
        """Return whether a second run could end differently, because a limit or a crash ended this run."""
        return bool(self.outcomes) and self.outcomes[-1].cause in ("limit", "clock", "process")


def judged(on_gold: TestReport, on_prediction: Callable[[], TestReport]) -> TestReport:
    """Return the final report on a prediction, given the report on the state after the gold has run.

    If the tests do not pass on the gold's state, they are unusable: the result is a `test_error`, and
    `on_prediction` is not called. Otherwise, the result is the report that `on_prediction` returns, except
    that exceeding a limit there counts as `failed`. The result is still a `test_error` if a test uses names
    or modules that are not available, if the process crashes, or if the wall-clock limit is exceeded.
    """
    if on_gold.status != "passed":
        return TestReport("test_error", f"on the state that the gold leaves: {on_gold.reason}")
    report = on_prediction()
    if report.status == "test_error" and report.outcomes and report.outcomes[-1].cause == "limit":
        return replace(
            report,
            status="failed",
            reason=f"{report.reason}, but not on the state that the gold leaves",
        )
    return report


_LONGEST_REQUEST: Final = 16 * 2**20  # bytes
_LONGEST_REASON: Final = 500
_DEFAULT_LIMITS: Final = SandboxLimits()
_NONSENSE: Final[tuple[TestCause, str]] = ("process", "sends its parent a message that is not a request")


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
    """Run test cases (BIRD-Interact §4.3) on the current state of `database`, which they may change.

    All sources are loaded, each into its own namespace. Then each test is called with `(pred_sqls, sol_sqls,
    db_name, conn)`, and its return value is ignored. The namespace contains `ex_base`, `execute_queries`,
    `preprocess_results`, `remove_comments`, `remove_distinct`, `remove_round`, `json`, `re`, `datetime`,
    `date`, `Decimal` and `pred_query_result`, which holds the rows of `pred_result`, or is None if it has no
    rows.

    `execute_queries(sqls, db_name, conn)` runs SQL (a string, or a list of strings) on `database` up to the
    first error. It returns the rows of the last statement (None if it has no columns), whether there was an
    error, and whether there was a timeout. `ex_base` runs the SQL of both sides, compares their rows by
    `compare_strict`, and returns 1 or 0. Tests can use `conn` only as an argument of these functions.

    Errors in the code of a test count as `failed`. To find out whether the tests are to blame, run them
    first on the database state after the gold SQL has run, and use `judged`. Several threads may run tests at
    the same time, each on its own database. Raises `InputError` if no process can be started.
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
    """The parent's side of a child process that runs test cases. Collects the outcomes of their steps."""

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
            self._add("limit", f"runs more than {self._limits.queries} queries")
        finally:
            process.kill()
        last = self._outcomes[-1]
        reason = f"{_where(last)}: {last.reason}" if last.reason else ""
        return TestReport(last.status, reason, tuple(self._outcomes))

    @property
    def _is_done(self) -> bool:
        """Return whether the outcome of the last step is known, or a step did not pass."""
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
            return "limit", f"is not finished after {seconds:g} s, most of which the database took"
        if death.was_late:
            return "clock", f"is not finished after {seconds:g} s"
        code = death.exit_code
        if code is None:
            return _NONSENSE
        if code == OUT_OF_MEMORY:
            return "limit", "runs out of memory"
        if code == -signal.SIGXCPU:
            return "limit", f"uses more than {self._limits.cpu_seconds} s of CPU time"
        if code < 0 and code != -signal.SIGKILL:
            return "process", f"is killed by {signal.Signals(-code).name}"
        # Which of these is reported depends on timing.
        return "process", "ends its process or its connection, or is killed"


def _where(outcome: TestOutcome) -> str:
    return f"test case {outcome.source}" + (f", {outcome.name}" if outcome.name else "")


def _one_line(reason: str) -> str:
    return " ".join(reason.encode(errors="backslashreplace").decode().split())[:_LONGEST_REASON]
