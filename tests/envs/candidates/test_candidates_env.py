"""The candidate setting over the demo: conformance, prices, masks, shuffling, refusals, prediction files."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

from birdenv.envs.candidates import CandidateColumn, EpisodeColumn, SpanColumn
from birdenv.envs.candidates._request_words import phrases
from birdenv.envs.candidates._user import CANNOT_TELL
from birdenv.envs.wrappers import HiddenPrice
from birdenv.errors import InputError

COOP_1 = {"instance_id": "coop_1"}


def _spans(observation: dict[str, Any]) -> Any:
    return observation["spans"].reshape(-1, len(SpanColumn))


def _candidates(observation: dict[str, Any]) -> Any:
    return observation["candidates"].reshape(-1, len(CandidateColumn))


def _walk(env: Any, seed: int, episodes: int, *, legal: bool = True) -> list[Any]:
    rng, seen = np.random.default_rng(seed), []
    for episode in range(episodes):
        seen.append(env.reset(seed=seed if episode == 0 else None))
        over = False
        while not over:
            masks = env.unwrapped.action_masks()
            choices = np.flatnonzero(masks) if legal else np.arange(len(masks))
            seen.append(env.step(int(rng.choice(choices))))
            assert seen[-1][0] in env.observation_space
            over = seen[-1][2] or seen[-1][3]
    return seen


def test_gymnasiums_checker_is_content(make: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make().unwrapped)


def test_the_checker_of_stable_baselines_is_content(make: Any) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(make().unwrapped)


def test_masked_and_other_actions_come_to_an_end_and_stay_in_the_space(make: Any) -> None:
    ends = [step for step in _walk(make(), 3, 12) if len(step) == 5 and step[2]]
    assert len(ends) == 12 and all("status" in step[4] for step in ends)
    _walk(make(), 4, 12, legal=False)


def test_the_seed_decides_everything(make: Any) -> None:
    first, again, other = (_walk(make(refusals=0.5), seed, 4) for seed in (5, 5, 6))
    assert data_equivalence(first, again)
    assert not data_equivalence(first, other)


def test_each_question_costs_the_price_that_is_shown(make: Any) -> None:
    env = make(prices=(0.05, 0.2))
    shown = set()
    for seed in range(12):
        observation, _ = env.reset(seed=seed, options=COOP_1)
        _, reward, *_ = env.step(0)
        shown.add((round(float(observation["episode"][EpisodeColumn.PRICE]), 3), reward))
    assert shown == {(0.25, -0.05), (1.0, -0.2)}
    observation, _ = HiddenPrice(env).reset(seed=0)
    assert observation["episode"][EpisodeColumn.PRICE] == 0


def test_the_budget_is_the_same_in_every_task(make: Any) -> None:
    env = make(questions=4).unwrapped
    for place in range(0, len(env.instance_ids), 7):
        env.reset(seed=1, options={"index": place})
        texts = {env._session.dialogue.view(0).gauges["turns_left"]}
        assert texts == {4}
        assert "You may ask 4 questions" in env._session.dialogue.view(0).instruction


def test_an_action_that_the_mask_forbids_costs_a_question(make: Any) -> None:
    env = make(prices=(0.1,))
    env.reset(seed=2, options=COOP_1)
    absent = env.unwrapped.layout.spans - 1
    assert not env.unwrapped.action_masks()[absent]
    before = env.unwrapped._state.turns_left[0]
    _, reward, over, _, info = env.step(absent)
    assert (reward, over, env.unwrapped._state.turns_left[0]) == (-0.1, False, before - 1)
    assert info["refused"] == "illegal"
    assert "refused" not in env.step(int(env.unwrapped.action_masks().argmax()))[4]


def test_nothing_is_offered_twice(make: Any) -> None:
    env = make()
    env.reset(seed=2, options=COOP_1)
    layout = env.unwrapped.layout
    for action in (0, layout.useless, layout.execute):
        assert env.unwrapped.action_masks()[action]
        env.step(action)
        assert not env.unwrapped.action_masks()[action]


def test_candidates_are_shuffled_and_the_right_one_is_nowhere_marked(make: Any) -> None:
    env = make().unwrapped
    orders = set()
    for seed in range(8):
        env.reset(seed=seed, options=COOP_1)
        orders.add(tuple(env._session.order[:4]))
    assert len(orders) > 4


def test_a_helpful_answer_tells_candidates_apart(make: Any) -> None:
    env = make()
    before, _ = env.reset(seed=0, options=COOP_1)
    spans = env.unwrapped._session.stage.phrases
    place = next(i for i, each in enumerate(spans) if "steady" in each.text)
    after, *_ = env.step(place)
    assert _spans(after)[place, SpanColumn.INFORMED] == 1
    fitting = [_candidates(each)[:, CandidateColumn.FITS_ANSWERS].sum() for each in (before, after)]
    assert fitting == [4, 2]


def test_a_refused_point_tells_nothing(make: Any) -> None:
    env = make(refusals=1.0, render_mode="ansi")
    env.reset(seed=0, options=COOP_1)
    for place in range(3):
        observation, *_ = env.step(place)
    assert CANNOT_TELL in env.render()
    assert _spans(observation)[:, SpanColumn.ASKED].sum() == 3
    assert _spans(observation)[:, SpanColumn.INFORMED].sum() == 0


def test_spans_come_from_the_text_of_the_request() -> None:
    found = phrases(
        "Before the audit: which of our old copies, bought before 2018, are in shape? Show copy_id."
    )
    assert [each.text for each in found] == ["audit", "old copies", "bought", "shape", "copy_id"]
    assert [each.number_after for each in found] == [False, False, True, False, False]


def test_statements_of_prediction_files_are_candidates(make: Any, tmp_path: Path) -> None:
    files = []
    for name, sqls in {"one": ["SELECT 1", "SELECT 2"], "two": ["SELECT 2", "SELECT nothing"]}.items():
        files.append(str(tmp_path / f"{name}.jsonl"))
        record = {"instance_id": "coop_1", "sql": sqls, "follow_up_sql": "SELECT 3"}
        Path(files[-1]).write_text(json.dumps(record) + "\n")
    with pytest.warns(UserWarning, match="have no candidates"):
        env = make(candidates=files)
    assert env.unwrapped.instance_ids == ("coop_1",)
    env.reset(seed=0)
    layout = env.unwrapped.layout
    for place in range(3):
        observation, *_ = env.step(layout.execute + place)
    rows = _candidates(observation)
    assert rows[:, CandidateColumn.EXECUTED].sum() == 3
    assert rows[:, CandidateColumn.FAILED].sum() == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prices": ()}, "prices"),
        ({"prices": (-1.0,)}, "prices"),
        ({"refusals": 1.5}, "refusals"),
        ({"max_candidates": 2}, "set max_candidates=4"),
    ],
)
def test_settings_that_cannot_be_are_told(make: Any, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**wrong)


def test_reset_tells_what_it_does_not_know(make: Any) -> None:
    env = make()
    for options in (
        {"task": 1},
        {"instance_id": "x"},
        {"index": 10**6},
        {"index": 0, "instance_id": "coop_1"},
    ):
        with pytest.raises(InputError):
            env.reset(options=options)


def test_flattened_it_is_one_box(make: Any) -> None:
    flat = gymnasium.wrappers.FlattenObservation(make())
    observation, _ = flat.reset(seed=0)
    assert isinstance(flat.observation_space, gymnasium.spaces.Box) and observation in flat.observation_space
