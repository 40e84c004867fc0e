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
    """Caps on all tests of one task together.

    `seconds`: wall clock, the database's time included, for tests that wait; a query that is running then is
    not cut short, but ends by the limits of its database. `cpu_seconds`: processor time of the tests'
    process, which ends tests that work. `memory_bytes`: besides the interpreter. `output_characters`:
    printed. `queries`: asked of the database. `result_bytes`: of one result, text and blobs by length; a
    larger one is an error to the test.

    Raises `InputError` for a limit that lets nothing run.
    """

    seconds: float = 240.0
    cpu_seconds: int = 20
    memory_bytes: int = 512 * 2**20
    output_characters: int = 65_536
    queries: int = 1_000
    result_bytes: int = 16 * 2**20

    def __post_init__(self) -> None:
        if not (0 < self.seconds < math.inf and self.cpu_seconds >= 1 and self.memory_bytes > 0):
            raise InputError("test cases need time (at least 1 s of the processor's) and memory")
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
"""How a test ended, and what that is taken for. `assertion`: a false one. `exception`: any other error of the
test's code, such as indexing rows that are not there. `harness`: a name or a module that is not offered.
`limit`: processor time, memory, recursion, output, queries, or a database that was slow. `clock`: the wall
clock, though the database was not slow. `process`: it ended its process, or broke it."""


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The end of one step: loading a source (then `name` is empty), or calling one of its tests.

    `source` counts from 1. `reason`: one line, empty if passed, private to graders.
    """

    source: int
    name: str
    cause: TestCause
    reason: str = ""

    @property
    def status(self) -> TestStatus:
        return CAUSES[self.cause]


@dataclass(frozen=True, slots=True)
class TestReport:
    """The result of the tests on a state. They run in order, up to the first that does not pass.

    `passed`; `failed`, the state's fault; `test_error`, the tests' own. `reason`: one line, empty if passed;
    it quotes the tests, so it is private to graders. The same tests on the same state give the same report.
    """

    status: TestStatus
    reason: str = ""
    outcomes: tuple[TestOutcome, ...] = ()

    @property
    def tests_run(self) -> int:
        """Return how many tests were called."""
        return sum(bool(outcome.name) for outcome in self.outcomes)

    @property
    def depends_on_machine(self) -> bool:
        """Return whether another run may say something else: time, memory or the process ended it."""
        return bool(self.outcomes) and self.outcomes[-1].cause in ("limit", "clock", "process")


def judged(on_gold: TestReport, on_prediction: Callable[[], TestReport]) -> TestReport:
    """Return what the tests say of a prediction, in the light of what they say of the gold's own state.

    Tests that do not pass on the gold's state are unusable: a `test_error`, whatever the prediction, which is
    not looked at. Tests that pass there blame the prediction for the errors that they trip over on its state,
    and for running into a limit there. Names and modules that are not offered, a process that breaks, and a
    wall clock that runs out stay a `test_error`.
    """
    if on_gold.status != "passed":
        return TestReport("test_error", f"on the gold's own state: {on_gold.reason}")
    report = on_prediction()
    if report.status == "test_error" and report.outcomes and report.outcomes[-1].cause == "limit":
        return replace(report, status="failed", reason=f"{report.reason}, unlike on the gold's state")
    return report


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
        """Return whether the last step has been told of, or one that did not pass."""
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
