"""The optimum of candidate families: by hand, by brute force, and never below what a policy earns."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from birdenv_baselines.optimum import best_return, family_optima, submit_value
from typer.testing import CliRunner

from birdenv.benchmarks import demo_folder
from birdenv.benchmarks.generator import generate
from birdenv.errors import InputError


def test_a_blind_guess_is_paid_at_both_attempts() -> None:
    assert submit_value(1) == 1.0
    assert submit_value(2) == pytest.approx(0.5 * 1.0 + 0.5 * 0.8)
    assert submit_value(8) == pytest.approx(1.8 / 8)


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
    assert best_return(points, price) == pytest.approx(expected)


def _by_worlds(points: tuple[int, ...], price: float, refusals: float, questions: int) -> float:
    """The same by beliefs over worlds: what is meant by each point, and which points are refused."""
    worlds = tuple(product(*(range(k) for k in points)))

    @cache
    def value(belief: frozenset[Any], asked: frozenset[int], left: int) -> float:
        best = submit_value(len(belief))
        for point in range(len(points) if left else 0):
            if point in asked:
                continue
            then = asked | {point}
            told = 0.0
            for meaning in range(points[point]):
                kept = frozenset(world for world in belief if world[point] == meaning)
                told += len(kept) / len(belief) * value(kept, then, left - 1) if kept else 0.0
            best = max(best, (1 - refusals) * told + refusals * value(belief, then, left - 1) - price)
        return best

    return value(frozenset(worlds), frozenset(), questions)


@pytest.mark.parametrize("points", [(2,), (3, 2), (2, 2, 3)])
@pytest.mark.parametrize("refusals", [0.0, 0.3])
@pytest.mark.parametrize("questions", [1, 2, 6])
def test_it_is_the_optimum_over_beliefs(points: tuple[int, ...], refusals: float, questions: int) -> None:
    for price in (0.02, 0.1, 0.3):
        expected = _by_worlds(points, price, refusals, questions)
        assert best_return(points, price, refusals, questions) == pytest.approx(expected)


@pytest.mark.slow
def test_the_command_prints_it_for_a_generated_benchmark(tmp_path: Path) -> None:
    from birdenv.cli._main import app

    made = generate(tmp_path / "out", tasks=20, seed=2)
    figures = tmp_path / "figures.json"
    done = CliRunner().invoke(app, ["baselines", "optimum", str(tmp_path / "out"), "--out", str(figures)])
    assert done.exit_code == 0, done.output
    families = json.loads(figures.read_text())
    assert len(families) == len(made.families)
    assert sum(len(family["tasks"]) for family in families) == len(made.records)
    for family in families:
        assert family["never_asks"] <= min(family["best"].values()) <= 1.0


def test_without_all_meanings_there_is_no_optimum_to_tell() -> None:
    with pytest.raises(InputError, match="generated benchmarks only"):
        family_optima(demo_folder(), (0.1,))
