"""Which tasks are drawn: by weight, database and difficulty, from one reset or from now on."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gymnasium
import pytest

from birdenv.envs import c_interact_v0
from birdenv.errors import InputError

NAME = "birdenv/BirdSql-v0"


def _drawn(env: Any, times: int = 200, **options: Any) -> Counter[str]:
    env.reset(seed=0)
    return Counter(env.reset(options=options)[1]["instance_id"] for _ in range(times))


@pytest.fixture
def env(settings: dict[str, dict[str, str]]) -> Any:
    made = gymnasium.make(NAME, **settings[NAME])
    yield made
    made.close()


def test_options_of_one_reset(env: Any) -> None:
    assert set(_drawn(env)) == {"7", "8", "9"}
    assert set(_drawn(env, difficulty="simple")) == {"7"}
    assert set(_drawn(env, difficulty=["unknown"], database="shop")) == {"8", "9"}
    assert set(_drawn(env, instance_id=["8", "9"])) == {"8", "9"}
    assert set(_drawn(env, instance_id={"8": 1, "9": 0, "7": 0.0})) == {"8"}


def test_weights_multiply_and_say_how_often(env: Any) -> None:
    drawn = _drawn(env, 600, difficulty={"simple": 3, "unknown": 1}, instance_id={"7": 1, "8": 1, "9": 2})
    assert drawn["7"] > 1.2 * drawn["9"] > 1.2 * drawn["8"] > 100  # 3 to 2 to 1
    twice = {"simple": 6, "unknown": 2}
    assert drawn == _drawn(env, 600, difficulty=twice, instance_id={"7": 1, "8": 1, "9": 2})


def test_a_curriculum_goes_on_until_it_is_changed(env: Any, settings: dict[str, dict[str, str]]) -> None:
    env.unwrapped.sample_tasks({"difficulty": "simple"})
    assert set(_drawn(env)) == {"7"}
    assert env.reset(options={"instance_id": "9"})[1]["instance_id"] == "9"
    env.unwrapped.sample_tasks(None)
    assert set(_drawn(env)) == {"7", "8", "9"}
    same = gymnasium.make(NAME, sampling={"instance_id": ["8"]}, **settings[NAME])
    assert set(_drawn(same)) == {"8"} and set(_drawn(gymnasium.make(same.spec))) == {"8"}
    for mode in ("sync", "vector_entry_point"):
        envs = gymnasium.make_vec(NAME, num_envs=2, vectorization_mode=mode, **settings[NAME])
        if mode == "sync":
            envs.call("sample_tasks", {"instance_id": "8"})
        else:
            envs.sample_tasks({"instance_id": "8"})
        assert envs.reset(seed=1)[1]["instance_id"].tolist() == ["8", "8"]
        envs.close()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"difficulty": "hard"}, "no difficulty 'hard'; this environment has simple, unknown"),
        ({"database": ["shop", "zoo"]}, "no database 'zoo'"),
        ({"instance_id": {"7": -1}}, "must be a number, 0 or more, got -1"),
        ({"instance_id": {"7": float("nan")}}, "must be a number, 0 or more"),
        ({"instance_id": "7", "difficulty": "unknown"}, "no task can be drawn"),
        ({"instance_id": 7}, "no task 7"),
        ({"instance_id": []}, "no task can be drawn"),
        ({"weights": {}}, "unknown reset option 'weights'"),
        ({"index": 0, "difficulty": "simple"}, "either difficulty or index"),
    ],
)
def test_what_cannot_be_used_is_said(env: Any, options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        env.reset(options=options)
    if "index" not in options:
        with pytest.raises(InputError, match=why):
            env.unwrapped.sample_tasks(options)


def test_an_index_is_no_curriculum(env: Any) -> None:
    with pytest.raises(InputError, match="index is only a reset option"):
        env.unwrapped.sample_tasks({"index": 0})


def test_the_door_is_in_every_environment(settings: dict[str, dict[str, str]]) -> None:
    env = c_interact_v0.raw_env(**settings["birdenv/CInteract-v0"])
    env.reset(seed=1, options={"database": "shop", "instance_id": {"shop_2": 1.0}})
    assert env.infos["system_0"]["instance_id"] == "shop_2"
