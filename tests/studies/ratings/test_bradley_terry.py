"""Rankings: a planted order is found, intervals cover the truth, and what is not defined is said."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random

import numpy as np
import pytest

from birdenv.studies.ratings._bradley_terry import rank_players
from birdenv.studies.ratings._judgements import BlindChoice

STRENGTHS = {"a": 1.0, "b": 0.4, "c": 0.0, "d": -0.5, "e": -0.9}
TIES = 0.25


def planted(seed: int, number: int, raters: int = 5, ties: float = 0.0) -> list[BlindChoice]:
    """Choices drawn from the model of Bradley and Terry, some of them replaced by ties."""
    rng = Random(seed)
    made = []
    for _ in range(number):
        left, right = rng.sample(list(STRENGTHS), 2)
        first, second = exp(STRENGTHS[left]), exp(STRENGTHS[right])
        [winner] = rng.choices(("left", "right"), (first, second))
        if rng.random() < ties:
            winner = rng.choice(("tie", "both_bad"))
        made.append(BlindChoice(left, right, winner, f"r{rng.randrange(raters)}"))
    return made


def covered(seeds: Sequence[int], number: int) -> float:
    """How often an interval holds the planted strength."""
    hits = []
    for seed in seeds:
        for each in rank_players(planted(seed, number)).standings:
            interval = each.strength.interval
            assert interval is not None
            hits.append(interval.low <= STRENGTHS[each.player] <= interval.high)
    return float(np.mean(hits))


def test_a_planted_order_is_found() -> None:
    found = rank_players(planted(0, 3000))
    assert [each.player for each in found.standings] == list(STRENGTHS)
    assert [each.rank.value for each in found.standings] == [1, 2, 3, 4, 5]
    for each in found.standings:
        assert each.strength.value == pytest.approx(STRENGTHS[each.player], abs=0.15)
    with_ties = rank_players(planted(0, 3000, ties=TIES))
    assert [each.player for each in with_ties.standings] == list(STRENGTHS)
    assert with_ties.tie.value == pytest.approx(TIES, abs=0.03)
    interval = with_ties.tie.interval
    assert interval is not None and interval.low < TIES < interval.high


def test_intervals_cover_the_truth_in_a_few_seeds() -> None:
    assert 0.85 <= covered(range(6), 400) <= 1


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    assert 0.92 <= covered(range(100), 400) <= 0.98


def test_the_maximum_of_the_likelihood_is_found() -> None:
    """Two players: the strengths' difference is the log of the wins' ratio, ties being half a win of each."""
    choices = [
        BlindChoice("a", "b", winner, "r")
        for winner, n in (("left", 300), ("right", 100), ("tie", 200))
        for _ in range(n)
    ]
    found = rank_players(choices)
    strengths = {each.player: each.strength.value for each in found.standings}
    assert strengths["a"] - strengths["b"] == pytest.approx(np.log(400 / 200), abs=1e-3)  # type: ignore[operator]
    assert found.tie.value == pytest.approx(200 / 600)


def test_sides_do_not_matter() -> None:
    turned = {"left": "right", "right": "left"}
    choices = planted(1, 300)
    other = [BlindChoice(b, a, turned.get(w, w), *rest) for a, b, w, *rest in choices]
    assert rank_players(choices) == rank_players(other)


def test_many_raters_are_resampled_whole() -> None:
    """Ten people of opposite tastes who each vote fifty times are ten votes, not five hundred."""
    choices = [
        BlindChoice("a", "b", "left" if rater % 2 else "right", f"r{rater}")
        for rater in range(10)
        for _ in range(50)
    ]
    by_rater = rank_players(choices)
    assert by_rater.resampled == "raters"
    wide = by_rater.standings[0].strength.interval
    narrow = rank_players([each._replace(rater="r") for each in choices]).standings[0].strength.interval
    assert wide is not None and narrow is not None
    assert wide.high - wide.low > 4 * (narrow.high - narrow.low)


def choices_of(text: str) -> list[BlindChoice]:
    """`a>b a=b`: a won against b, and they tied."""
    return [
        BlindChoice(each[0], each[2], {">": "left", "<": "right", "=": "tie"}[each[1]], "r")
        for each in text.split()
    ]


def test_a_player_that_always_wins_has_a_rank_and_no_strength() -> None:
    found = {each.player: each for each in rank_players(choices_of("a>b a>c b>c c>b b=c d<b d<c")).standings}
    assert found["a"].rank.value == 1 and "never lost" in found["a"].strength.why
    assert found["d"].rank.value == 4 and "never won" in found["d"].strength.why
    assert found["a"].strength.value is found["d"].strength.value is None
    assert found["b"].strength.value == pytest.approx(0) and found["b"].rank.value == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no comparisons"),
        ("a=b b=c", "every comparison is a tie"),
        ("a>b b>c a>c", "no player lost, directly or indirectly"),
        ("a>a", "no comparisons between two players"),
    ],
)
def test_undefined_rankings_are_said_in_words(text: str, why: str) -> None:
    found = rank_players(choices_of(text))
    assert why in found.why and all(each.strength.value is None for each in found.standings)
    assert found.left_out == (text == "a>a")


@pytest.mark.parametrize(
    ("text", "tie"),
    [
        ("a>b b>a", "there were no ties"),
        ("a>b b>c c>a d=e", "every tie involves a player that has no strength"),
        ("a=b b=c c=d x>y y>x", "every tie involves a player that has no strength"),
        ("a>b b=a", "only 2 comparisons: an interval needs at least 5"),
    ],
)
def test_ties_and_few_comparisons_are_told_as_they_are(text: str, tie: str) -> None:
    found = rank_players(choices_of(text))
    assert found.why == "" and found.tie.why == tie
    assert (found.tie.value is None) == ("no strength" in tie)
    assert all(each.strength.interval is each.rank.interval is None for each in found.standings)


def test_raters_who_all_chose_alike_give_no_interval() -> None:
    both = choices_of("a>b a>b b>a")
    found = rank_players([each._replace(rater=f"r{n}") for n in range(12) for each in both]).standings[0]
    assert found.strength.value is not None and found.strength.interval is found.rank.interval is None
    assert "all resamples of raters are equal" in found.strength.why


def test_players_that_nothing_connects_have_no_common_rank() -> None:
    found = {each.player: each for each in rank_players(choices_of("a>b b>a a>b x>y y>x")).standings}
    assert (
        found["a"].rank.value is None
        and found["a"].rank.why == "no comparisons connect this player with x, y"
    )
    assert found["a"].strength.value is not None and found["x"].strength.value is None


def test_raters_are_resampled_only_where_ten_judged_those_that_are_ranked() -> None:
    ranked = [BlindChoice("a", "b", winner, "r0") for winner in ("left", "right", "left") * 2]
    made = rank_players([*ranked, *(BlindChoice("a", "z", "left", f"r{n}") for n in range(10))])
    interval = made.standings[0].strength.interval
    assert made.resampled == "comparisons" and interval is not None and interval.low < interval.high
