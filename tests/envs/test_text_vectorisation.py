"""Texts in vector environments are the true ones at every step, through pipes and through shared memory."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
    write_to_shared_memory,
)

from birdenv.envs import UnicodeText
from birdenv.envs.wrappers import ChatPrompts
from birdenv.tasks.c_interact import GAME

TEXTS = ["", "plain", "Größe\n查询", "😀 𝔸" * 500, "\x00 NUL", "lone \ud800 surrogate", "short again"]


class Echo(gymnasium.Env[dict[str, Any], str]):
    """Observes what was said last: deep inside, so that nesting is covered."""

    def __init__(self, max_length: int = 2**16) -> None:
        text = UnicodeText(max_length)
        self.observation_space = spaces.Dict({"pair": spaces.Tuple([text, spaces.Discrete(100)])})
        self.action_space = UnicodeText(max_length)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self._steps = 0
        return {"pair": ("reset ✓", 0)}, {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, Any]:
        self._steps += 1
        return {"pair": (action, self._steps)}, 0.0, False, False, {}


VECTORISATIONS = {
    "sync": SyncVectorEnv,
    "async": AsyncVectorEnv,
    "async without shared memory": partial(AsyncVectorEnv, shared_memory=False),
    "async, spawned": partial(AsyncVectorEnv, context="spawn"),
    "async, no copies": partial(AsyncVectorEnv, copy=False),
    "async, differing spaces": partial(AsyncVectorEnv, observation_mode="different"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * name.endswith("spawned")) for name in VECTORISATIONS],
)
def test_every_step_shows_what_was_just_said(name: str) -> None:
    envs = VECTORISATIONS[name]([Echo, Echo])
    try:
        observation, _ = envs.reset(seed=1)
        assert tuple(observation["pair"][0]) == ("reset ✓", "reset ✓")
        kept = []
        for step, text in enumerate(TEXTS, 1):
            said = (text, f"{step} {text}")
            observation, *_ = envs.step(said)
            assert tuple(observation["pair"][0]) == said
            assert observation["pair"][1].tolist() == [step, step]
            kept.append((said, observation))
        if envs.copy:  # earlier observations must not change afterwards
            assert all(isinstance(seen["pair"][0], tuple) and seen["pair"][0] == said for said, seen in kept)
            assert all(seen in envs.observation_space for _, seen in kept)
    finally:
        envs.close()


@pytest.mark.filterwarnings("ignore:.*ERROR:UserWarning")  # Gymnasium's report of the worker's traceback
def test_a_text_too_long_for_shared_memory_is_an_error_and_never_cut() -> None:
    envs = AsyncVectorEnv([partial(Echo, 2**21)])
    envs.reset()
    just_fits, too_long = "x" * 2**20, "x" * (2**20 - 1) + "ß"
    observation, *_ = envs.step((just_fits,))
    assert observation["pair"][0] == (just_fits,)
    with pytest.raises(ValueError, match="shared_memory=False"):
        envs.step((too_long,))
    envs.close(terminate=True)


def test_every_member_of_a_moderate_space_fits_into_shared_memory() -> None:
    space = UnicodeText(1000)
    memory = create_shared_memory(space, n=2)
    write_to_shared_memory(space, 1, "😀" * 1000, memory)
    assert deepcopy(read_from_shared_memory(space, memory, n=2)) == ("", "😀" * 1000)


def test_chat_prompts_travel_as_json() -> None:
    space = ChatPrompts(GAME.seats[0], seed=3)
    memory = create_shared_memory(space, n=2)
    prompts = (space.sample(), space.sample())
    for index, prompt in enumerate(prompts):
        write_to_shared_memory(space, index, prompt, memory)
    assert deepcopy(read_from_shared_memory(space, memory, n=2)) == prompts


def test_batched_spaces_sample_and_iterate() -> None:
    space = UnicodeText(9, seed=4)
    batched = batch_space(space, 3)
    sample = batched.sample()
    assert sample in batched and len(set(sample)) > 1
    assert list(iterate(batched, sample)) == list(sample)
    assert batch_differing_spaces([UnicodeText(9), UnicodeText(9)]) == spaces.Tuple([UnicodeText(9)] * 2)


def test_batched_actions_iterate_as_actions() -> None:
    space = spaces.Dict({"kind": spaces.Discrete(3), "text": UnicodeText(9)})
    actions = {"kind": np.array([2, 0]), "text": ("SELECT 1", "Größe?")}
    assert list(iterate(batch_space(space, 2), actions)) == [
        {"kind": 2, "text": "SELECT 1"},
        {"kind": 0, "text": "Größe?"},
    ]
