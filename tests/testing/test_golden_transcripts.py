"""Golden transcripts: the same episodes through Gymnasium's chat wrapper as natively."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import pytest

import birdenv
from birdenv.envs.wrappers import ChatMessages
from birdenv.testing import MALFORMED, SCRIPTS, AgentScript, golden_transcript, play_script

ENVS = {
    "c-interact": "birdenv/CInteract-v0",
    "a-interact": "birdenv/AInteract-v0",
    "bird": "birdenv/BirdSql-v0",
}
assert birdenv.__version__


def chat_wrapper(script: AgentScript) -> Callable[[Mapping[str, Any]], tuple[str, float, bool]]:
    env = ChatMessages(gym.make(ENVS[script.game], disable_env_checker=True, **script.settings))
    env.reset(options={"instance_id": script.instance_id})

    def step(message: Mapping[str, Any]) -> tuple[str, float, bool]:
        prompt, reward, terminated, truncated, _ = env.step(message)
        return prompt["messages"][-1]["content"], float(reward), terminated or truncated

    return step


@pytest.mark.every(3)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_the_chat_wrapper_gives_the_golden_transcript(script: AgentScript) -> None:
    golden = golden_transcript(script)
    assert play_script(script, chat_wrapper) == golden
    assert golden == golden_transcript(script)


def test_every_malformed_message_costs_something_and_never_raises() -> None:
    scripts = {script.name: script for script in SCRIPTS}
    for name in MALFORMED:
        first = golden_transcript(scripts[f"malformed: {name}"])[0]
        assert "cost you one question" in first.text and not first.done
