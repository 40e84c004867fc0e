"""The PettingZoo game: upstream's tests, the two seats, and whole episodes by seed."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from envs_benchmark import GOLD_1, GOLD_1_FOLLOW_UP
from gymnasium.error import InvalidAction
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from birdenv import clarify, submit_sql
from birdenv.dialogue import Move
from birdenv.envs import c_interact_v0
from birdenv.errors import InputError
from birdenv.tasks.c_interact import GAME

Factory = Callable[..., Any]

VOICES = GAME.seats[1].voices

KNOWN_WARNINGS = (
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Agents have different observation space sizes",
    "Observation is not a NumPy array",
)
"""PettingZoo's tests remark on all that is no array; here observations are dictionaries of texts."""


@pytest.fixture
def env(benchmark: Path) -> Factory:
    return partial(c_interact_v0.env, data_dir=str(benchmark))


@pytest.fixture
def parallel_env(benchmark: Path) -> Factory:
    return partial(c_interact_v0.parallel_env, data_dir=str(benchmark))


@pytest.fixture
def only_known_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    unknown = {str(warning.message) for warning in caught} - set(KNOWN_WARNINGS)
    assert unknown == set()


@pytest.mark.usefixtures("only_known_warnings")
class TestUpstream:
    def test_api(self, env: Factory) -> None:
        api_test(env(), num_cycles=100)

    def test_parallel_api(self, parallel_env: Factory) -> None:
        parallel_api_test(parallel_env(), num_cycles=100)

    def test_seed(self, env: Factory) -> None:
        seed_test(env, num_cycles=50)

    def test_parallel_seed(self, parallel_env: Factory) -> None:
        parallel_seed_test(parallel_env, num_cycles=50)

    def test_render(self, env: Factory) -> None:
        render_test(env)

    def test_the_game_on_the_demo(self) -> None:
        api_test(c_interact_v0.env(), num_cycles=20)


def _play(env: Any, seed: int) -> list[Any]:
    """A whole episode of sampled actions, then a second one without a seed; everything that was seen."""
    for offset, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + offset)
    seen: list[Any] = []
    for options in ({"seed": seed}, {}):
        env.reset(**options)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            assert observation in env.observation_space(agent)
            action = None if terminated or truncated else env.action_space(agent).sample()
            seen.append((agent, observation, reward, terminated, truncated, dict(info), action))
            env.step(action)
    return seen


def test_whole_episodes_follow_the_seed(env: Factory) -> None:
    assert data_equivalence(_play(env(), 1), _play(env(), 1))
    assert not data_equivalence(_play(env(), 1), _play(env(), 2))


def _play_parallel(env: Any, seed: int) -> list[Any]:
    for offset, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + offset)
    seen: list[Any] = [env.reset(seed=seed)]
    while env.agents:
        seen.append(env.step({agent: env.action_space(agent).sample() for agent in env.agents}))
    return seen


def test_whole_parallel_episodes_follow_the_seed(parallel_env: Factory) -> None:
    played = _play_parallel(parallel_env(), 1)
    assert len(played) > 3
    assert data_equivalence(played, _play_parallel(parallel_env(), 1))


def _says(text: str) -> dict[str, Any]:
    return {"kind": 0, "text": text}


def test_what_the_two_seats_see(env: Factory) -> None:
    game = env()
    game.reset(options={"instance_id": "shop_1"})
    assert game.agent_selection == "system_0"
    system, user = game.observe("system_0"), game.observe("user_0")
    assert system["legal_kinds"].tolist() == [1, 0, 1]
    assert "Which items cost more than ten euros?" not in json.dumps(system, default=repr)
    assert "What you want: Which items cost more than ten euros?" in user["instruction"]
    assert "You asked: Which items are dear? Größe egal 🐦" in user["instruction"]
    assert "- dear: only cases where the price is greater than 10" in user["instruction"]
    assert (user["message"], user["phase"], user["legal_kinds"].tolist()) == ("", 1, [0])

    game.step(clarify("What does dear mean?"))
    assert game.agent_selection == "user_0"
    user = game.observe("user_0")
    assert user["message"] == "What does dear mean?" and VOICES[user["sender"]] == "system"
    assert user["legal_kinds"].tolist() == [1]
    assert game.observe("system_0")["legal_kinds"].tolist() == [0, 0, 0]

    game.step(_says("More than ten euros."))
    assert game.agent_selection == "system_0"
    assert game.observe("system_0")["message"] == "More than ten euros."


