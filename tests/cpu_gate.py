"""The processor time of each test, and a gate: a test that costs much says so by a mark, or the run fails.

Processor time depends less than wall time on what else the machine does. A test's time is that of its process
and of its children. What fixtures of a wider scope cost to set up belongs to no test; nor does the clean-up
after the last test of a module, which ends what the module shared.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Generator
from contextlib import suppress
from statistics import median
from typing import Any, Final

import pytest

HEAVY: Final = ("slow", "kills", "hostile_all_doors", "real_tasks", "real_model")
"""The marks of tests that `make test` leaves to `make test-all`; these may cost what they need."""

MOST_SECONDS: Final = 2.0

NOISE: Final = 2.0
"""The same work takes up to so much more processor time while others use the core; the run fails beyond."""

_USUAL: Final = 0.05
"""The seconds that `_sample` takes on the machines on which the limits were chosen."""

_REPORTS_BETWEEN: Final = 500
"""A sample is taken after so many reports. Their median says how much slower this machine is."""

_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """What this process and its children have used so far; where there is no /proc, only those that ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent) + _of_living_children()


def _of_living_children() -> float:
    """Otherwise the test in which a child ends would pay for what all before it asked of that child."""
    ticks = 0
    with suppress(OSError):  # no /proc
        for thread in os.scandir("/proc/self/task"):
            with suppress(OSError):  # a thread or a child that ended meanwhile
                for child in _contents(f"{thread.path}/children").split():
                    with suppress(OSError):
                        _, _, fields = _contents(f"/proc/{child.decode()}/stat").rpartition(b")")
                        ticks += sum(map(int, fields.split()[11:15]))  # its own and its ended children's
    return ticks * _TICK


def _contents(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def _sample() -> float:
    """The processor time of a fixed piece of work."""
    began, sums = time.process_time(), dict.fromkeys(range(1000), 0)
    for number in range(300_000):
        sums[number % 1000] += number * number
    return time.process_time() - began


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
    """Writes what a test used into its last report, as `report.cpu`."""

    def __init__(self) -> None:
        self._began = 0.0
        self._shared = 0.0
        self._depth = 0
        self._used = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function" or self._depth:  # what a shared fixture asks for is part of it
            return (yield)
        began = processor_seconds()
        self._depth += 1
        try:
            return (yield)
        finally:
            self._depth -= 1
            self._shared += processor_seconds() - began

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        self._began, self._shared = processor_seconds(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        is_last = nextitem is None or nextitem.path != item.path
        before = processor_seconds() if is_last else 0.0
        try:
            return (yield)
        finally:
            self._used = (before if is_last else processor_seconds()) - self._began - self._shared

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            report.cpu = self._used  # type: ignore[attr-defined]
        return report


class _Gate:
    """Adds up the reports of all processes, and fails the run if a test without a mark used too much."""

    def __init__(self, config: pytest.Config) -> None:
        self._most: float = config.getoption("--most-cpu")
        self._shown: int = config.getoption("--slowest-cpu")
        self._seconds: dict[str, float] = {}
        self._heavy: set[str] = set()
        self._samples: list[float] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "cpu"):
            self._seconds[report.nodeid] = report.cpu
            if any(mark in report.keywords for mark in HEAVY):
                self._heavy.add(report.nodeid)
            if len(self._seconds) % _REPORTS_BETWEEN == 0:
                self._samples.append(_sample())

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
                f"A test may use {self._most:g} s, twice as much beside others, and more on a slow machine. "
                f"Make these cheaper, or mark them with one of {', '.join(HEAVY)} and leave a sample of "
                "them without the mark."
            )

    def _slowest(self) -> list[tuple[str, float]]:
        return sorted(self._seconds.items(), key=lambda item: -item[1])

    def _over(self) -> list[tuple[str, float]]:
        slower = max(1.0, median(self._samples or [0.0]) / _USUAL)
        return [
            (test, seconds)
            for test, seconds in self._slowest()
            if seconds > self._most * NOISE * slower and test not in self._heavy
        ]
