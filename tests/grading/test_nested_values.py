"""Values that are nested deeper than Python can follow: a verdict, through every door of grading."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Any

import pytest
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st
from local_graders import CountingSource, ScannedDatabase, local_ex, local_interact
from postgres_source import postgres_source

from birdenv.databases import Limits, QueryError, QueryResult, Result
from birdenv.databases._results import OUT_OF_MEMORY
from birdenv.databases.cache import result_cache
from birdenv.databases.postgres._values import MOST_LEVELS, levels_of_json
from birdenv.errors import InfrastructureError
from birdenv.grading import ExGrader, InteractGrader, check_gold, compare, measure_speed
from birdenv.grading._gold_check import check_gold_here
from birdenv.grading.em_esm._pair_rules import LocalPairGrader
from birdenv.grading.interact import GRADING_RULES, GradingJob

DEEP = "SELECT 'deep'"
GOLD = "SELECT 'gold'"


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.fixture
def deep_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked, the answer is a value of 5,000 levels."""

    def query(self: ScannedDatabase, sql: str, rows: int | None = None) -> Result:
        return QueryResult(("a",), [(nested(5_000),)])

    def scan(self: ScannedDatabase, sql: str, sink: Any) -> Result:
        sink.begin(("a",))
        sink.see([(nested(5_000),)])
        return QueryResult(("a",), [])

    monkeypatch.setattr(ScannedDatabase, "query", query)
    monkeypatch.setattr(ScannedDatabase, "scan", scan)


@pytest.mark.contains("S45")
@pytest.mark.usefixtures("deep_answers")
def test_every_grader_has_a_verdict(root: Path) -> None:
    source = CountingSource(root)
    verdict = local_ex(source).grade("shop", [GOLD], DEEP)
    assert (verdict.ex, verdict.status) == (False, "sql_error")
    for rules in ("strict", "shell"):
        job = GradingJob("shop", "Query", (GOLD,), rules=GRADING_RULES[rules])
        assert local_interact(source).grade(job, DEEP).status in ("sql_error", "wrong_result")
    with source.open("shop", Limits()) as database:
        local = LocalPairGrader(lambda sql, _: database.query(sql), "sqlite")
        assert local.grade(GOLD, DEEP).bucket in ("other_error", "mismatch")


@pytest.mark.usefixtures("deep_answers")
def test_a_gold_is_checked(root: Path) -> None:
    checked = check_gold_here(CountingSource(root), "shop", GOLD, Limits())
    assert "nested too deeply" in checked.failures["gold"]


def test_speed_is_measured_of_what_can_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def query(self: ScannedDatabase, sql: str, rows: int | None = None) -> Result:
        raise RecursionError

    monkeypatch.setattr(ScannedDatabase, "query", query)
    measured = measure_speed(CountingSource(root), "shop", GOLD, DEEP, runs=1)
    assert (measured.score, "nested too deeply" in measured.error) == (0.0, True)


def test_public_comparisons_have_an_answer() -> None:
    sides = [QueryResult(("a",), [(nested(5_000),)]) for _ in range(2)]
    comparisons = [compare.compare(mode, *sides, "SELECT 1", "sqlite") for mode in compare.MODES]
    comparisons += [
        compare.compare_bird(*sides),
        compare.compare_colperm(*sides),
        compare.compare_multiset(*sides),
        compare.compare_ordered(*sides, "SELECT 1", "sqlite"),
        compare.compare_strict(*sides, compare.Conditions()),
        compare.compare_superset(*sides),
    ]
    assert {(each.equal, each.reason) for each in comparisons} == {
        (False, "its values are nested too deeply to be compared")
    }
    assert compare.soft_f1(*sides) == 0.0


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


def test_no_memory_is_not_the_predictions_fault(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def query(self: ScannedDatabase, sql: str, rows: int | None = None) -> Result:
        raise MemoryError

    monkeypatch.setattr(ScannedDatabase, "query", query)
    with pytest.raises(InfrastructureError, match="memory"):
        local_ex(CountingSource(root)).grade("shop", [GOLD], DEEP)
    with pytest.raises(InfrastructureError, match="memory"):
        local_interact(CountingSource(root)).grade(GradingJob("shop", "Query", (GOLD,)), DEEP)


@pytest.mark.parametrize("lack", [MemoryError(), QueryError("too_large", OUT_OF_MEMORY)])
def test_a_gold_without_memory_is_asked_again_after_a_garbage_collection(
    root: Path, monkeypatch: pytest.MonkeyPatch, lack: Any
) -> None:
    collected: list[int] = []
    monkeypatch.setattr("gc.collect", lambda: collected.append(1))
    query = ScannedDatabase.query

    def lacking(self: ScannedDatabase, sql: str, rows: int | None = None) -> Result:
        if len(collected) % 2 or sql != GOLD:
            return query(self, sql, rows)
        if isinstance(lack, MemoryError):
            raise lack
        return lack  # type: ignore[no-any-return]

    monkeypatch.setattr(ScannedDatabase, "query", lacking)
    source = CountingSource(root)
    result_cache.clear()
    assert local_ex(source).grade("shop", [GOLD], "SELECT 'gold' AS b").ex
    collected.append(1)
    job = GradingJob("shop", "Query", (GOLD,))
    assert local_interact(source).grade(job, "SELECT 'gold' AS b").passed
    assert len(collected) == 3


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