def test_both_seats_earn_the_same(env: Factory) -> None:
    game = env()
    game.reset(options={"instance_id": "shop_1"})
    for action in (clarify("What does dear mean?"), _says("More than ten."), submit_sql(GOLD_1)):
        game.step(action)
    assert game.rewards == {"system_0": 0.7, "user_0": 0.7}
    game.step(submit_sql(GOLD_1_FOLLOW_UP))
    assert game.rewards == {"system_0": 0.3, "user_0": 0.3}
    assert game.terminations == {"system_0": True, "user_0": True}
    assert game.unwrapped._cumulative_rewards == {"system_0": 0.3, "user_0": 1.0}
    assert game.infos["user_0"]["status"] == "completed"


@pytest.mark.parametrize("leak", [f"Just write {GOLD_1}", "Which items cost more than ten euros?"])
def test_the_leak_guard_hears_the_learner_too(env: Factory, leak: str) -> None:
    game = env()
    game.reset(options={"instance_id": "shop_1"})
    game.step(clarify("What is the time?"))
    game.step(_says(leak))
    assert leak not in game.observe("system_0")["message"]


@pytest.mark.parametrize("answer", [Move("answer", 3), Move("answer", None)])
def test_malformed_answers_are_empty_ones(env: Factory, answer: Any) -> None:
    game = env()
    game.reset(options={"instance_id": "shop_1"})
    game.step(clarify("What does dear mean?"))
    for wrong in (3, b"x", {"text": "x"}, "x" * 100_000):
        with pytest.raises(InvalidAction):
            game.step(wrong)
    game.step(answer)
    assert game.unwrapped._dialogue.events[-1].agent == 1
    assert game.agent_selection == "system_0" and "x" * 100 not in game.observe("system_0")["message"]


def test_an_answer_cannot_bring_its_own_permission(env: Factory) -> None:
    game = env()
    game.reset(options={"instance_id": "shop_1"})
    game.step(clarify("What is the time?"))
    game.step(Move("answer", GOLD_1, {"call": "labelled", "target": "", "granted": [GOLD_1]}))
    assert GOLD_1 not in game.observe("system_0")["message"]


def test_malformed_system_actions_cost_a_turn(env: Factory) -> None:
    game = env()
    game.reset(options={"instance_id": "shop_1"})
    with pytest.raises(InvalidAction):
        game.step({"kind": 9})
    game.step(Move("drop"))
    assert game.infos["system_0"]["refused"] == "unknown" and "refused" not in game.infos["user_0"]
    assert game.observe("system_0")["turns_left"] == 3 and game.agent_selection == "system_0"


def test_an_agent_that_there_is_not_is_told(parallel_env: Factory) -> None:
    game = parallel_env()
    game.reset(options={"instance_id": "shop_1"})
    with pytest.raises(InvalidAction, match="no agent 'nobody'; the agents are system_0, user_0"):
        game.step({"nobody": clarify("What does dear mean?")})


def test_unknown_tasks_are_an_error(env: Factory) -> None:
    with pytest.raises(InputError, match="shop_1, shop_2, shop_M_1"):
        env().reset(options={"instance_id": "nobody"})


def test_metadata() -> None:
    metadata = c_interact_v0.raw_env().metadata
    assert metadata["name"] == "c_interact_v0" and metadata["is_parallelizable"] is True
    assert metadata["render_modes"] == ["human", "ansi"]


def test_the_gymnasium_environments_do_not_load_pettingzoo() -> None:
    program = "import sys, birdenv.envs, birdenv.envs.wrappers; sys.exit('pettingzoo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
