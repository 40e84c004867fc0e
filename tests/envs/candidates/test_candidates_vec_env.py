"""The batch as a `VecEnv` of Stable-Baselines3: equal to its own of single environments, and it trains."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from birdenv.errors import InputError

pytest.importorskip("sb3_contrib", reason="needs the extra rl")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack

from birdenv.envs.sb3 import CandidatesVecEnv

LEARNING = Path(__file__).resolve().parents[3] / "docs" / "learning.md"
ID = "birdenv/CInteractCandidates-v0"
FEW = {"instances": ["coop_1", "library_4", "library_M_1"]}


@pytest.fixture
def envs() -> Iterator[CandidatesVecEnv]:
    made = _vec_env(4)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def _vec_env(n: int, **settings: Any) -> CandidatesVecEnv:
    return CandidatesVecEnv(gymnasium.make_vec(ID, num_envs=n, **FEW | settings))


def _monitored() -> Any:
    return Monitor(gymnasium.make(ID, **FEW))


def _same(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert first.keys() == second.keys()
    for name, table in first.items():
        np.testing.assert_array_equal(table, second[name], err_msg=name, strict=True)


def test_it_does_what_their_own_vec_env_does(envs: CandidatesVecEnv) -> None:
    theirs = DummyVecEnv([_monitored] * 4)
    assert envs.observation_space == theirs.observation_space and envs.action_space == theirs.action_space
    rng, ended = np.random.default_rng(0), 0
    envs.seed(5)
    theirs.seed(5)
    _same(envs.reset(), theirs.reset())
    assert [info["instance_id"] for info in theirs.reset_infos] == [
        info["instance_id"] for info in envs.reset_infos
    ]
    while ended < 20:
        masks = get_action_masks(envs)
        np.testing.assert_array_equal(masks, get_action_masks(theirs))
        actions = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
        shown, rewards, ends, infos = envs.step(actions)
        expected, their_rewards, their_ends, their_infos = theirs.step(actions)
        _same(shown, expected)
        np.testing.assert_array_equal(rewards, their_rewards, strict=True)
        np.testing.assert_array_equal(ends, their_ends, strict=True)
        for info, their_info, over in zip(infos, their_infos, ends, strict=True):
            assert ("episode" in info) == ("terminal_observation" in info) == over
            if over:
                ended += 1
                _same(info["terminal_observation"], their_info["terminal_observation"])
                assert info["instance_id"] == their_info["instance_id"]
                assert info["episode"] == {name: their_info["episode"][name] for name in ("r", "l")}
    _same(envs.reset(), theirs.reset())  # without a seed, so that other episodes follow
    theirs.close()


def test_wrappers_callbacks_and_masks_find_what_they_look_for(envs: CandidatesVecEnv) -> None:
    assert is_masking_supported(envs) and not envs.has_attr("no_such_attribute")
    assert envs.env_is_wrapped(Monitor) == [True] * 4
    assert envs.get_attr("layout", indices=[1]) == [envs.batch.layout]
    assert len(envs.env_method("action_masks", indices=[0, 2])) == 2
    with pytest.raises(AttributeError, match="action_masks"):
        envs.env_method("reset")
    with pytest.raises(NotImplementedError):
        envs.set_attr("layout", None)
    stacked = VecFrameStack(envs, 2)
    assert stacked.reset()["episode"].shape[1] == 2 * envs.observation_space["episode"].shape[0]


@pytest.mark.filterwarnings("ignore:.*render_mode='rgb_array'")
def test_their_make_vec_env_makes_single_environments() -> None:
    made = make_vec_env("birdenv/CInteractCandidates-v0", n_envs=2)
    made.reset()
    assert len(made.step(np.zeros(2, dtype=int))[1]) == 2
    made.close()


def test_algorithms_with_masks_and_without_take_it(envs: CandidatesVecEnv) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MaskablePPO(
            "MultiInputPolicy", envs, n_steps=8, batch_size=32, n_epochs=1, seed=0, device="cpu"
        )
        model.learn(64)
        assert model.ep_info_buffer
        returns, lengths = evaluate_masked(model, envs, n_eval_episodes=6, return_episode_rewards=True)
        assert len(returns) == 6 and min(lengths) >= 1
        other = DQN("MultiInputPolicy", envs, learning_starts=8, buffer_size=100, batch_size=8, device="cpu")
        other.learn(32, callback=EvalCallback(_vec_env(2), n_eval_episodes=2, eval_freq=4, verbose=0))


def test_the_same_seed_trains_the_same_policy() -> None:
    def learnt() -> list[float]:
        model = MaskablePPO("MultiInputPolicy", _vec_env(4), n_steps=8, batch_size=32, seed=1, device="cpu")
        return model.learn(64).policy.action_net.weight.detach().flatten().tolist()  # type: ignore[no-any-return]

    assert learnt() == learnt()


@pytest.mark.slow
def test_the_program_of_the_page_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = LEARNING.read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(program, found)
    model = MaskablePPO.load("my.zip", env=CandidatesVecEnv(found["batch"]))
    untrained = MaskablePPO("MultiInputPolicy", model.env, seed=0)
    before, after = (
        evaluate_masked(each, each.env, n_eval_episodes=512, deterministic=False)[0]
        for each in (untrained, model)
    )
    assert before < 0.25 and after > before + 0.3


def test_what_cannot_be_is_told(envs: CandidatesVecEnv) -> None:
    with pytest.raises(InputError, match="CandidatesVecEnv needs the result of"):
        CandidatesVecEnv(gymnasium.make(ID, **FEW))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="autoreset_mode='SameStep'"):
        _vec_env(2, autoreset_mode=AutoresetMode.DISABLED)
    envs.set_options({"price": 0.1})
    with pytest.raises(InputError, match="reset options are not supported"):
        envs.reset()


def test_without_their_package_the_extra_is_named() -> None:
    program = "import sys; sys.modules['stable_baselines3'] = None; import birdenv.envs.sb3"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: birdenv.envs.sb3 needs stable_baselines3")
    assert last.endswith("pip install 'birdenv[rl]'")
