"""Compare policies on the same episodes: returns, share of the optimum, and gain over fixed policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from birdenv.benchmarks.generator import NEW_FORMS_FILE
from birdenv_baselines.optimum import family_optima
from birdenv_baselines.training._benchmark import DEMO, NEW_FORMS, Split
from birdenv_baselines.training._evaluate import Floats, Played, by_price, interval, play
from birdenv_baselines.training._policies import RULES, Policy

TEST_ENVS: Final = 256
VALUE_RULE: Final = "value-of-information"
_PRIVILEGED: Final = "privileged"


@dataclass(frozen=True, slots=True)
class Compared:
    """The results of several policies for the same tasks and prices.

    Attributes:
        fixed: the episodes of each fixed policy, keyed by policy name.
        trained: the episodes of each trained policy, keyed by algorithm, with one entry for each seed.
        best: the best reachable return of each episode; None if it is not known.
    """

    fixed: Mapping[str, Played]
    trained: Mapping[str, Sequence[Played]]
    best: Floats | None

    @property
    def rival(self) -> str:
        """Return the name of the fixed policy that earns most and has no private knowledge."""
        names = [name for name in self.fixed if name != _PRIVILEGED]
        return max(names, key=lambda name: float(self.fixed[name].returns.mean()))


@dataclass(frozen=True, slots=True)
class Line:
    """The results of one policy, or of all trainings of one algorithm.

    Attributes:
        policy: the name of the policy or of the algorithm.
        seeds: the number of trainings; 0 for a fixed policy.
        earned: the mean return per episode.
        low, high: the 95 % interval of the mean return.
        share: the mean return divided by the best reachable mean; None if the best mean is not known.
        questions: the mean number of questions per episode.
        by_price: the mean number of questions at each price.
        gain: the mean difference from `Compared.rival` on the same episodes, and the limits of its 95 %
            interval; None for fixed policies.
    """

    policy: str
    seeds: int
    earned: float
    low: float
    high: float
    share: float | None
    questions: float
    by_price: Mapping[float, float]
    gain: tuple[float, float, float] | None = None


def compare(split: Split, test: str, trained: Mapping[str, Sequence[Played]], value_rule: Policy) -> Compared:
    """Play the fixed policies on the episodes that the trained policies have played.

    Args:
        split: the training and test tasks.
        test: the name of the test, from `split.tests`.
        trained: the results of `play` on `split.test_envs(TEST_ENVS, test)`, keyed by algorithm, with one
            entry for each seed.
        value_rule: the value-of-information rule, with parameters tuned on the training tasks.
    """
    envs = split.test_envs(TEST_ENVS, test)
    fixed = {name: play(envs, make()) for name, make in RULES.items()}
    fixed[VALUE_RULE] = play(envs, value_rule)
    return Compared(fixed, trained, _best_returns(split, test, fixed[VALUE_RULE]))


def _best_returns(split: Split, test: str, played: Played) -> Floats | None:
    """Return the best reachable return of each episode, or None for tasks that people wrote."""
    if test == DEMO:
        return None
    place = split.folder / NEW_FORMS_FILE if test == NEW_FORMS else split.folder
    prices = sorted({round(float(price), 6) for price in played.prices})
    families = family_optima(place, prices, split.refusals, databases=[split.held_out])
    best = {task: family.best for family in families for task in family.tasks}
    return np.array([best[t][round(float(p), 6)] for t, p in zip(played.tasks, played.prices, strict=True)])


def lines(found: Compared) -> list[Line]:
    """Return a line for each policy and for the optimum, in the order of their mean returns."""
    made = [_line(name, [each], found, 0) for name, each in found.fixed.items()]
    made += trained_lines(found)
    if found.best is not None:
        some = found.fixed[found.rival]
        optimum = Played(some.tasks, some.prices, found.best, np.full(len(found.best), np.nan))
        made.append(_line("optimum", [optimum], found, 0))
    return sorted(made, key=lambda line: line.earned)


def trained_lines(found: Compared) -> Iterator[Line]:
    """Yield a line for each algorithm."""
    for name, seeds in found.trained.items():
        yield _line(name, seeds, found, len(seeds))


def joined(parts: Sequence[Compared]) -> Compared | None:
    """Combine comparisons on several databases into one.

    The result contains the algorithms that have the same number of seeds in all comparisons. It is None if
    there are no such algorithms or fewer than two comparisons.
    """
    seeds = [{(name, len(played)) for name, played in part.trained.items()} for part in parts]
    shared = sorted(set.intersection(*seeds))
    if len(parts) < 2 or not shared:
        return None
    fixed = {name: _together([part.fixed[name] for part in parts]) for name in parts[0].fixed}
    trained = {
        name: [_together([part.trained[name][i] for part in parts]) for i in range(count)]
        for name, count in shared
    }
    best = [part.best for part in parts if part.best is not None]
    return Compared(fixed, trained, np.concatenate(best) if len(best) == len(parts) else None)


def _together(parts: Sequence[Played]) -> Played:
    def column(name: str) -> npt.NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts])

    return Played(*(column(field.name) for field in fields(Played)))  # type: ignore[arg-type]


def _line(name: str, played: Sequence[Played], found: Compared, seeds: int) -> Line:
    returns = np.stack([each.returns for each in played])
    families = played[0].families
    gain = None
    if seeds:
        ahead = returns - found.fixed[found.rival].returns
        gain = (float(ahead.mean()), *interval(ahead, families))
    prices = [by_price(each) for each in played]
    return Line(
        name,
        seeds,
        float(returns.mean()),
        *interval(returns, families),
        None if found.best is None else float(returns.mean() / found.best.mean()),
        float(np.mean([each.questions.mean() for each in played])),
        {price: float(np.mean([each[price] for each in prices])) for price in prices[0]},
        gain,
    )
