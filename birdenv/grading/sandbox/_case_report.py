"""What running a Management task's test cases found, and who is to blame where they do not pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

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
    """How one step ended: loading a source (then `name` is empty), or calling one of its tests.

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
    """What the tests say of one state. They are run in order; the first that does not pass is the last.

    `passed`; `failed`, the state's fault; `test_error`, the tests' own. `reason`: one line, empty if passed;
    it quotes the tests, so it is private to graders. The same tests on the same state give the same report.
    """

    status: TestStatus
    reason: str = ""
    outcomes: tuple[TestOutcome, ...] = ()

    @property
    def tests_run(self) -> int:
        """How many tests were called."""
        return sum(bool(outcome.name) for outcome in self.outcomes)

    @property
    def depends_on_machine(self) -> bool:
        """Whether another run may say something else: time, memory or the process ended it."""
        return bool(self.outcomes) and self.outcomes[-1].cause in ("limit", "clock", "process")


def judged(on_gold: TestReport, on_prediction: Callable[[], TestReport]) -> TestReport:
    """What the tests say of a prediction, in the light of what they say of the gold's own state.

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
