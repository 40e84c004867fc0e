"""Clean-up that fails behind the first phase: nobody's failure, on either engine (BIRD-Interact §4.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import opened_sources
import pytest
from toy_tasks import MANAGEMENT, QUERY, Played, write_benchmark

from birdenv.dialogue import Move
from birdenv.grading import InteractGrader
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import PROFILES, CInteractRules, load_benchmark

DELETE = "DELETE FROM loan WHERE days > 30"
COUNT = "SELECT count(*) FROM loan"
FAILS = ["DROP TABLE nowhere", "INSERT INTO loan VALUES (2, 'E', 1)", "DROP TABLE scratch"]
"""The first always; the last unless the answer made the table. The second is seen in the follow-up."""


@pytest.fixture(params=["sqlite", "postgres"])
def dialect(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "postgres":
        request.getfixturevalue("postgres_dsn")
    return name


def episode(folder: Path, dialect: str, record: dict[str, Any], profile: str, **options: Any) -> Played:
    source = opened_sources.open(write_benchmark(folder, record), dialect)
    benchmark = load_benchmark(folder, source=source)
    grader = InteractGrader(source)
    rules = CInteractRules(benchmark.tasks[0], source, grader, profile=PROFILES[profile], **options)
    return Played(rules)


@pytest.mark.every(4)
@pytest.mark.parametrize("profile", ["strict", "adk", "shell"])
@pytest.mark.parametrize("answer", [DELETE, f"CREATE TABLE scratch AS SELECT 1 AS x; {DELETE}"])
@pytest.mark.parametrize("follow_up", ["Query", "Management"])
def test_a_follow_up_is_asked_and_graded_all_the_same(
    tmp_path: Path, dialect: str, profile: str, answer: str, follow_up: str
) -> None:
    record = MANAGEMENT | {"clean_up_sqls": FAILS, "sol_sql": [DELETE]}
    if follow_up == "Management":
        second = {"query": "Forget them all.", "category": "Management", "sol_sql": ["DELETE FROM loan"]}
        second |= {"test_cases": MANAGEMENT["test_cases"]}
        record |= {"follow_up": record["follow_up"] | second}
    made = episode(tmp_path, dialect, record, profile)
    made.apply(SYSTEM, Move("submit_sql", answer))
    assert made.phase == 2, made.private_log
    made.apply(SYSTEM, Move("submit_sql", "DELETE FROM loan" if follow_up == "Management" else COUNT))
    assert (made.status, made.rewards[0]) == ("completed", 1.0), made.private_log


def test_what_does_run_of_it_is_seen(tmp_path: Path, dialect: str) -> None:
    """One loan is left, and one is from the clean-up: behind its first statement, which fails."""
    record = MANAGEMENT | {"clean_up_sqls": FAILS, "sol_sql": [DELETE]}
    made = episode(tmp_path, dialect, record, "strict")
    made.apply(SYSTEM, Move("submit_sql", DELETE))
    made.apply(SYSTEM, Move("submit_sql", "SELECT 1"))
    assert not made.attempts[-1].passed
    made.apply(SYSTEM, Move("submit_sql", "SELECT 2"))
    assert made.attempts[-1].passed


@pytest.mark.every(2)
@pytest.mark.parametrize("profile", ["strict", "shell"])
def test_the_systems_own_database_has_been_cleaned_up_too(tmp_path: Path, dialect: str, profile: str) -> None:
    record = MANAGEMENT | {"clean_up_sqls": FAILS, "sol_sql": [DELETE]}
    made = episode(tmp_path, dialect, record, profile, execute_sql=True)
    made.apply(SYSTEM, Move("submit_sql", DELETE))
    assert made.phase == 2
    made.apply(SYSTEM, Move("execute_sql", "SELECT count(*) AS n FROM loan"))
    assert made.system_view().message == "n\n-\n2\n(1 row)"


def test_gold_that_fails_is_still_the_benchmarks_fault(tmp_path: Path, dialect: str) -> None:
    record = MANAGEMENT | {"sol_sql": [DELETE], "clean_up_sqls": FAILS}
    record |= {"follow_up": record["follow_up"] | {"sol_sql": ["SELECT nope FROM loan"]}}
    made = episode(tmp_path, dialect, record, "strict")
    made.apply(SYSTEM, Move("submit_sql", DELETE))
    made.apply(SYSTEM, Move("submit_sql", COUNT))
    assert (made.status, made.truncated) == ("infra_error", True)
    made = episode(tmp_path / "set_up", dialect, QUERY | {"preprocess_sql": ["DROP TABLE nope"]}, "strict")
    made.apply(SYSTEM, Move("submit_sql", "SELECT 1"))
    assert made.status == "infra_error"
