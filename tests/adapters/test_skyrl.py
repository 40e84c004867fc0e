"""SkyRL: text in, new messages out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dialogues import as_tags
from servers import example, run_page
from session_tests import Message, SessionTests, Step, note

pytest.importorskip("skyrl_gym", reason="the extra `skyrl` is not installed")

import skyrl_gym
from skyrl_gym.envs.registration import register, registry

from birdenv.adapters.skyrl import dataset_rows


class TestSkyRL(SessionTests):
    framework = "skyrl"
    tags = True

    @asynccontextmanager
    async def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AsyncIterator[Step]:
        if "birdenv" not in registry:
            register(id="birdenv", entry_point="birdenv.adapters.skyrl:BirdenvEnv")
        extras = {"game": game, "instance_id": task, "settings": settings}
        env = skyrl_gym.make("birdenv", env_config={}, extras=extras)
        [row] = dataset_rows(game, **{**settings, "instances": [task]})
        note(self.seen, row)
        note(self.seen, env.init(row["prompt"]))

        async def step(message: Message) -> tuple[str, float, bool]:
            output = await asyncio.to_thread(env.step, as_tags(message))
            note(self.seen, output)
            return output["observations"][0]["content"], output["reward"], output["done"]

        yield step
        note(self.seen, env.get_metrics())
        env.close()


def test_rows_hold_what_an_environment_needs() -> None:
    [row] = dataset_rows("c-interact", limit=1)
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=row)
    assert env.init(row["prompt"])[0] == row["prompt"]


@pytest.mark.slow
def test_the_example_plays_the_demo(tmp_path: Path) -> None:
    assert example("skyrl_rollout.py", tmp_path).count("{'phase_1': 0.7, 'phase_2': 0.3}") == 5


@pytest.mark.slow
def test_the_page_plays() -> None:
    assert "40 seats" in run_page("skyrl")
