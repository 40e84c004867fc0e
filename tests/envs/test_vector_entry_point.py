"""The vector environment of our own: what n single environments say, in one batch."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

import birdenv
from birdenv.envs import DialogueVectorEnv
from birdenv.errors import InputError

IDS = ("birdenv/CInteract-v0", "birdenv/AInteract-v0", "birdenv/BirdSql-v0")
ENVS, STEPS = 3, 40
TEXTS = ("What does dear mean?", "SELECT 'Größe', name FROM items", "SELECT * FROM 查询 -- 🐦", "")


def _make(name: str, settings: dict[str, dict[str, str]], **arguments: Any) -> Any:
    return gymnasium.make_vec(
        name,
        num_envs=ENVS,
        vectorization_mode="vector_entry_point",
        **settings[name],
        **arguments,
    )


def _random_actions(envs: Any, rng: random.Random) -> dict[str, Any]:
    kinds = np.array([rng.randrange(len(envs.kinds)) for _ in range(ENVS)])
    return {"kind": kinds, "text": tuple(rng.choice(TEXTS) for _ in range(ENVS))}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", IDS)
def test_is_the_same_as_sync_in_all_that_it_returns(name: str, settings: dict[str, dict[str, str]]) -> None:
    ours = _make(name, settings)
    theirs = gymnasium.make_vec(
        name,
        num_envs=ENVS,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **settings[name],
    )
    assert isinstance(ours, DialogueVectorEnv)
    assert ours.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    assert ours.observation_space == batch_space(ours.single_observation_space, ENVS)
    rng, ends = random.Random(3), 0
    _assert_same(ours.reset(seed=7), theirs.reset(seed=7))
    for _ in range(STEPS):
        actions = _random_actions(ours, rng)
        step = ours.step(actions)
        assert step[0] in ours.observation_space
        _assert_same(step, theirs.step(actions))
        ends += int((step[2] | step[3]).sum())
        assert [env.render() for env in ours.envs] == [env.render() for env in theirs.envs]
    assert ends
    ours.close()
    theirs.close()


def _assert_same(ours: Any, theirs: Any) -> None:
    """Equal values of equal types, through dictionaries, tuples and arrays of objects."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key, value in ours.items():
            _assert_same(value, theirs[key])
    elif isinstance(ours, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            _assert_same(one, other)
    elif isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        _assert_same(ours.tolist(), theirs.tolist())
    else:
        assert ours == theirs


def test_a_seed_for_each_environment(settings: dict[str, dict[str, str]]) -> None:
    name = "birdenv/CInteract-v0"
    envs = _make(name, settings)
    drawn = []
    for seed in (5, [5, 6, 7], [5, 5, 5]):
        _, infos = envs.reset(seed=seed)
        drawn.append(infos["instance_id"].tolist())
    assert drawn[0] == drawn[1] and set(drawn[2]) == {drawn[0][0]}
    alone = gymnasium.make(name, **settings[name])
    assert [alone.reset(seed=5 + i)[1]["instance_id"] for i in range(ENVS)] == drawn[0]
    with pytest.raises(InputError, match="3 seeds; got 2"):
        envs.reset(seed=[1, 2])


def test_without_autoreset_the_caller_says_which_episodes_begin_anew(
    settings: dict[str, dict[str, str]],
) -> None:
    envs = _make("birdenv/BirdSql-v0", settings, autoreset_mode=AutoresetMode.DISABLED)
    first, _ = envs.reset(seed=1, options={"instance_id": "7"})
    submit, look = birdenv.submit_sql("SELECT '查询 🐦'"), birdenv.execute_sql("SELECT 5")
    last, rewards, terminations, _, infos = envs.step([look, submit, look])
    assert terminations.tolist() == [False, True, False] and rewards.tolist() == [0.0, 1.0, 0.0]
    assert "final_obs" not in infos and infos["status"].tolist() == [None, "completed", None]
    with pytest.raises(ResetNeeded):
        envs.step([look, look, look])
    begun, infos = envs.reset(options={"reset_mask": terminations, "instance_id": "8"})
    assert infos["_instance_id"].tolist() == terminations.tolist() and infos["instance_id"][1] == "8"
    assert begun["message"][0] != first["message"][0] == first["message"][1] != begun["message"][1]
    assert last["turns_left"].tolist() == [19, 19, 19]
    assert begun["turns_left"].tolist() == [18, 20, 19]


def test_what_it_cannot_do_is_said(settings: dict[str, dict[str, str]]) -> None:
    with pytest.raises(InputError, match="vectorization_mode='sync'"):
        _make("birdenv/BirdSql-v0", settings, autoreset_mode=AutoresetMode.NEXT_STEP)
    with pytest.raises(InputError, match="num_envs must be at least 1"):
        DialogueVectorEnv("bird", num_envs=0)
    envs = _make("birdenv/BirdSql-v0", settings, autoreset_mode="Disabled")
    with pytest.raises(InputError, match="reset_mask must be a Boolean array of 3"):
        envs.reset(options={"reset_mask": np.ones(2, dtype=np.bool_)})
    envs.reset(seed=0)
    with pytest.raises(InvalidAction, match="expected 3 actions, got 1"):
        envs.step([birdenv.submit_sql("SELECT 1")])
    for actions in (None, 0, "SELECT 1", {"kind": np.zeros(3, int)}, {"kind": 0, "text": "a"}):
        with pytest.raises(InvalidAction, match="expected"):
            envs.step(actions)
