"""Values that nothing can compare, and grading without memory: a verdict, or an error that says so."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st
from local_graders import CountingSource, ScannedDatabase, local_ex, local_interact
from postgres_source import postgres_source

from birdenv.databases import QueryError, SqliteSource
from birdenv.databases._results import OUT_OF_MEMORY as OUT_OF_MEMORY_TEXT
from birdenv.databases.postgres._answers import MOST_LEVELS, levels_of_json
from birdenv.errors import InfrastructureError
from birdenv.grading import ExGrader, InteractGrader, check_gold, measure_speed
from birdenv.grading.interact import GRADING_RULES, GradingJob
from birdenv.grading.workers import _grading, _worker
from birdenv.grading.workers._graded import Graded
from birdenv.processes.child import OUT_OF_MEMORY
from birdenv.processes.process import Death

GOLD = "SELECT 'gold'"


@pytest.mark.contains("S45")
def test_what_nothing_can_follow_is_not_compared(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine gives such values today; a grader that meets some says so, and goes on."""
    monkeypatch.setattr(
        _grading.GradingProcess, "call", lambda *_, **__: [Graded(None, fault="nested too deeply")]
    )
    verdict = ExGrader(SqliteSource(root)).grade("shop", [GOLD], GOLD)
    assert (verdict.ex, verdict.status, verdict.reason) == (False, "wrong_result", "nested too deeply")
    monkeypatch.undo()
    worker = _worker._GradingWorker(Mock(), Mock())

    def deep() -> None:
        raise RecursionError

    found = worker._graded(Mock(), deep, 0, (), {})
    assert (found.found, "nested too deeply" in found.fault) == (None, True)


@pytest.mark.every(2)
@pytest.mark.parametrize("rules", ["strict", "shell"])
def test_values_of_a_real_server_are_graded(root: Path, rules: str) -> None:
    deep = "SELECT (repeat('[', 900) || repeat(']', 900))::jsonb AS deep"
    with postgres_source(root, "shop") as source:
        job = GradingJob("shop", "Query", ("SELECT 1",), rules=GRADING_RULES[rules])
        assert InteractGrader(source).grade(job, deep).status == "sql_error"
        verdict = ExGrader(source).grade("shop", ["SELECT 1"], deep)
        assert (verdict.status, "nested more than 100 levels" in verdict.reason) == ("sql_error", True)
        assert "nested" in check_gold(source, "shop", deep).failures["gold"]
        assert "nested" in measure_speed(source, "shop", deep, "SELECT 1", runs=1).error


@pytest.mark.parametrize("deaths", [1, 2])
def test_no_memory_is_nobodys_fault(root: Path, monkeypatch: pytest.MonkeyPatch, deaths: int) -> None:
    """A worker without memory ends; its job is done once more, by a new one."""
    call = _grading.GradingProcess.call
    died: list[int] = []

    def starving(process: Any, *request: Any, **how: Any) -> Any:
        if len(died) == deaths:
            return call(process, *request, **how)
        died.append(process.pid)
        process.page.begin(0)
        return Death("it ran out of memory", exit_code=OUT_OF_MEMORY)

    monkeypatch.setattr(_grading.GradingProcess, "call", starving)
    grader = ExGrader(SqliteSource(root))
    if deaths == 1:
        assert grader.grade("shop", [GOLD], GOLD).ex
    else:
        with pytest.raises(InfrastructureError, match="no memory left for grading"):
            grader.grade("shop", [GOLD], GOLD)


def test_a_gold_without_memory_ends_the_worker(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lack = QueryError("too_large", OUT_OF_MEMORY_TEXT)
    monkeypatch.setattr(ScannedDatabase, "query", lambda *_, **__: lack)
    with pytest.raises(MemoryError):
        local_ex(CountingSource(root)).grade("shop", [GOLD], "SELECT 1")
    with pytest.raises(MemoryError):
        local_interact(CountingSource(root)).grade(GradingJob("shop", "Query", (GOLD,)), "SELECT 1")


values = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def levels(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(levels, value.values()), default=0)
    return 1 + max(map(levels, value), default=0) if isinstance(value, list) else 0


@given(value=values, around=st.integers(MOST_LEVELS - 3, MOST_LEVELS + 3))
def test_levels_are_counted_as_python_reads_them(value: Any, around: int) -> None:
    for _ in range(around):
        value = [value, "[[[\\"]
    found = levels_of_json(dumps(value).encode())
    assert (found > MOST_LEVELS) == (levels(value) > MOST_LEVELS)


def test_counting_levels_is_linear() -> None:
    assert (
        growth(lambda text: levels_of_json(text.encode()), lambda n: '"\\"[' * n + "[" * n, 20_000) < LINEAR
    )
