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

from birdenv.demo import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.envs.candidates import CandidateColumn, EpisodeColumn, SpanColumn
from birdenv.envs.candidates._compiled import CompiledSession
from birdenv.envs.candidates._phase import phrases
from birdenv.envs.candidates._session import CandidatesSession
from birdenv.envs.candidates._setting import CANNOT_TELL
from birdenv.envs.wrappers import HiddenPrice
from birdenv.errors import BenchmarkError, InfrastructureError, InputError

COOP_1 = {"instance_id": "coop_1"}
FEW = {"instances": ["coop_1", "library_4", "library_M_1"]}


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
        check_env(make(**FEW).unwrapped)


def test_the_checker_of_stable_baselines_is_content(make: Any) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(make(**FEW).unwrapped)


def test_masked_and_other_actions_come_to_an_end_and_stay_in_the_space(make: Any) -> None:
    env = make(**FEW)
    ends = [step for step in _walk(env, 3, 12) if len(step) == 5 and step[2]]
    assert len(ends) == 12 and all("status" in step[4] for step in ends)
    _walk(env, 4, 12, legal=False)


SETTINGS = (
    {},
    {"refusals": 0.5, "prices": (0.03, 0.3), "questions": 2},
    {"questions": 0, "execute_sql": False},
)


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("settings", SETTINGS)
def test_without_dialogues_everything_is_the_same(make: Any, settings: dict[str, Any]) -> None:
    compiled, spoken = make(**FEW, **settings), make(render_mode="ansi", **FEW, **settings)
    for seed in range(2):
        for legal in (True, False):
            first, second = (_walk(env, seed, 6, legal=legal) for env in (compiled, spoken))
            assert data_equivalence(first, second)
    assert compiled.unwrapped._tables is not None and spoken.unwrapped._tables is None


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_hundreds_of_episodes_without_dialogues_are_the_same(make: Any, settings: dict[str, Any]) -> None:
    compiled, spoken = make(**settings), make(render_mode="ansi", **settings)
    for legal in (True, False):
        first, second = (_walk(env, 11, 100, legal=legal) for env in (compiled, spoken))
        assert data_equivalence(first, second)


def test_what_a_batch_has_compiled_is_not_compiled_again(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = {"instances": ["library_2"]}
    gymnasium.make_vec("birdenv/CInteractCandidates-v0", **tasks).close()
    monkeypatch.setattr(
        "birdenv.envs.candidates._tables.compile_task", lambda *_: pytest.fail("compiled again")
    )
    _walk(make(**tasks), 0, 2)


def test_what_single_environments_have_compiled_is_kept(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = {"instances": ["coop_2", "library_3"]}
    env = make(**tasks)
    for place in (1, 0):
        env.reset(options={"index": place})
    monkeypatch.setattr(
        "birdenv.envs.candidates._tables.compile_task", lambda *_: pytest.fail("compiled again")
    )
    _walk(make(**tasks), 0, 4)
    batch = gymnasium.make_vec("birdenv/CInteractCandidates-v0", **tasks)
    assert batch.reset(seed=3)[1]["instance_id"] == [make(**tasks).reset(seed=3)[1]["instance_id"]]
    batch.close()


def test_the_seed_decides_everything(make: Any) -> None:
    first, again, other = (_walk(make(refusals=0.5, **FEW), seed, 4) for seed in (5, 5, 6))
    assert data_equivalence(first, again)
    assert not data_equivalence(first, other)


@pytest.mark.slow
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


@pytest.mark.parametrize("price", [-1, float("nan"), float("inf"), True, "a"])
def test_what_is_no_price_is_refused(make: Any, price: Any) -> None:
    for prices in ((price,), price):
        with pytest.raises(InputError, match="each at least 0"):
            make(prices=prices)
    with pytest.raises(InputError, match="price must be a finite number"):
        make().reset(options={"price": price})


def test_the_budget_is_the_same_in_every_task(make: Any) -> None:
    env = make(questions=4, render_mode="ansi").unwrapped
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
    env = make(render_mode="ansi").unwrapped
    orders = set()
    for seed in range(8):
        env.reset(seed=seed, options=COOP_1)
        orders.add(tuple(env._session.order[:4]))
    assert len(orders) > 4


def test_a_helpful_answer_tells_candidates_apart(make: Any) -> None:
    env = make(render_mode="ansi")
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


def test_other_statements_for_the_follow_up_are_compiled_anew(make: Any, tmp_path: Path) -> None:
    with (demo_folder() / DEMO_C_INTERACT_FILE).open() as tasks:
        [gold] = json.loads(next(tasks))["sol_sql"]
    file = tmp_path / "predictions.jsonl"
    counts = []
    for follow_up in ([], ["SELECT 1", "SELECT 2"]):
        record = {"instance_id": "library_1", "sql": gold, "follow_up_sql": follow_up}
        file.write_text(json.dumps(record) + "\n")
        env = make(candidates=str(file), instances=["library_1"])
        env.reset(seed=0)
        observation, reward, *_ = env.step(env.unwrapped.layout.submit)
        assert reward == 0.7
        counts.append(_candidates(observation)[:, CandidateColumn.EXISTS].sum())
    assert counts == [0, 2]


def test_a_candidate_that_cannot_be_submitted_is_played_in_dialogues(make: Any, tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    too_long = "SELECT 1 -- " + "x" * 2**16
    file.write_text(json.dumps({"instance_id": "coop_1", "sql": ["SELECT 1", too_long]}) + "\n")
    settings = {"candidates": str(file), "instances": ["coop_1"]}
    compiled, spoken = make(**settings), make(render_mode="ansi", **settings)
    assert data_equivalence(_walk(compiled, 0, 4), _walk(spoken, 0, 4))
    with pytest.raises(BenchmarkError, match=r"coop_1 cannot be graded \(candidate 2 is too long\)"):
        gymnasium.make_vec("birdenv/CInteractCandidates-v0", **settings)


def test_after_a_loss_the_next_episode_compiles_again(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any) -> None:
        raise InfrastructureError("the server is gone")

    env = make(instances=["library_5"])
    with monkeypatch.context() as patched:
        patched.setattr("birdenv.envs.candidates._tables.compile_task", lost)
        first = _walk(env, 1, 1)
        assert isinstance(env.unwrapped._session, CandidatesSession)
    assert data_equivalence(first, _walk(env, 1, 1))
    assert isinstance(env.unwrapped._session, CompiledSession)


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
    flat = gymnasium.wrappers.FlattenObservation(make(**FEW))
    observation, _ = flat.reset(seed=0)
    assert isinstance(flat.observation_space, gymnasium.spaces.Box) and observation in flat.observation_space
