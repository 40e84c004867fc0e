"""CoCoA's games under the upstream checkers, through the generic drivers."""

from __future__ import annotations

import pickle
import warnings
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from birdenv.dialogue import Move
from birdenv.envs import DialogueEnv

IDS = {"MutualFriends": "mutual_friends", "Bargain": "bargain", "DealOrNoDeal": "deal_or_no_deal"}
SEATS = {
    "MutualFriends": ("agent_0", "agent_1"),
    "Bargain": ("buyer", "seller"),
    "DealOrNoDeal": ("agent_0", "agent_1"),
}
AGENTS = {
    "MutualFriends": ["agent_0", "agent_1"],
    "Bargain": ["buyer_0", "seller_0"],
    "DealOrNoDeal": ["agent_0", "agent_1"],
}
each_game = pytest.mark.parametrize("name", IDS)


def walk(env: Any, seed: int, steps: int = 40) -> list[Any]:
    env.action_space.seed(seed)
    returned: list[Any] = [env.reset(seed=seed)]
    for _ in range(steps):
        returned.append(env.step(env.action_space.sample()))
        if returned[-1][2] or returned[-1][3]:
            returned.append(env.reset())
    return returned


@each_game
@pytest.mark.parametrize("place", [0, 1])
def test_gymnasium(name: str, place: int) -> None:
    env = gymnasium.make(f"birdenv/{name}-v0", seat=SEATS[name][place], limit=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
        returned = walk(env, seed=1)
    assert all(part[0] in env.observation_space for part in returned)
    assert any(part[2] or part[3] for part in returned if len(part) == 5)
    assert data_equivalence(returned, walk(env, seed=1))
    copy = pickle.loads(pickle.dumps(env.unwrapped))
    assert isinstance(copy, DialogueEnv) and data_equivalence(walk(copy, 2), walk(env.unwrapped, 2))


@each_game
def test_pettingzoo(name: str) -> None:
    module: Any = import_module(f"birdenv.cocoa.{IDS[name]}_v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", ".*is not a NumPy array|.*space for each agent probably should be")
        assert module.env(limit=5).possible_agents == AGENTS[name]
        api_test(module.env(limit=5), num_cycles=100)
        parallel_api_test(module.parallel_env(limit=5), num_cycles=100)
        seed_test(lambda: module.env(limit=5), num_cycles=50)
        parallel_seed_test(lambda: module.parallel_env(limit=5), num_cycles=50)
    render_test(lambda render_mode: module.env(limit=5, render_mode=render_mode))


@pytest.mark.parametrize("name", ["MutualFriends", "Bargain"])
@pytest.mark.parametrize("place", [0, 1])
def test_observations_and_infos_tell_nothing_of_the_other_seat(name: str, place: int) -> None:
    other = SEATS[name][1 - place]
    env = gymnasium.make(
        f"birdenv/{name}-v0", seat=SEATS[name][place], limit=5, **{other: lambda view: Move("message", "hm")}
    )
    for seed in range(5):
        seen = [env.reset(seed=seed)]
        rules = env.unwrapped._dialogue.rules  # type: ignore[attr-defined]
        own, others = (set(told(rules.knowledge(seat))) for seat in (place, 1 - place))
        env.action_space.seed(seed)
        while len(seen) < 20 and not (len(seen) > 1 and (seen[-1][2] or seen[-1][3])):
            seen.append(env.step({**env.action_space.sample(), "text": "hello"}))
        secrets = others - own - {*SEATS[name]}
        assert secrets and not [each for each in secrets if each in repr(seen)]
    env.close()


def told(knowledge: Any) -> list[str]:
    """What a seat is told, as it would be written."""
    if isinstance(knowledge, dict | list):
        parts = knowledge.values() if isinstance(knowledge, dict) else knowledge
        return [each for part in parts for each in told(part)]
    return [f"{knowledge} dollars" if isinstance(knowledge, int | float) else str(knowledge)]


@pytest.mark.parametrize("seat", SEATS["Bargain"])
def test_a_partner_that_walks_away_at_once_leaves_a_first_step(seat: str) -> None:
    [partner] = set(SEATS["Bargain"]) - {seat}
    env = DialogueEnv("bargain", seat, limit=2, **{partner: lambda view: Move("quit")})
    for _ in range(2):
        seen, info = env.reset(seed=1)
        assert seen["action_mask"].any() and "reward" not in info
        *_, terminated, truncated, info = env.step({**env.action_space.sample(), "kind": 0, "text": "hi"})
        assert terminated and not truncated and info["offer"] is None
    env.close()


def test_a_price_is_a_share_of_twice_the_listed_one() -> None:
    env = DialogueEnv("bargain", limit=1)
    env.reset()
    listed = env._dialogue.view(0).kb["item"]["Price"]  # type: ignore[union-attr]
    action = {**env.action_space.sample(), "kind": 1, "text": "", "price": np.array([0.25])}
    *_, info = env.step(action)
    assert info["offer"]["price"] == listed / 2
    env.close()
