"""Runs at a reference date: which tasks are played, what agents see and are told, what is on record."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from arenas import a_interact, bird, c_interact, plan_of, play

from birdenv import submit_sql
from birdenv.benchmarks import verify_records
from birdenv.dialogue import Move, View, make_game
from birdenv.errors import InputError, SettingError
from birdenv.runs import RunDirectory, prepare
from birdenv.runs.regrade import bird_regrade_text, regrade_bird, regrade_interact
from birdenv.runs.summaries import compare, comparison_text, read_run
from birdenv.tasks.c_interact import PROFILES

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "c_interact"))
from toy_tasks import MANAGEMENT, QUERY, write_benchmark

Row = dict[str, Any]
DAY = "2020-05-01"
DATED = QUERY | {
    "instance_id": "dated",
    "sol_sql": ["SELECT count(*) FROM member WHERE 2020 - strftime('%Y', 'now') = 0"],
    "follow_up": QUERY["follow_up"] | {"sol_sql": ["SELECT date('now', '+1 day')"]},
}
UNCLEAR = QUERY | {"instance_id": "unclear", "sol_sql": ["SELECT date(coalesce(NULL, 'now'))"]}
HEAD = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n    "
TESTED = MANAGEMENT | {"instance_id": "tested_M_1", "test_cases": [HEAD + "assert date.today().year > 2000"]}
INTERACT = [c_interact, a_interact]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = write_benchmark(tmp_path / "data", QUERY, DATED, UNCLEAR, TESTED)
    questions = [
        {"question_id": record["instance_id"], "db_id": "club", "question": "?", "SQL": record["sol_sql"][0]}
        for record in (QUERY, DATED, UNCLEAR)
    ]
    (folder / "bird.json").write_text(json.dumps(questions))
    return folder


def game_on(data: Path, game: Any, **settings: Any) -> Any:
    more = {"file": data / "bird.json"} if game is bird else {}
    return game(data, **more, **settings)


@pytest.mark.parametrize("game", [*INTERACT, bird])
def test_golds_are_solved_at_the_day_by_the_oracle_and_by_the_answer_of_that_day(
    data: Path, tmp_path: Path, game: Any
) -> None:
    arena = game_on(data, game, today=DAY, instances=["dated"])
    assert [r["status"] for r in play(arena, "oracle", tmp_path / "a").read("runs").values()] == ["completed"]
    with arena.episode("dated", seat=0) as episode:
        assert f"Today is {DAY}" in episode.instruction
        if "execute_sql" in arena.game.seats[0].by_name and game is not c_interact:
            assert DAY in episode.act("execute_sql", "SELECT CURRENT_DATE").text
        step = episode.act("submit_sql", "SELECT count(id) FROM member")
        assert step.reward == (1.0 if game is bird else 0.7)
        if game is not bird:
            assert episode.act("submit_sql", "SELECT '2020-05-02'").reward == pytest.approx(0.3)
    arena.close()


@pytest.mark.parametrize("game", [*INTERACT, bird])
def test_tasks_that_cannot_be_dated_are_left_out(data: Path, game: Any) -> None:
    with pytest.warns(UserWarning, match="because `today` cannot replace the clock") as told:
        arena = game_on(data, game, today=DAY)
    left_out = {"unclear"} if game is bird else {"unclear", "tested_M_1"}
    assert set(arena.ids) == {"club_1", "dated"}
    assert all(f"{name}: " in str(told[0].message) for name in left_out)
    arena.close()
    assert {*game_on(data, game).ids} >= left_out, "without a day all are played"
    with pytest.raises(InputError, match=r"`today` cannot replace the clock .*because strict_data is set"):
        game_on(data, game, today=DAY, strict_data=True)
    with pytest.raises(InputError, match=r"tasks cannot be played: 1 because `today` .*unclear: 'now'"):
        game_on(data, game, today=DAY, instances=["dated", "unclear"])


def test_a_test_case_that_asks_python_for_the_day_is_refused(data: Path) -> None:
    with pytest.raises(InputError, match="tested_M_1: a test case reads the current time in Python"):
        c_interact(data, today=DAY, instances=["tested_M_1"])


@pytest.mark.parametrize(
    "changes",
    [
        {"follow_up": QUERY["follow_up"] | {"sol_sql": UNCLEAR["sol_sql"]}},
        {"preprocess_sql": UNCLEAR["sol_sql"]},
        {"clean_up_sqls": ["SELECT 1", *UNCLEAR["sol_sql"]]},
        {"follow_up": QUERY["follow_up"] | {"test_cases": TESTED["test_cases"]}},
    ],
    ids=["the follow-up", "the set-up", "the clean-up", "the follow-up's tests"],
)
def test_all_sql_of_a_task_is_looked_at(tmp_path: Path, changes: Row) -> None:
    folder = write_benchmark(tmp_path / "data", QUERY | changes)
    with pytest.raises(InputError, match="`today` cannot replace the clock"):
        c_interact(folder, today=DAY)
    c_interact(folder).close()


@pytest.mark.parametrize("day", ["yesterday", "2020-02-30", "20", "' OR 1 --"])
@pytest.mark.parametrize("game", ["bird", "c-interact", "a-interact"])
def test_what_is_no_day(game: str, day: str) -> None:
    with pytest.raises(SettingError, match="today must be a date such as 2025-02-19"):
        make_game(game, today=day)


@pytest.mark.parametrize("game", [*INTERACT, bird])
def test_the_day_is_on_record_and_in_reports(data: Path, tmp_path: Path, game: Any) -> None:
    chosen = ["club_1", "dated"]
    dated, plain = (
        play(game_on(data, game, instances=chosen, **more), "oracle", tmp_path / name)
        for name, more in (("a", {"today": DAY}), ("b", {}))
    )
    assert dated.read_config()["today"] == DAY and "today" not in plain.read_config()
    assert f"today {DAY}" in (dated.path / "summary.txt").read_text()
    assert json.loads((dated.path / "overall.json").read_text())["today"] == DAY
    assert "today" not in json.loads((plain.path / "overall.json").read_text())
    compared = comparison_text(compare([read_run(dated.path), read_run(plain.path)]))
    assert f"A and B differ in the setting today ({DAY} and None)" in compared
    other = game_on(data, game, instances=chosen, today="2020-05-02")
    with pytest.raises(InputError, match="today: 2020-05-01 then, 2020-05-02 now"):
        prepare(dated, plan_of(other, "oracle").config(), resume=True)


def without_day(directory: RunDirectory) -> RunDirectory:
    config = directory.read_config()
    config.pop("today")
    directory.write_json("config.json", config)
    return directory


def test_stored_runs_are_graded_again_at_their_day(data: Path, tmp_path: Path) -> None:
    answers = {1: "SELECT count(id) FROM member", 2: "SELECT '2020-05-02'"}

    def agent(view: View) -> Move:
        return Move("submit_sql", answers[view.phase])

    run = play(c_interact(data, today=DAY, instances=["dated"]), agent, tmp_path / "c")
    found = regrade_interact(run, [PROFILES["strict"], PROFILES["shell"]])
    assert {name: figures.mean_reward for name, figures in found.figures.items()} == {
        "as played": 1.0,
        "strict": 1.0,
        "shell": 1.0,
    }
    found = regrade_interact(without_day(run), [PROFILES["strict"]])
    assert found.figures["strict"].mean_reward == 0.0
    run = play(game_on(data, bird, today=DAY, instances=["dated"]), "oracle", tmp_path / "b")
    assert regrade_bird(run).different == []
    assert "1/1" in bird_regrade_text(regrade_bird(run))


def test_data_are_verified_at_the_day(data: Path) -> None:
    rows = [QUERY, DATED, UNCLEAR, TESTED]
    plain, dated = (verify_records(rows, data, today=day) for day in (None, DAY))
    clock = "the gold reads the clock or random numbers"
    assert list(plain.defects) == ["dated", "unclear", "tested_M_1"]
    assert dated.defects == {
        "unclear": [clock, "the gold does not run"],
        "tested_M_1": ["a test case reads the clock or random numbers"],
    }
    assert dated.figures["oracle passed"] == 3


def test_sql_in_test_cases_is_dated_as_all_sql_is(tmp_path: Path) -> None:
    test = HEAD + "assert execute_queries(\"SELECT date('now')\", db_name, conn)[0] == [('2020-05-01',)]"
    row = MANAGEMENT | {"test_cases": [test]}
    report = verify_records([row], write_benchmark(tmp_path / "data", row), today=DAY)
    assert report.passed and report.defects == {}
    c_interact(tmp_path / "data", today=DAY).close()


def test_an_environment_at_the_day(data: Path) -> None:
    settings: Any = {"data_dir": str(data), "instances": ["dated"], "today": DAY}
    env = gymnasium.make("birdenv/CInteract-v0", **settings)
    observation, _ = env.reset()
    assert f"Today is {DAY}" in observation["instruction"]
    assert env.step(submit_sql("SELECT count(id) FROM member"))[1] == 0.7
    env.close()
