"""`BirdSqlEnv`: explore, submit once, EX is the reward."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from envs_benchmark import GOLD_BIRD, WRONG, build_benchmark
from gymnasium.wrappers import FlattenObservation, FrameStackObservation

from birdenv import clarify, execute_sql, submit_sql
from birdenv.envs import BirdSqlEnv
from birdenv.errors import InputError
from birdenv.tasks import SENDERS

Make = Callable[..., Any]


def test_explore_and_submit(bird: Make) -> None:
    env = bird(max_turns=5)
    observation, info = env.reset(options={"instance_id": "7"})
    assert observation["message"] == "What is item 2 called?"
    assert "called refers to name" in observation["instruction"]
    assert observation["action_mask"].tolist() == [0, 1, 1] and observation["turns_left"] == 5
    assert info["candidates"] == ("SELECT i.name FROM items i WHERE i.item_id IN (2)",)

    observation, reward, *_ = env.step(execute_sql("SELECT name FROM items"))
    assert SENDERS[observation["sender"]] == "database" and "查询 🐦" in observation["message"]
    assert (reward, observation["turns_left"]) == (0.0, 4)

    _, reward, terminated, truncated, info = env.step(submit_sql(GOLD_BIRD))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["status"], info["ex"]) == ("completed", True)


def test_a_wrong_answer_earns_nothing(bird: Make) -> None:
    env = bird()
    env.reset(options={"instance_id": "7"})
    assert env.step(submit_sql(WRONG))[1:4] == (0.0, True, False)


def test_a_task_without_gold_ends_ungraded(bird: Make) -> None:
    with pytest.warns(UserWarning, match="1 because of missing gold SQL .*ungraded='include'"):
        assert bird(ungraded="skip").unwrapped.instance_ids == ("7", "8")
    with pytest.raises(InputError, match=r"tasks are left out: 1 .* because strict_data is set"):
        bird(ungraded="skip", strict_data=True)
    env = bird()
    env.reset(options={"instance_id": "9"})
    _, reward, terminated, _, info = env.step(submit_sql(GOLD_BIRD))
    assert (reward, terminated, info["status"]) == (0.0, True, "ungraded")


def test_the_last_turn_truncates(bird: Make) -> None:
    env = bird(max_turns=2)
    env.reset(seed=1)
    assert env.step(clarify("Anybody there?"))[2:4] == (False, False)
    _, _, terminated, truncated, info = env.step(clarify("Anybody?"))
    assert (terminated, truncated) == (False, True)
    assert info["status"] == "task limit reached"


def test_without_evidence(bird: Make) -> None:
    observation, _ = bird(evidence=False).reset(options={"instance_id": "7"})
    assert "called refers to name" not in observation["instruction"]


def test_what_one_episode_writes_the_next_does_not_see(bird: Make) -> None:
    env = bird()
    env.reset(options={"instance_id": "7"})
    env.step(execute_sql("DELETE FROM items"))
    env.reset(options={"instance_id": "7"})
    assert "naïve" in env.step(execute_sql("SELECT name FROM items"))[0]["message"]


def test_filters(bird: Make) -> None:
    assert bird(instances=["8"]).unwrapped.instance_ids == ("8",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": 1000}, "max_turns"),
        ({"instances": ["77"]}, "77.*7, 8, 9"),
        ({"databases": ["bank"]}, "bank"),
        ({"db_dir": None}, "together"),
        ({"data_file": "/nowhere.json"}, "nowhere"),
    ],
)
def test_settings_that_cannot_be(benchmark: Path, arguments: dict[str, Any], said: str) -> None:
    good = {"data_file": str(benchmark / "bird.json"), "db_dir": str(benchmark)}
    with pytest.raises(InputError, match=said):
        BirdSqlEnv(**(good | arguments))


def test_the_demo_is_the_default() -> None:
    env = BirdSqlEnv()
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space and info["instance_id"] in env.instance_ids
    env.close()


def test_a_changed_database_shows_its_new_schema(tmp_path: Path) -> None:
    folder = build_benchmark(tmp_path)
    env = BirdSqlEnv(data_file=str(folder / "bird.json"), db_dir=str(folder))
    before = env.reset(options={"index": 0})[0]["instruction"]
    assert env.reset(options={"index": 0})[0]["instruction"] == before and "CREATE TABLE items" in before

    connection = sqlite3.connect(folder / "shop" / "shop.sqlite")
    connection.execute("CREATE TABLE added_later (x)")
    connection.close()
    after = env.reset(options={"index": 0})[0]["instruction"]
    assert after == f"{before}\n\nCREATE TABLE added_later (x);"

    (folder / "shop" / "shop.sqlite").unlink()
    with pytest.raises(InputError, match="shop"):
        env.reset(options={"index": 0})
    env.close()


def test_observations_share_nothing_that_can_change(bird: Make) -> None:
    env = bird()
    seen = [env.reset(options={"index": 0})[0]]
    seen += [env.step(execute_sql("SELECT 1"))[0] for _ in range(3)]
    for observation in seen:
        assert observation["action_mask"].tolist() == [0, 1, 1]
        observation["action_mask"][:] = 0
    assert env.step(execute_sql("SELECT 1"))[0]["action_mask"].tolist() == [0, 1, 1]


def test_without_the_schema_there_is_the_question_alone(bird: Make) -> None:
    shown, hidden = bird(), bird(show_schema=False)
    full, bare = (env.reset(options={"instance_id": "7"})[0]["instruction"] for env in (shown, hidden))
    assert "CREATE TABLE" in full
    assert "CREATE TABLE" not in bare and full.startswith(bare)
    assert "CREATE TABLE" in hidden.step(execute_sql("SELECT sql FROM sqlite_master"))[0]["message"]


def test_human_rendering_prints_what_is_new(bird: Make, capsys: pytest.CaptureFixture[str]) -> None:
    env = bird(render_mode="human")
    env.reset(options={"instance_id": "7"})
    opening = capsys.readouterr().out
    assert opening.startswith("7 ")
    env.step(execute_sql("SELECT 41 + 1"))
    printed = capsys.readouterr().out
    assert "SELECT 41 + 1" in printed and "42" in printed and opening not in printed
    assert env.render() is None and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "wrapper", [FlattenObservation, lambda env: FrameStackObservation(env, 3, padding_type="zero")]
)
def test_gymnasiums_wrappers_of_observations(bird: Make, wrapper: Callable[[Any], Any]) -> None:
    """Arrays are flattened and stacked; a text stays a text, and a stack of texts is a tuple."""
    env = wrapper(bird())
    first, _ = env.reset(options={"instance_id": "7"})
    second = env.step(execute_sql("SELECT 1"))[0]
    assert first in env.observation_space and second in env.observation_space
    last = second["message"] if isinstance(second["message"], str) else second["message"][-1]
    assert "1" in last
    with pytest.raises(ValueError, match="text is not a vector"):
        gymnasium.spaces.flatdim(bird().observation_space["message"])
