"""Intervals and tests against published numbers, closed forms, scipy 1.17, and what must always hold."""

from __future__ import annotations

from itertools import combinations, product
from math import sqrt
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birdenv.statistics import (
    Ratio,
    bootstrap,
    bootstrap_test,
    mcnemar,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    ratio_figure,
    wilson,
)


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombes_published_intervals(passed: int, total: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17:857, table I, method 3."""
    assert wilson(passed, total) == pytest.approx((low, high), abs=5e-5)


def test_wilson_at_the_ends_has_a_closed_form() -> None:
    """At n of n the score equation is (1 - p)^2 = z^2 p (1 - p) / n, so p = n / (n + z^2)."""
    assert wilson(10, 10) == pytest.approx((10 / (10 + 1.959964**2), 1.0), abs=1e-6)
    assert wilson(0, 0) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_solves_the_score_equation(case: tuple[int, int]) -> None:
    passed, total = case
    found = wilson(passed, total)
    assert found is not None
    rate = passed / total
    assert 0 <= found.low <= rate <= found.high <= 1
    for end in found:
        if 0 < end < 1:
            assert abs(rate - end) / sqrt(end * (1 - end) / total) == pytest.approx(1.959964, abs=1e-4)
    mirrored = wilson(total - passed, total)
    assert mirrored == pytest.approx((1 - found.high, 1 - found.low))


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        (1, 7, 0.0703125),  # 2 (1 + 8) / 2^8; airway data of Bentur 2009 in Fagerland et al. 2013: 0.070
        (0, 5, 0.0625),  # 2 / 2^5
        (3, 3, 1.0),
        (0, 0, 1.0),
        (6, 16, 0.052478790283203125),  # the rest: scipy.stats.binomtest(only_a, only_a + only_b).pvalue
        (86, 150, 3.7159361395713866e-05),
        (400, 460, 0.04416954819458914),
    ],
)
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar(only_a, only_b) == pytest.approx(p, rel=1e-12)
    assert mcnemar(only_b, only_a) == mcnemar(only_a, only_b)


def test_mcnemar_of_thousands_of_tasks() -> None:
    """The normal approximation with continuity correction: z = 199 / sqrt(10200), two-sided p = 0.0488."""
    assert mcnemar(5000, 5200) == pytest.approx(0.0488, abs=2e-4)
    assert mcnemar(0, 5000) == 0.0


@pytest.mark.parametrize(
    ("table", "interval"),
    [
        ((1, 7, 1, 12), (-0.507, -0.026)),  # Fagerland et al. 2014, airway data: 8/21 and 2/21
        ((1, 1, 7, 12), (0.026, 0.507)),
    ],
)
def test_paired_difference_gives_published_intervals(
    table: tuple[int, int, int, int], interval: tuple[float, float]
) -> None:
    assert paired_difference(*table) == pytest.approx(interval, abs=5e-4)


counts = st.integers(0, 60)


@given(counts, counts, counts, counts)
def test_paired_difference_always_holds_the_difference(both: int, a: int, b: int, neither: int) -> None:
    total = both + a + b + neither
    found = paired_difference(both, a, b, neither)
    if total == 0:
        assert found is None
        return
    assert found is not None
    assert -1 <= found.low <= (b - a) / total + 1e-12
    assert (b - a) / total - 1e-12 <= found.high <= 1
    swapped = paired_difference(both, b, a, neither)
    assert swapped == pytest.approx((-found.high, -found.low))


def test_equal_runs_do_not_differ() -> None:
    found = paired_difference(20, 0, 0, 10)
    assert found is not None
    assert found.low < 0 < found.high
    assert mcnemar(0, 0) == 1.0


VALUES = [0.7, 1, 0, 0.5, 1, 1, 0, 0.7, 0.2, 0.5, 1, 0]


def test_the_plain_bootstrap_gives_what_scipy_gives() -> None:
    """scipy.stats.bootstrap(method="percentile", n_resamples=200_000): 0.325 to 0.7667."""
    assert bootstrap(VALUES, range(len(VALUES))) == pytest.approx((0.325, 0.7667), abs=0.01)


def test_the_plain_bootstrap_of_many_values_is_the_normal_interval() -> None:
    values = [(7 * number % 101) / 101 for number in range(404)]
    half = 1.96 * stdev(values) / sqrt(len(values))
    assert bootstrap(values, range(404)) == pytest.approx(
        (fmean(values) - half, fmean(values) + half), abs=0.003
    )


def test_clusters_are_resampled_whole() -> None:
    """All 5^5 resamples of five clusters of different sizes, counted out, have these percentiles."""
    clusters = [[1.0, 1.0, 0.0], [0.0], [1.0] * 6, [0.0, 0.0, 1.0, 0.0], [0.5, 1.0]]
    means = [
        sum(sum(cluster) for cluster in drawn) / sum(len(cluster) for cluster in drawn)
        for drawn in product(clusters, repeat=5)
    ]
    values = [value for cluster in clusters for value in cluster]
    names = [number for number, cluster in enumerate(clusters) for _ in cluster]
    exact = np.percentile(means, [2.5, 97.5])
    assert bootstrap(values, names) == pytest.approx(exact, abs=0.01)


def test_clusters_widen_the_interval_of_values_that_go_together() -> None:
    values = [float(database % 2) for database in range(12) for _ in range(20)]
    tasks = bootstrap(values, range(len(values)))
    databases = bootstrap(values, [number // 20 for number in range(len(values))])
    assert tasks is not None
    assert databases is not None
    assert databases.high - databases.low > 3 * (tasks.high - tasks.low)


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([1.0], ["a"]), ([0.0, 1.0], ["a", "a"])])
def test_nothing_to_resample(values: list[float], clusters: list[str]) -> None:
    assert bootstrap(values, clusters) is None
    assert bootstrap_test(values, clusters) is None


def test_means_that_do_not_vary_have_no_interval_except_rates_of_0_and_1() -> None:
    clusters = [number // 2 for number in range(40)]
    for rate in (0, 1):
        values = [float(rate)] * 40
        assert bootstrap(values, clusters) is None
        assert bootstrap(values, clusters, is_rate=True) == wilson(rate * 20, 20)
        assert bootstrap(values, clusters, is_rate=True) == (
            ratio_figure([Ratio(value) for value in values], clusters, is_rate=True).interval
        )
    assert bootstrap([0.0, 1.0] * 20, clusters, is_rate=True) is None  # every cluster has the mean 0.5
    assert bootstrap([1.0, 1.0], "aa", is_rate=True) is None


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abcdef")), min_size=2, max_size=40))
def test_the_bootstrap_stays_within_the_values_and_moves_with_them(data: list[tuple[float, str]]) -> None:
    values, clusters = [value for value, _ in data], [cluster for _, cluster in data]
    found = bootstrap(values, clusters)
    if len(set(clusters)) < 2:
        assert found is None
        return
    if found is None:
        means = [fmean(value for value, name in data if name == each) for each in set(clusters)]
        assert max(means) - min(means) < 1e-6
        return
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert bootstrap(values, clusters) == found
    moved = bootstrap([2 * value - 1 for value in values], clusters)
    assert moved == pytest.approx((2 * found.low - 1, 2 * found.high - 1), abs=1e-9)
    forward = bootstrap_test(values, clusters)
    backward = bootstrap_test([-value for value in values], clusters)
    assert forward is not None
    assert backward is not None
    assert forward.p == backward.p


def test_bootstrap_test_agrees_with_the_normal_test() -> None:
    """Mean 0.2, standard error 0.0995 (10 values of +1 less than 40 pairs): z = 2.0, p = 0.045."""
    differences = [1.0] * 60 + [-1.0] * 40
    found = bootstrap_test(differences, range(100))
    assert found is not None
    assert found.p == pytest.approx(0.045, abs=0.012)
    assert found.interval == pytest.approx((0.2 - 1.96 * 0.098, 0.2 + 1.96 * 0.098), abs=0.012)


def test_few_clusters_prove_nothing() -> None:
    differences = [0.5] * 30
    three = bootstrap_test(differences, [number % 3 for number in range(30)])
    many = bootstrap_test(differences, range(30))
    assert three is not None
    assert many is not None
    assert three.p == 0.25
    assert many.p == pytest.approx(2 / 10_001)
    nothing = bootstrap_test([0.0] * 30, range(30))
    assert nothing is not None
    assert nothing.p == 1.0


@given(
    st.lists(st.booleans(), min_size=1, max_size=7).flatmap(
        lambda episodes: st.tuples(st.just(episodes), st.integers(1, len(episodes)))
    )
)
def test_pass_rates_are_means_over_all_choices_of_k_attempts(case: tuple[list[bool], int]) -> None:
    """The estimators are unbiased because they average over every subset of k of the n attempts."""
    episodes, k = case
    subsets = list(combinations(episodes, k))
    n, c = len(episodes), sum(episodes)
    assert pass_hat_k(n, c, k) == pytest.approx(fmean(all(subset) for subset in subsets))
    assert pass_at_k(n, c, k) == pytest.approx(fmean(any(subset) for subset in subsets))
    assert pass_hat_k(n, c, 1) == pytest.approx(pass_at_k(n, c, 1)) == pytest.approx(c / n)
