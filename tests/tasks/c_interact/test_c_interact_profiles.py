"""What each profile asks the grader for, and what it makes of the gold and of the known holes."""

import json
from pathlib import Path
from typing import Any

import pytest
from toy_tasks import MANAGEMENT, QUERY, RIGHT, start, write_benchmark

from birdenv.dialogue import Move
from birdenv.grading import InteractGrader
from birdenv.tasks import as_script
from birdenv.tasks.c_interact import PROFILES, CInteractTask, grading_job, load_benchmark

ORDER = {"decimal": -1, "distinct": False, "order": True}
PLAIN = {"decimal": -1, "distinct": False, "order": False}


def task(folder: Path, record: dict[str, Any], **follow_up: Any) -> CInteractTask:
    changed = record | {"follow_up": record["follow_up"] | follow_up}
    return load_benchmark(write_benchmark(folder, changed)).tasks[0]


def test_each_profile_grades_by_its_own_rules(tmp_path: Path) -> None:
    it = task(tmp_path, QUERY)
    assert {name: grading_job(it, profile, 1).rules.name for name, profile in PROFILES.items()} == {
        name: name for name in PROFILES
    }


@pytest.mark.parametrize("profile", PROFILES)
def test_only_our_user_asks_back(tmp_path: Path, profile: str) -> None:
    dialogue = start(tmp_path, QUERY, profile)
    dialogue.apply(0, Move("clarify", "Could you say more about it?"))
    dialogue.answer()
    asked_back = "Which part of my request do you mean?" in dialogue.system_view().message
    assert asked_back == (profile == "strict")
    assert dialogue.private_log[-1]["call"] == ("unclear" if asked_back else "unanswerable")


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (PLAIN, {"strict": False, "shell": True, "adk": False}),
        (None, {"strict": True, "shell": True, "adk": False}),
    ],
    ids=["of its own", "none"],
)
def test_conditions_of_the_follow_up(tmp_path: Path, own: Any, expected: dict[str, bool]) -> None:
    """Its own, else the parent's; shell: always the parent's; adk: its own or none."""
    it = task(tmp_path, QUERY | {"conditions": ORDER}, conditions=own)
    orders = {name: grading_job(it, profile, 2, RIGHT).conditions.order for name, profile in PROFILES.items()}
    assert orders == expected


@pytest.mark.parametrize(
    ("stated", "tests", "expected"),
    [
        (None, ["x"], {"strict": "Management", "shell": "Management", "adk": "Query"}),
        (None, [], {"strict": "Management", "shell": "Management", "adk": "Query"}),
        ("Query", [], {"strict": "Query", "shell": "Query", "adk": "Query"}),
        ("Query", ["x"], {"strict": "Query", "shell": "Management", "adk": "Query"}),
    ],
)
def test_category_of_the_follow_up(tmp_path: Path, stated: Any, tests: list[str], expected: Any) -> None:
    it = task(tmp_path, MANAGEMENT, category=stated, test_cases=tests)
    jobs = {name: grading_job(it, profile, 2, "SELECT 1") for name, profile in PROFILES.items()}
    assert {name: job.category for name, job in jobs.items()} == expected
    assert all(job.tests == tuple(tests) for job in jobs.values())


def test_where_the_follow_up_starts(tmp_path: Path) -> None:
    it = task(tmp_path, QUERY | {"preprocess_sql": ["SETUP"], "clean_up_sqls": ["CLEAN"]})
    starts = {
        name: (job.setup, job.base_pred, job.cleanup)
        for name, profile in PROFILES.items()
        for job in [grading_job(it, profile, 2, "ACCEPTED")]
    }
    gold = tuple(QUERY["sol_sql"])
    assert starts == {
        "strict": (("SETUP",), (), ("CLEAN",)),
        "shell": (("SETUP",), gold, ("CLEAN",)),
        "adk": ((), ("ACCEPTED",), ()),
    }


LEAK = "SELECT '[exec_err_flg]' FROM nowhere; -- [exec_err_flg]"


@pytest.mark.parametrize("profile", PROFILES)
def test_no_profile_gives_the_gold_away_for_a_magic_word(tmp_path: Path, profile: str) -> None:
    """BIRD-Interact §4.2: in the reference, a prediction with this text gets the gold in its debug prompt."""
    episode = start(tmp_path, QUERY, profile)
    for sql in (LEAK, "SELECT '[exec_err_flg]'"):
        event = episode.apply(0, Move("submit_sql", sql))
        assert "age >= 18" not in json.dumps([event.to_json(), episode.outcome()])


HOLE = "UPDATE member SET age = 1; SELECT 0"


@pytest.mark.parametrize(
    ("profile", "status", "flags"),
    [("strict", "sql_error", []), ("shell", "passed", ["integrity"]), ("adk", "passed", ["integrity"])],
)
def test_a_hole_is_flagged_in_the_private_log(
    tmp_path: Path, profile: str, status: str, flags: list[str]
) -> None:
    episode = start(tmp_path, QUERY, profile)
    episode.apply(0, Move("submit_sql", HOLE))
    assert episode.attempts[0].status == status
    assert episode.private_log[0]["flags"] == flags


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "step", [pytest.param(2, id="every second"), pytest.param(1, id="all", marks=pytest.mark.real_tasks)]
)
@pytest.mark.parametrize("profile", PROFILES)
def test_the_gold_of_the_demo_passes_in_every_profile(demo: Path, profile: str, step: int) -> None:
    benchmark = load_benchmark(demo, demo / "c_interact.jsonl")
    grader = InteractGrader(benchmark.source)
    failures = []
    for it in benchmark.tasks[::step]:
        sql = as_script(it.private.gold)
        first = grader.grade(grading_job(it, PROFILES[profile], 1), sql)
        failures += [] if first.passed and not first.flags else [(it.public.instance_id, 1, first)]
        follow_up = it.private.follow_up
        assert follow_up is not None
        job = grading_job(it, PROFILES[profile], 2, sql, first.left)
        second = grader.grade(job, as_script(follow_up.gold))
        failures += [] if second.passed and not second.flags else [(it.public.instance_id, 2, second)]
    assert not failures
