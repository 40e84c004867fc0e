"""The table of `make test-all`: every known way to break out, and how the tests saw it contained.

A test that proves a case bears the mark `contains(case)`, and may record as `outcome` what was answered. What
no test has proven in this session is in the table too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from cpu_gate import HEAVY

MARK: Final = "contains"
_PLACES: Final = ("attacked", "profile")
"""Parameters of tests that say on which door a case was tried."""

_OUTCOMES: Final = {
    "ok": "stays inside",
    "syntax": "a syntax error",
    "missing": "no such thing",
    "timeout": "stopped in time",
    "too_large": "stopped by size",
    "engine": "an error",
}

POSTGRES: Final = {
    "P01": "COPY to and from programs",
    "P02": "COPY to and from the server's files",
    "P03": "COPY to and from the client",
    "P04": "functions that read the server's files",
    "P05": "large objects from and into files",
    "P06": "large objects made by a reader",
    "P07": "sleeping",
    "P08": "endless series, recursion, sorts and arrays",
    "P09": "huge values and results",
    "P10": "regular expressions that never end",
    "P11": "switching the time-out off",
    "P12": "ending the transaction",
    "P13": "two statements in one",
    "P14": "making the transaction writable",
    "P15": "making the next transaction writable",
    "P16": "becoming another role",
    "P17": "writing of every kind",
    "P18": "writing inside WITH",
    "P19": "EXPLAIN that executes",
    "P20": "DO blocks, deaf ones too",
    "P21": "extensions, functions in C, libraries",
    "P22": "databases, roles and settings of the server",
    "P23": "ANALYZE",
    "P24": "ending one's own session",
    "P25": "ending a neighbour's session",
    "P26": "advisory locks",
    "P27": "locks on tables",
    "P28": "sequences",
    "P29": "LISTEN and NOTIFY",
    "P30": "SQL run by XML functions",
    "P31": "exported snapshots and transaction numbers",
    "P32": "looking at neighbours and settings",
    "P33": "passwords, access rules, places of files",
    "P34": "other databases",
    "P35": "closing a wrapper's parenthesis",
    "P36": "changing what the gold will answer",
    "P37": "dates that Python does not have",
    "P38": "NaN, JSON, arrays, padded text",
    "P39": "signs that drivers take for parameters",
    "P40": "a server that is killed",
    "P41": "rows that come slowly",
    "P42": "what a gold writes, told by the server's counters",
    "quota": "filling the disk, the memory",
}
HOLES: Final = {
    "hole a": "a Query that hides the gold's table behind its own",
    "hole b": "a Query that changes what the gold reads",
    "hole c": "a word that puts the gold into the feedback",
    "hole d": "a test case that does not compile",
}
SQLITE: Final = {
    "S01": "endless recursion without rows",
    "S02": "endless recursion with rows",
    "S03": "a cross join of five",
    "S04": "sorts of any size",
    "S05": "huge blobs",
    "S06": "huge text",
    "S07": "printf with a huge width",
    "S08": "printf that cannot be interrupted",
    "S09": "replace that multiplies",
    "S10": "group_concat that grows",
    "S11": "huge zeroblobs",
    "S12": "long patterns",
    "S13": "deep nesting, long SQL",
    "S14": "writing of every kind",
    "S15": "ATTACH of a new file",
    "S16": "ATTACH of the benchmark's file",
    "S17": "ATTACH by URI",
    "S18": "VACUUM INTO",
    "S19": "VACUUM, REINDEX, ANALYZE",
    "S20": "temporary tables, views and triggers",
    "S21": "pragmas",
    "S22": "transactions",
    "S23": "loading extensions",
    "S24": "pointers of fts3_tokenizer",
    "S25": "functions of the sqlite3 program",
    "S26": "virtual tables",
    "S27": "two statements in one",
    "S28": "no statement",
    "S29": "None and NULL",
    "S30": "parameters",
    "S31": "NUL bytes, lone surrogates",
    "S32": "text that is no UTF-8",
    "S33": "infinities",
    "S34": "EXPLAIN and PRAGMA as an answer",
    "S35": "RETURNING, writing after WITH",
    "S36": "wide rows, equal names",
    "S37": "random and the time of day",
    "S38": "files in every state",
    "S39": "many at once",
    "S41": "names and text that are no UTF-8, in functions of every kind",
    "S42": "bounds that make a full-text index store something else",
    "S43": "temporary tables and settings that pass for a change",
    "S44": "temporary tables that take all memory of the process",
    "S45": "JSON nested so deeply that nothing can compare it",
    "S46": "endless views in the place of a virtual table's own tables",
    "S47": "sorts and joins that fill the disk",
    "S48": "CTEs, views and subqueries that multiply themselves while they are compiled",
    "S49": "hundreds of megabytes that are deleted at once",
    "S50": "attached databases whose names no statement can say",
    "S51": "what kills the reading of a prediction's state, so that the gold's counts as broken",
}
TABLES: Final = {
    "PostgreSQL": POSTGRES,
    "c-Interact on PostgreSQL": HOLES,
    "SQLite": SQLITE,
}


@dataclass
class Seen:
    """What became of the tests of one case."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    outcomes: Counter[str] = field(default_factory=Counter)
    doors: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        if self.failed:
            return f"FAILED: {len(self.failed)} of {len(self.passed | self.failed)} tests"
        if not self.passed:
            return "not run"
        outcomes = ", ".join(f"{what} {count}" for what, count in sorted(self.outcomes.items()))
        doors = f"{len(self.doors)} doors" if len(self.doors) > 3 else ", ".join(sorted(self.doors))
        return f"{outcomes}{' | ' if doors else ''}{doors}"


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", f"{MARK}(case): proves that a known way to break out is closed")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the reports of a test, wherever it runs and however it ends, say which case it is about."""
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    door = " ".join(str(parameters[place]) for place in _PLACES if place in parameters)
    for mark in item.iter_markers(MARK):
        item.user_properties.append((MARK, [*mark.args, door]))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the tables whose tests were run, if heavy ones were among them."""
    told = [each for kind in terminalreporter.stats.values() for each in kind]
    reports = [each for each in told if isinstance(each, pytest.TestReport) and _cases(each)]
    if not any(mark in report.keywords for report in reports for mark in HEAVY):
        return
    seen = {case: Seen() for table in TABLES.values() for case in table}
    for report in reports:
        for case, door in _cases(report):
            _count(seen[case], report, door)
    asked = {case for report in reports for case, _ in _cases(report)}
    for name, table in TABLES.items():
        if asked.isdisjoint(table):
            continue
        terminalreporter.section(f"containment: {name}")
        for case, tried in table.items():
            terminalreporter.write_line(f"{case:7} {tried:52} {seen[case]}")


def _cases(report: pytest.TestReport) -> list[list[str]]:
    return [value for name, value in report.user_properties if name == MARK]


def _count(seen: Seen, report: pytest.TestReport, door: str) -> None:
    if report.failed:
        seen.failed.add(report.nodeid)
    elif report.passed and report.when == "call":
        seen.passed.add(report.nodeid)
        seen.doors.update([door] if door else [])
        seen.outcomes.update(_outcomes(report))


def _outcomes(report: pytest.TestReport) -> Iterator[str]:
    told = [str(value) for name, value in report.user_properties if name == "outcome"]
    yield from (_OUTCOMES.get(outcome, outcome) for outcome in told or ["contained"])
