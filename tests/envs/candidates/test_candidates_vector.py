"""Batches of candidate episodes are equal to single dialogues, step by step."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from birdenv.benchmarks.generator import generate
from birdenv.errors import InputError

ID = "birdenv/CInteractCandidates-v0"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("generated") / "out"
    generate(out, tasks=5, seed=8)
    return {"data_dir": str(out)}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("many") / "out"
    generate(out, tasks=30, seed=0)  # a good part of them Management
    return {"data_dir": str(out)}


def _batch(n: int, **settings: Any) -> Any:
    return gymnasium.make_vec(ID, num_envs=n, vectorization_mode="vector_entry_point", **settings)


def _dialogues(n: int, mode: AutoresetMode, **settings: Any) -> Any:
    """Single environments that play dialogues, so that they can be rendered."""
    one = partial(gymnasium.make, ID, render_mode="ansi", **settings)
    return SyncVectorEnv([one] * n, autoreset_mode=mode)


def _same(first: dict[str, Any], second: dict[str, Any]) -> None:
    for name, table in first.items():
        np.testing.assert_array_equal(table, second[name], err_msg=name, strict=True)


def _same_refusals(mine: dict[str, Any], others: dict[str, Any]) -> None:
    for name in ("refused", "_refused"):
        assert (name in mine) == (name in others)
        if name in mine:
            np.testing.assert_array_equal(mine[name], others[name])


def _masks(singles: Any) -> Any:
    return np.stack([env.unwrapped.action_masks() for env in singles.envs])


def _compare(episodes: int, n: int, settings: dict[str, Any]) -> None:
    """Random play of both; the first environment often does what the mask forbids, the last never."""
    rng = np.random.default_rng(0)
    legal = np.linspace(0.6, 1.0, n)
    ours, theirs = _batch(n, **settings), _dialogues(n, AutoresetMode.SAME_STEP, **settings)
    first, second = ours.reset(seed=7), theirs.reset(seed=7)
    ended = 0
    while ended < episodes:
        _same(first[0], second[0])
        assert (ours._names[ours._episodes.tasks] == second[-1]["instance_id"]).all()
        masks = ours.action_masks()
        np.testing.assert_array_equal(masks, _masks(theirs))
        free = rng.random(n) >= legal
        actions = np.array([rng.choice(np.flatnonzero(row | f)) for row, f in zip(masks, free, strict=True)])
        first, second = ours.step(actions), theirs.step(actions)
        for mine, other in zip(first[1:4], second[1:4], strict=True):
            np.testing.assert_array_equal(mine, other, strict=True)
        _same_refusals(first[4], second[4])
        _same_refusals(first[4].get("final_info", {}), second[4].get("final_info", {}))
        over = first[2]
        ended += int(over.sum())
        for i in np.flatnonzero(over):
            _same(first[4]["final_obs"][i], second[4]["final_obs"][i])
    ours.close()
    theirs.close()


def test_a_batch_is_equal_to_single_dialogues_on_the_demo() -> None:
    _compare(12, 3, {"instances": ["coop_1", "library_4"]})


def test_a_batch_is_equal_to_single_dialogues_with_refusals(generated: dict[str, Any]) -> None:
    _compare(12, 3, {**generated, "refusals": 0.5, "prices": (0.03, 0.3), "questions": 3})


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"refusals": 0.3}, {"questions": 1}, {"execute_sql": False}])
@pytest.mark.parametrize("on_the_demo", [True, False])
def test_a_thousand_random_episodes_are_equal(settings: Any, on_the_demo: bool, many: dict[str, Any]) -> None:
    _compare(125, 8, settings | ({} if on_the_demo else many))


def test_disabled_waits_for_the_reset_of_those_that_are_over(generated: dict[str, Any]) -> None:
    ours = _batch(3, autoreset_mode=AutoresetMode.DISABLED, **generated)
    ours.reset(seed=1)
    give_up = ours.layout.give_up
    after, _, over, *_ = ours.step(np.array([ours.layout.useless, give_up, ours.layout.useless]))
    assert over.tolist() == [False, True, False]
    with pytest.raises(ResetNeeded):
        ours.step(np.zeros(3, int))
    again, infos = ours.reset(options={"reset_mask": over})
    assert infos["_instance_id"].tolist() == [False, True, False]
    np.testing.assert_array_equal(again["episode"][[0, 2]], after["episode"][[0, 2]])
    assert ours.step(np.full(3, give_up))[2].all()


def test_each_environment_has_a_seed_of_its_own(generated: dict[str, Any]) -> None:
    ours = _batch(3, **generated)
    (together, _), (apart, _) = ours.reset(seed=5), ours.reset(seed=[7, 6, 5])
    for name in together:
        np.testing.assert_array_equal(together[name], apart[name][::-1])


def test_tables_are_compiled_once(generated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = _batch(2, **generated).reset(seed=1)[0]
    monkeypatch.setattr(
        "birdenv.envs.candidates._tables.compile_tables", lambda *_: pytest.fail("compiled again")
    )
    _same(first, _batch(2, **generated).reset(seed=1)[0])


def test_nothing_that_was_returned_changes_afterwards(generated: dict[str, Any]) -> None:
    ours = _batch(4, **generated)
    observation, _ = ours.reset(seed=1)
    kept = {name: table.copy() for name, table in observation.items()}
    for _ in range(5):
        ours.step(ours.action_masks().argmax(axis=1))
    _same(observation, kept)


@pytest.mark.parametrize(
    "wrong",
    [
        {"autoreset_mode": AutoresetMode.NEXT_STEP},
        {"user": "rule"},
        {"profile": "adk"},
        {"render_mode": "ansi"},
        {"question_price": 0.1},
        {"reward_scheme": "zero_sum"},
    ],
)
def test_what_a_batch_cannot_do_is_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        _batch(2, **wrong)


def test_actions_out_of_range_are_told(generated: dict[str, Any]) -> None:
    ours = _batch(2, **generated)
    ours.reset(seed=1)
    for actions in ([0], [0, -1], [0, 1000], [0.5, 1.0]):
        with pytest.raises(InvalidAction):
            ours.step(np.array(actions))
