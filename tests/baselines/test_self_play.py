"""Two learners: what a policy learns, what pairs earn, and what strangers do."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from birdenv_baselines.self_play import Pair, Policy, Prices, cross_play, evaluate, train
from birdenv_baselines.self_play._matrix import code_gap, write_csv
from birdenv_baselines.self_play._train import game

from birdenv.dialogue import Arena

TASKS = ("library_1", "library_4", "coop_6", "library_2", "coop_1", "bikeshare_1")


@pytest.fixture
def arena() -> Iterator[Arena]:
    with game(Prices(), {"instances": TASKS}) as opened:
        yield opened


def test_a_policy_learns_which_yes_pays() -> None:
    policy, rng = Policy(("good", "bad")), Random(0)
    for _ in range(2000):
        good, bad = policy.decide([1.0, 0.0], rng), policy.decide([0.0, 1.0], rng)
        policy.learn(float(good) - 0.3 * float(bad))
    assert policy.chance([1.0, 0.0]) > 0.95 and policy.chance([0.0, 1.0]) < 0.05


@pytest.mark.slow
def test_a_user_that_tells_what_matters_earns_more(arena: Arena) -> None:
    silent, helpful, chatty = (Pair() for _ in range(3))
    for pair in (silent, helpful, chatty):
        pair.system.weights[:] = [9.0, -9.0, 0.0, 0.0]  # one question
    silent.user.weights[:] = -9.0
    helpful.user.weights[:] = [9.0, -9.0, 9.0, -9.0]
    chatty.user.weights[:] = 9.0
    rewards = [evaluate(arena, pair).user for pair in (silent, helpful, chatty)]
    assert rewards[1] > rewards[2] > rewards[0]
    matrix = cross_play(arena, [silent, helpful])
    assert matrix[0, 1] == matrix[1, 1] == pytest.approx(rewards[1])  # the systems are alike
    assert matrix[0, 0] == matrix[1, 0] == pytest.approx(rewards[0])


@pytest.mark.slow
def test_the_same_seed_learns_the_same(arena: Arena) -> None:
    pairs = [Pair(), Pair(), Pair()]
    curves = [train(arena, pair, 12, seed=seed) for pair, seed in zip(pairs, (1, 1, 2), strict=True)]
    assert curves[0] == curves[1] != curves[2]
    assert np.array_equal(pairs[0].user.weights, pairs[1].user.weights)
    teacher = Pair()
    train(arena, teacher, 12, seed=1, who="system")
    assert not teacher.user.weights.any() and teacher.system.weights.any()


@pytest.mark.slow
def test_both_learn_to_ask_once_and_to_tell_what_matters() -> None:
    with game(Prices()) as arena:
        pair = Pair()
        before = evaluate(arena, pair)
        train(arena, pair, 600, seed=0)
        after = evaluate(arena, pair)
    assert after.system > before.system + 0.15 and after.questions < 2
    chance = {name: pair.user.chance(list(row)) for name, row in zip(pair.user.names, np.eye(4), strict=True)}
    assert chance["not asked, matters"] > 0.8 > 0.5 > chance["not asked, a detail"]


@pytest.mark.slow
def test_a_zero_sum_user_teaches_the_system_not_to_ask() -> None:
    with game(Prices("zero_sum"), {"instances": TASKS}) as arena:
        pair = Pair()
        train(arena, pair, 600, seed=0)
        assert evaluate(arena, pair).questions < 0.5


def test_the_population_matrix_in_files(tmp_path: Path) -> None:
    matrix = np.array([[0.9, 0.5], [0.6, 0.8]])
    assert code_gap(matrix) == pytest.approx(0.3)
    write_csv(matrix, tmp_path / "new" / "population.csv")
    rows = list(csv.reader((tmp_path / "new" / "population.csv").open(encoding="utf-8")))
    assert rows == [
        ["system", "user 0", "user 1"],
        ["system 0", "0.9000", "0.5000"],
        ["system 1", "0.6000", "0.8000"],
    ]
