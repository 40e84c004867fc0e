"""`gymnasium.make_vec` by default (ours), sync and async: every step's texts are those of the single env."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import iterate

from birdenv.envs.wrappers import ChatMessages, Markup

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "sync": {"vectorization_mode": "sync"},
    "async": {"vectorization_mode": "async"},
    "async without shared memory": {
        "vectorization_mode": "async",
        "vector_kwargs": {"shared_memory": False},
    },
}

ENVS = 2
STEPS = 12


def _actions(step: int) -> dict[str, Any]:
    texts = ("What does dear mean?", "SELECT 'Größe', name FROM items", "SELECT * FROM 查询 -- 🐦")
    chosen = [(step + i) % 3 for i in range(ENVS)]
    return {"kind": np.array([(0, 1, 2)[i] for i in chosen]), "text": tuple(texts[i] for i in chosen)}


def _expected(name: str, arguments: dict[str, Any], index: int) -> list[dict[str, Any]]:
    """What environment number `index` shows when it is alone, reset in the same step as it ends."""
    env = gymnasium.make(name, **arguments)
    shown = [env.reset(seed=7 + index)[0]]
    for step in range(STEPS):
        action = list(iterate(gymnasium.vector.utils.batch_space(env.action_space, ENVS), _actions(step)))[
            index
        ]
        observation, _, terminated, truncated, _ = env.step(action)
        shown.append(env.reset()[0] if terminated or truncated else observation)
    env.close()
    return shown


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["birdenv/CInteract-v0", "birdenv/AInteract-v0", "birdenv/BirdSql-v0"])
@pytest.mark.parametrize("mode", MODES)
def test_all_texts_are_true(name: str, mode: str, settings: dict[str, dict[str, str]]) -> None:
    arguments = settings[name] | ({"execute_sql": True} if "/CInteract" in name else {})
    options = dict(MODES[mode])
    if mode != "default":
        same = {"autoreset_mode": AutoresetMode.SAME_STEP}
        options["vector_kwargs"] = same | options.get("vector_kwargs", {})
    envs = gymnasium.make_vec(name, num_envs=ENVS, **options, **arguments)
    batches = [envs.reset(seed=7)[0]]
    batches += [envs.step(_actions(step))[0] for step in range(STEPS)]
    assert all(batch in envs.observation_space for batch in batches)
    for index in range(ENVS):
        for batch, alone in zip(batches, _expected(name, arguments, index), strict=True):
            for field, value in alone.items():
                assert np.array_equal(batch[field][index], value), field
    messages = {text for batch in batches for text in batch["message"]}
    assert any("🐦" in text for text in messages)
    envs.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_next_step_autoreset_and_infos(mode: str, settings: dict[str, dict[str, str]]) -> None:
    name = "birdenv/BirdSql-v0"
    envs = gymnasium.make_vec(name, num_envs=2, vectorization_mode=mode, **settings[name])
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    _, infos = envs.reset(seed=1, options={"instance_id": "7"})
    assert infos["instance_id"].tolist() == ["7", "7"]
    submit = {"kind": np.array([2, 1]), "text": ("SELECT '查询 🐦'", "SELECT 1")}
    _, rewards, terminations, _, infos = envs.step(submit)
    assert rewards.tolist() == [1.0, 0.0] and terminations.tolist() == [True, False]
    assert infos["status"][0] == "completed" and infos["candidates"][1] == infos["candidates"][0]
    observation, rewards, terminations, _, _ = envs.step(submit)
    assert rewards.tolist() == [0.0, 0.0] and terminations.tolist() == [False, False]
    assert observation["turns_left"].tolist() == [20, 18]
    envs.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_wrapped_environments_too(mode: str, settings: dict[str, dict[str, str]]) -> None:
    name = "birdenv/CInteract-v0"
    for wrapper, action in (
        (Markup, "<s>Größe? 🐦</s>"),
        (ChatMessages, {"name": "clarify", "arguments": {"question": "Größe? 🐦"}}),
    ):
        envs = gymnasium.make_vec(
            name, num_envs=2, vectorization_mode=mode, wrappers=[wrapper], **settings[name]
        )
        before, _ = envs.reset(seed=1)
        after, *_ = envs.step((action, action))
        assert before in envs.observation_space and after in envs.observation_space
        assert all(
            "Größe? 🐦" in str(now) and "Größe? 🐦" not in str(then)
            for then, now in zip(before, after, strict=True)
        )
        envs.close()
