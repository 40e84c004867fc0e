"""The whole c-Interact protocol on a PostgreSQL server: what the engine adds, and what it could get wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import opened_sources
import pytest
from toy_tasks import FOLLOW_UP_RIGHT, MANAGEMENT, QUERY, RIGHT, WRONG, Played, write_benchmark

from birdenv.dialogue import Move
from birdenv.grading import InteractGrader
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import PROFILES, CInteractRules, load_benchmark

HEAD = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n"
ASK = "    rows, err, timeout = execute_queries({}, db_name, conn)\n    assert not err and not timeout\n"

LATE_FUNCTION = """\
CREATE FUNCTION late_loans(least_days integer) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
    RETURN (SELECT count(*) FROM loan WHERE days > least_days);  -- a semicolon; and another
END
$body$"""
LATE_VIEW = "CREATE VIEW late AS SELECT book, days FROM loan WHERE days > 30"

FUNCTION_TASK: dict[str, Any] = MANAGEMENT | {
    "preprocess_sql": ["INSERT INTO loan VALUES (2, 'D', 99)"],
    "clean_up_sqls": ["DROP TABLE IF EXISTS scratch"],
    "sol_sql": [LATE_FUNCTION, LATE_VIEW],
    "test_cases": [
        HEAD
        + ASK.format(["SELECT late_loans(30)"])
        + "    assert rows[0][0] == 3\n"
        + ASK.format(["DELETE FROM loan", "SELECT count(*) FROM late"])
        + "    assert rows[0][0] == 0\n"
    ],
    "follow_up": MANAGEMENT["follow_up"]
    | {"query": "How many late loans, by the function?", "sol_sql": ["SELECT late_loans(30)"]},
}
OWN_FUNCTION = (
    "CREATE FUNCTION late_loans(days_at_least integer) RETURNS bigint LANGUAGE sql AS "
    "$$ SELECT count(l.book) FROM loan l WHERE l.days > days_at_least $$;\n"
    "CREATE TABLE scratch AS SELECT 1 AS x;\n"
    "CREATE VIEW late AS SELECT l.book FROM loan l WHERE NOT l.days <= 30"
)


@pytest.fixture
def folder(tmp_path: Path, postgres_dsn: str) -> Iterator[Path]:
    yield tmp_path


def episode(folder: Path, record: dict[str, Any], profile: str = "strict", **options: Any) -> Played:
    source = opened_sources.open(write_benchmark(folder, record), "postgres")
    benchmark = load_benchmark(folder, source=source)
    [task] = benchmark.tasks
    grader = InteractGrader(source)
    return Played(CInteractRules(task, source, grader, profile=PROFILES[profile], **options))


def test_what_the_system_wrote_outlives_a_wrong_submission(folder: Path) -> None:
    played = episode(folder, QUERY, execute_sql=True)
    played.apply(SYSTEM, Move("execute_sql", "DELETE FROM loan"))
    assert submit(played, WRONG) == ["wrong_result"]
    played.apply(SYSTEM, Move("execute_sql", "SELECT count(*) AS n FROM loan"))
    assert "\n0\n" in played.system_view().message
    assert submit(played, RIGHT)[-1] == "passed"  # graded on what it has not touched


def submit(played: Played, *submissions: str) -> list[str]:
    """What becomes of them, one by one."""
    for sql in submissions:
        played.apply(SYSTEM, Move("submit_sql", sql))
    return [attempt.status for attempt in played.attempts]


def ask(played: Played, sql: str) -> str:
    played.apply(SYSTEM, Move("execute_sql", sql))
    return played.system_view().message


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_query_with_debug_and_follow_up(folder: Path, profile: str) -> None:
    played = episode(folder, QUERY, profile)
    assert submit(played, WRONG, RIGHT, FOLLOW_UP_RIGHT) == ["wrong_result", "passed", "passed"]
    assert (played.status, played.rewards[SYSTEM]) == ("completed", 0.8)


@pytest.mark.parametrize("profile", ["strict", "shell"])
def test_functions_views_set_up_and_clean_up(folder: Path, profile: str) -> None:
    """The tests change what they look at, and the follow-up still finds it as the agent left it."""
    played = episode(folder, FUNCTION_TASK, profile)
    assert submit(played, OWN_FUNCTION, "SELECT late_loans(30) AS n") == ["passed", "passed"], (
        played.private_log
    )
    assert played.rewards[SYSTEM] == 1.0


def test_adk_leaves_the_set_up_out(folder: Path) -> None:
    played = episode(folder, FUNCTION_TASK, "adk")
    assert submit(played, OWN_FUNCTION) == ["wrong_result"], "there are only two late loans without it"


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("profile", "verdict"), [("strict", "passed"), ("adk", "passed"), ("shell", "sql_error")]
)
def test_the_follow_up_starts_from_the_agents_own_state(folder: Path, profile: str, verdict: str) -> None:
    """Only `shell` starts it from the gold's, where the agent's own view is not."""
    record = MANAGEMENT | {
        "sol_sql": ["DELETE FROM loan WHERE days > 30"],
        "follow_up": MANAGEMENT["follow_up"] | {"sol_sql": ["SELECT count(*) FROM loan"]},
    }
    played = episode(folder, record, profile)
    own = "DELETE FROM loan WHERE NOT days <= 30; CREATE VIEW mine AS SELECT count(*) AS n FROM loan"
    assert submit(played, own, "SELECT n FROM mine") == ["passed", verdict]


@pytest.mark.slow
def test_the_systems_own_database_goes_on_from_what_it_wrote(folder: Path) -> None:
    played = episode(folder, FUNCTION_TASK, execute_sql=True)
    assert "\n3\n" in ask(played, "SELECT count(*) FROM loan WHERE days > 30"), "with the set-up"
    ask(played, "DELETE FROM loan")
    assert "\n0\n" in ask(played, "SELECT count(*) FROM loan")
    assert submit(played, OWN_FUNCTION) == ["passed"]
    assert "\n3\n" in ask(played, "SELECT late_loans(30)"), "only what it handed in is there"
    assert 'relation "scratch" does not exist' in ask(played, "SELECT * FROM scratch"), "cleaned up"


def test_feedback_is_the_servers_message_and_nothing_more(folder: Path) -> None:
    played = episode(folder, QUERY)
    assert submit(played, "SELECT count(*) FROM member WHERE shoe_size > 40") == ["sql_error"]
    message = played.system_view().message
    assert 'column "shoe_size" does not exist (SQLSTATE 42703)' in message
    assert not any(secret in message for secret in ("birdenv", "episode-", "age >= 18", "LINE 1"))


def test_feedback_under_shell_says_only_that_it_failed(folder: Path) -> None:
    played = episode(folder, QUERY, "shell")
    submit(played, "SELECT shoe_size FROM member")
    assert "shoe_size" not in played.system_view().message


@pytest.mark.parametrize(("profile", "second"), [("strict", "wrong_result"), ("shell", "passed")])
def test_conditions_hold_per_phase(folder: Path, profile: str, second: str) -> None:
    """`numeric` is rounded as each phase says; `shell` takes two decimals and the parent's order."""
    record = QUERY | {
        "sol_sql": ["SELECT 1.2349::numeric"],
        "conditions": {"decimal": 2, "distinct": False, "order": False},
        "follow_up": QUERY["follow_up"]
        | {
            "sol_sql": ["SELECT 1.2349::numeric"],
            "conditions": {"decimal": 4, "distinct": False, "order": False},
        },
    }
    played = episode(folder, record, profile)
    assert submit(played, "SELECT 1.2312::numeric", "SELECT 1.2312::numeric") == ["passed", second]


