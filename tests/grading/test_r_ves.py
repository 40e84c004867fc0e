"""R-VES: rewards by ratio, outliers, the traps of the published code; measuring on real SQLite."""

from typing import Any

import pytest

from birdenv.databases import Limits
from birdenv.grading import measure_speed, r_ves, time_ratio

# Ratios alternate a little around the middle, because equal ones score nothing.
REWARDS = {
    "twice as fast": (2.1, 1.1180),
    "exactly twice": (2.0, 1.1180),
    "a little faster": (1.2, 1.0),
    "as fast": (1.0, 1.0),
    "a little slower": (0.9, 0.8660),
    "half as fast": (0.5, 0.8660),
    "a third": (0.33, 0.7071),
    "a quarter": (0.25, 0.7071),
    "a tenth": (0.1, 0.5),
}


@pytest.mark.parametrize(("ratio", "score"), REWARDS.values(), ids=REWARDS.keys())
def test_the_score_is_the_square_root_of_the_reward(ratio: float, score: float) -> None:
    gold = [ratio * 1.0000001, ratio * 1.0000002] * 50
    assert r_ves(gold, [1.0] * 100) == pytest.approx(score, abs=1e-4)


def test_ratios_beyond_three_sigma_are_left_out() -> None:
    gold = [1.0, 1.2] * 49 + [1.0, 1000.0]
    assert time_ratio(gold, [1.0] * 100) == pytest.approx((49 * 1.0 + 49 * 1.2 + 1.0) / 99)


def test_identical_ratios_score_nothing_as_in_the_published_code() -> None:
    assert r_ves([1.0] * 100, [0.5] * 100) == 0.0
    assert r_ves([3.0], [1.0]) == 0.0


def test_no_time_no_score() -> None:
    assert r_ves([], []) == 0.0
    assert r_ves([1.0, 2.0], [0.0, 1.0]) == 0.0
    with pytest.raises(ValueError, match="zip"):
        r_ves([1.0, 2.0], [1.0])


def test_both_queries_run_in_turn_on_fresh_databases(source: Any) -> None:
    measured = measure_speed(source, "shop", "SELECT name FROM item", "SELECT 1", runs=3)
    assert (len(measured.gold_seconds), len(measured.pred_seconds), source.opened) == (3, 3, 6)
    assert measured.score == r_ves(measured.gold_seconds, measured.pred_seconds) > 0


def test_a_query_that_fails_or_takes_too_long_scores_nothing(source: Any) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    measured = measure_speed(source, "shop", "SELECT 1", endless, runs=3, limits=Limits(seconds=0.2))
    assert measured.score == 0.0
    assert "timeout" in measured.error
    assert source.opened == 1
    assert measure_speed(source, "shop", "SELECT x", "SELECT 1", runs=3).score == 0.0
