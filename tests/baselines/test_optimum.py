"""The optimum of candidate families: by hand, by another recursion, and with answers that tell more."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from birdenv_baselines.optimum import Worlds, best_returns, family_optima, submit_value
from typer.testing import CliRunner

from birdenv.benchmarks.generator import generate
from birdenv.demo import demo_folder
from birdenv.errors import InputError


def _worlds(points: tuple[int, ...], refusals: float = 0.0) -> Worlds:
    """A family in which each question settles one point, if the user can tell it."""
    meant = list(product(*map(range, points)))
    refused = list(product((False, True), repeat=len(points) if refusals else 0))
    pairs = list(product(range(len(meant)), refused))
    chances = [prod(refusals if no else 1 - refusals for no in which) / len(meant) for _, which in pairs]
    answers = [
        [-1 if which and which[point] else meant[world][point] for world, which in pairs]
        for point in range(len(points))
    ]
    right = np.eye(len(meant), dtype=np.bool_)[[world for world, _ in pairs]]
    return Worlds(np.array(chances), right, np.array(answers, np.intp).reshape(len(points), len(pairs)))


@pytest.mark.parametrize(("meanings", "expected"), [(1, 1.0), (2, 0.5 * 1.0 + 0.5 * 0.8), (8, 1.8 / 8)])
def test_a_blind_guess_is_paid_at_both_attempts(meanings: int, expected: float) -> None:
    worlds = _worlds((meanings,))
    assert submit_value(worlds.chances, worlds.right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("points", "price", "expected"),
    [
        ((), 0.05, 1.0),
        ((2,), 0.05, 0.95),
        ((2,), 0.2, 0.9),
        ((3,), 0.2, 0.8),
        ((2, 2), 0.2, 0.7),  # one question, then one guess of two
        ((2, 3), 0.2, 0.7),  # the point with three meanings first
        ((2, 2, 2), 0.02, 0.94),
    ],
)
def test_small_families_by_hand(points: tuple[int, ...], price: float, expected: float) -> None:
    assert best_returns(_worlds(points), [price]) == pytest.approx((expected,))


def _by_meanings(points: tuple[int, ...], price: float, refusals: float = 0.0, questions: int = 6) -> float:
    """The same by how many meanings are left: of points not asked about, and of refused ones together."""

    @cache
    def value(unasked: tuple[int, ...], others: int, left: int) -> float:
        count = prod(unasked) * others
        best = 1.8 / count if count > 1 else 1.0
        for place in range(len(unasked) if left else 0):
            rest = unasked[:place] + unasked[place + 1 :]
            told, refused = value(rest, others, left - 1), value(rest, others * unasked[place], left - 1)
            best = max(best, (1 - refusals) * told + refusals * refused - price)
        return best

    return value(points, 1, questions)


@pytest.mark.parametrize("points", [(2,), (3, 2), (2, 2, 3)])
@pytest.mark.parametrize("refusals", [0.0, 0.3])
@pytest.mark.parametrize("questions", [1, 2, 6])
def test_it_is_the_optimum_over_meanings(points: tuple[int, ...], refusals: float, questions: int) -> None:
    prices = (0.02, 0.1, 0.3)
    expected = [_by_meanings(points, price, refusals, questions) for price in prices]
    assert best_returns(_worlds(points, refusals), prices, questions) == pytest.approx(tuple(expected))


def test_an_answer_that_tells_of_two_points_makes_more_possible() -> None:
    worlds = _worlds((2, 2))
    everything = np.array([[0, 1, 2, 3]])
    telling = Worlds(worlds.chances, worlds.right, np.concatenate([worlds.answers, everything]))
    assert best_returns(worlds, [0.05]) == pytest.approx((0.9,))
    assert best_returns(telling, [0.05]) == pytest.approx((0.95,))


@pytest.mark.slow
def test_the_command_prints_it_for_a_generated_benchmark(tmp_path: Path) -> None:
    from birdenv.cli._main import app

    made = generate(tmp_path / "out", tasks=9, seed=11)
    figures = tmp_path / "figures.json"
    done = CliRunner().invoke(app, ["baselines", "optimum", str(tmp_path / "out"), "--out", str(figures)])
    assert done.exit_code == 0, done.output
    families = json.loads(figures.read_text())
    assert len(families) == len(made.families)
    assert sum(len(family["tasks"]) for family in families) == len(made.records)
    for family in families:
        assert family["never_asks"] <= min(family["best"].values()) <= 1.0
        for price, best in family["best"].items():  # some phrase of the request settles each point
            assert best >= _by_meanings(tuple(family["points"]), float(price)) - 1e-9


def test_without_all_meanings_there_is_no_optimum_to_tell() -> None:
    with pytest.raises(InputError, match="known only for generated benchmarks"):
        family_optima(demo_folder(), (0.1,))