HIDING = "CREATE TEMP TABLE IF NOT EXISTS member AS SELECT 99 AS age; SELECT 1"
CHANGING = "UPDATE member SET age = 1; SELECT 0"


@pytest.mark.every(3)
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(HIDING, marks=pytest.mark.contains("hole a"), id="a temporary table"),
        pytest.param(CHANGING, marks=pytest.mark.contains("hole b"), id="an update"),
    ],
)
def test_a_query_that_changes_what_the_gold_reads(
    folder: Path, profile: str, sql: str, record_property: Callable[[str, object], None]
) -> None:
    """By the published rules it passes, and then it is flagged; `strict` refuses it."""
    played = episode(folder, QUERY, profile)
    [status] = submit(played, sql)
    flags = played.private_log[-1]["flags"]
    record_property("outcome", "flagged" if flags else f"{status} by {profile}")
    assert (status, flags) == (("sql_error", []) if profile == "strict" else ("passed", ["integrity"]))
    assert profile != "strict" or played.rewards[SYSTEM] == 0.0


@pytest.mark.contains("hole c")
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_no_word_puts_the_gold_into_the_feedback(folder: Path, profile: str) -> None:
    played = episode(folder, QUERY, profile)
    for sql in ("SELECT '[exec_err_flg]' FROM nowhere; -- [exec_err_flg]", "SELECT '[exec_err_flg]'"):
        event = played.apply(SYSTEM, Move("submit_sql", sql))
        assert "age >= 18" not in json.dumps([event.to_json(), played.outcome()])


@pytest.mark.every(3)
@pytest.mark.contains("hole d")
@pytest.mark.parametrize(
    ("profile", "expected"), [("strict", "test_error"), ("shell", "passed"), ("adk", "wrong_result")]
)
def test_a_test_case_that_does_not_compile(
    folder: Path, profile: str, expected: str, record_property: Callable[[str, object], None]
) -> None:
    """By the published rules the rows are compared instead: they are right, and nothing was deleted."""
    record = MANAGEMENT | {
        "sol_sql": ["DELETE FROM loan WHERE days > 30 RETURNING book"],
        "test_cases": ["def test_case(:"],
    }
    played = episode(folder, record, profile)
    assert submit(played, "SELECT book FROM loan WHERE days > 30") == [expected]
    flags = played.private_log[-1]["flags"]
    record_property("outcome", "flagged" if flags else f"{expected} by {profile}")
    assert flags == (["integrity", "no_usable_test"] if profile == "shell" else [])


def test_two_episodes_at_once_do_not_meet(folder: Path) -> None:
    source = opened_sources.open(write_benchmark(folder, FUNCTION_TASK), "postgres")
    [task] = load_benchmark(folder, source=source).tasks
    grader = InteractGrader(source)
    one, two = (Played(CInteractRules(task, source, grader, execute_sql=True)) for _ in range(2))
    ask(one, "DELETE FROM loan")
    assert "\n4\n" in ask(two, "SELECT count(*) FROM loan")
    assert submit(one, OWN_FUNCTION) == ["passed"]
    assert "function late_loans(integer) does not exist" in ask(two, "SELECT late_loans(30)")
    assert submit(two, OWN_FUNCTION) == ["passed"]
    for played in (one, two):
        played.close()
