"""The processor time of each test, and a gate: a test that costs much says so by a mark, or the run fails.

Processor time does not depend on what else the machine does, as wall time does. A test's time is that of its
process and of the children that ended meanwhile. What fixtures of a wider scope cost to set up belongs to no
test; nor does the clean-up after the last test of a module, which ends what the module shared.
"""

from __future__ import annotations

import resource
from collections.abc import Generator
from typing import Any, Final

import pytest

HEAVY: Final = ("slow", "kills", "hostile_all_doors", "real_tasks")
"""The marks of tests that `make test` leaves to `make test-all`; these may cost what they need."""

MOST_SECONDS: Final = 2.0


def processor_seconds() -> float:
    """What this process and its ended children have used so far."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the gate's options."""
    group = parser.getgroup("processor time")
    group.addoption(
        "--most-cpu",
        type=float,
        default=MOST_SECONDS,
        metavar="SECONDS",
        help=f"the most that a test without a heavy mark may use (default: {MOST_SECONDS:g})",
    )
    group.addoption(
        "--slowest-cpu", type=int, default=0, metavar="N", help="show the N tests that used most of it"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Measure in every process that runs tests, and judge in the one that reports."""
    config.pluginmanager.register(_Meter(), "processor time meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Gate(config), "processor time gate")


class _Meter:
    """Writes what each phase of a test used into its report, as `report.cpu`."""

    def __init__(self) -> None:
        self._shared = 0.0
        self._depth = 0
        self._phase: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function":
            return (yield)
        began = processor_seconds()
        self._depth += 1
        try:
            return (yield)
        finally:
            self._depth -= 1
            if not self._depth:  # what a shared fixture asks for is part of it
                self._shared += processor_seconds() - began

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        return (yield from self._measured("setup"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        return (yield from self._measured("call"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        try:
            return (yield from self._measured("teardown"))
        finally:
            if nextitem is None or nextitem.path != item.path:
                self._phase["teardown"] = 0.0

    def _measured(self, phase: str) -> Generator[None, Any, Any]:
        self._shared, began = 0.0, processor_seconds()
        try:
            return (yield)
        finally:
            self._phase[phase] = processor_seconds() - began - self._shared

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.cpu = self._phase.pop(call.when, 0.0)  # type: ignore[attr-defined]
        return report


class _Gate:
    """Adds up the reports of all processes, and fails the run if a test without a mark used too much."""

    def __init__(self, config: pytest.Config) -> None:
        self._most: float = config.getoption("--most-cpu")
        self._shown: int = config.getoption("--slowest-cpu")
        self._seconds: dict[str, float] = {}
        self._heavy: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + getattr(report, "cpu", 0.0)
        if any(mark in report.keywords for mark in HEAVY):
            self._heavy.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._over() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._shown:
            total = sum(self._seconds.values())
            terminalreporter.section(f"slowest by processor time (all: {total:.0f} s)")
            for test, seconds in self._slowest()[: self._shown]:
                terminalreporter.write_line(f"{seconds:6.2f} s  {test}")
        if over := self._over():
            terminalreporter.section("too much processor time")
            for test, seconds in over:
                terminalreporter.write_line(f"{seconds:6.2f} s  {test}")
            terminalreporter.write_line(
                f"A test may use {self._most:g} s. Make these cheaper, or mark them with one of "
                f"{', '.join(HEAVY)} and leave a sample of them without the mark."
            )

    def _slowest(self) -> list[tuple[str, float]]:
        return sorted(self._seconds.items(), key=lambda item: -item[1])

    def _over(self) -> list[tuple[str, float]]:
        return [
            (test, seconds)
            for test, seconds in self._slowest()
            if seconds > self._most and test not in self._heavy
        ]
