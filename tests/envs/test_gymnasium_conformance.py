"""Gymnasium's own checks, over all ids and all wrappers; any warning fails."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env, data_equivalence

from birdenv.envs.wrappers import ChatMessages, Markup
from birdenv.errors import InputError

IDS = ("birdenv/CInteract-v0", "birdenv/AInteract-v0", "birdenv/BirdSql-v0")

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:this environment runs SQL in this process"),
]


@pytest.fixture(params=IDS)
def made(request: pytest.FixtureRequest, settings: dict[str, dict[str, str]]) -> Any:
    env = gymnasium.make(request.param, disable_env_checker=False, **settings[request.param])
    yield env
    env.close()


def _play(env: Any, seed: int, steps: int = 60) -> list[Any]:
    """A random walk through several episodes; all that it returned."""
    env.action_space.seed(seed)
    returned: list[Any] = [env.reset(seed=seed)]
    for _ in range(steps):
        returned.append(env.step(env.action_space.sample()))
        if returned[-1][2] or returned[-1][3]:
            returned.append(env.reset())
    return returned


def test_the_environment_checker_is_content(made: Any) -> None:
    check_env(made.unwrapped)


@pytest.mark.parametrize("wrapper", [ChatMessages, Markup])
def test_the_environment_checker_is_content_with_wrappers(made: Any, wrapper: Any) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(wrapper(made.unwrapped))


@pytest.mark.parametrize("wrapper", [None, ChatMessages, Markup])
def test_whole_episodes_through_the_default_stack(made: Any, wrapper: Any) -> None:
    env = made if wrapper is None else wrapper(made)
    returned = _play(env, seed=11)
    assert all(part[0] in env.observation_space for part in returned)
    ends = [part for part in returned if len(part) == 5 and part[2]]
    assert ends and all("status" in part[4] for part in ends)
    assert all(type(part[1]) is float and type(part[2]) is bool for part in returned if len(part) == 5)


@pytest.mark.every(3)
@pytest.mark.parametrize("wrapper", [None, ChatMessages, Markup])
def test_the_seed_decides_everything(made: Any, wrapper: Any) -> None:
    env = made if wrapper is None else wrapper(made)
    assert data_equivalence(_play(env, seed=3), _play(env, seed=3))
    assert not data_equivalence(_play(env, seed=3), _play(env, seed=4))


@pytest.mark.parametrize("wrapper", [None, ChatMessages, Markup])
def test_nothing_that_was_returned_changes_afterwards(made: Any, wrapper: Any) -> None:
    env = made if wrapper is None else wrapper(made)
    env.action_space.seed(5)
    returned: list[Any] = []
    frozen: list[bytes] = []
    for _ in range(40):
        over = not returned or (len(returned[-1]) == 5 and any(returned[-1][2:4]))
        returned.append(env.reset(seed=5) if over else env.step(env.action_space.sample()))
        frozen.append(pickle.dumps(returned[-1]))
    assert all(data_equivalence(now, pickle.loads(then)) for now, then in zip(returned, frozen, strict=True))


def test_what_the_caller_changes_is_the_callers_own(made: Any) -> None:
    first = _play(made, seed=5)
    for observation, *_, info in first:
        observation["action_mask"][:] = 7
        info.get("attempts", []).clear()
        info.clear()
    again = _play(made, seed=5)
    assert all(set(part[0]["action_mask"]) <= {0, 1} and part[-1]["instance_id"] for part in again)


def test_the_spec_survives_json_and_makes_the_same_environment(made: Any) -> None:
    again = gymnasium.make(EnvSpec.from_json(made.spec.to_json()))
    assert again.spec.kwargs == made.spec.kwargs
    assert data_equivalence(_play(again, seed=1), _play(made, seed=1))
    again.close()


@pytest.mark.parametrize("wrapper", [ChatMessages, Markup])
def test_wrappers_stand_in_the_spec(made: Any, wrapper: Any) -> None:
    assert wrapper(made).spec.additional_wrappers[-1].name == wrapper.__name__


def test_pickled_copies_play_alike(made: Any) -> None:
    made.reset(seed=1)
    copy = pickle.loads(pickle.dumps(made.unwrapped))
    assert data_equivalence(_play(copy, seed=2), _play(made.unwrapped, seed=2))
    copy.close()


def test_render_as_text(settings: dict[str, dict[str, str]]) -> None:
    for name in IDS:
        env = gymnasium.make(name, render_mode="ansi", **settings[name])
        _, info = env.reset(seed=1)
        before = env.render()
        env.step({"kind": 2, "text": "SELECT 'Größe'"})
        after = env.render()
        assert info["instance_id"] in before
        assert after.startswith(before) and "SELECT 'Größe'" in after.removeprefix(before)
        env.close()


def test_closing_twice(made: Any) -> None:
    made.unwrapped.close()
    made.reset(seed=1)
    made.unwrapped.close()
    made.unwrapped.close()


def test_a_step_needs_a_running_episode(made: Any) -> None:
    env, action = made.unwrapped, {"kind": 2, "text": ""}
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)
    env.reset()
    while not any(env.step(action)[2:4]):
        pass
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)


def test_a_mistyped_task_id_costs_only_its_own_reset(settings: dict[str, dict[str, str]]) -> None:
    for name in IDS:
        env = gymnasium.make(name, **settings[name])
        with pytest.raises(InputError, match="no task 'nope'"):
            env.reset(options={"instance_id": "nope"})
        env.reset(seed=0)
        assert len(env.step({"kind": 2, "text": "SELECT 1"})) == 5
        env.close()
