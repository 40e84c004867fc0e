"""Play policies in batches of episodes, and measure their returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates import CInteractCandidatesVectorEnv, EpisodeColumn
from birdenv_baselines.training._benchmark import family_of
from birdenv_baselines.training._policies import Policy, Rule, grid

Floats = npt.NDArray[np.float64]

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Played:
    """Finished episodes as arrays with one entry for each episode.

    Attributes:
        tasks: the id of the task in each episode.
        prices: the price of a question in each episode.
        returns: the return of each episode.
        questions: the number of questions in each episode.
    """

    tasks: npt.NDArray[np.object_]
    prices: Floats
    returns: Floats
    questions: Floats

    @property
    def families(self) -> npt.NDArray[np.object_]:
        """Return the family of each episode's task."""
        return np.array([family_of(name) for name in self.tasks], dtype=object)


def play(envs: CInteractCandidatesVectorEnv, policy: Policy, *, rounds: int = 8, seed: int = 1) -> Played:
    """Play `rounds` episodes in each environment of a vector environment, and return the results.

    The same seed gives every policy the same tasks and prices.
    """
    n, most = envs.num_envs, max(envs._setting.prices)
    done = np.zeros(n, np.intp)
    returns, questions, prices = (np.zeros((n, rounds)) for _ in range(3))
    tasks = np.full((n, rounds), "", dtype=object)
    observation, infos = envs.reset(seed=seed)
    names = infos["instance_id"].copy()
    everybody = np.arange(n)
    while (done < rounds).any():
        now = np.minimum(done, rounds - 1)
        counts = done < rounds
        tasks[everybody[counts], now[counts]] = names[counts]
        prices[everybody[counts], now[counts]] = observation["episode"][counts, EpisodeColumn.PRICE] * most
        masks = envs.action_masks()
        actions = policy.act(envs, observation, masks)
        asks = actions <= envs.layout.useless
        observation, rewards, ends, _, infos = envs.step(actions)
        returns[everybody[counts], now[counts]] += rewards[counts]
        questions[everybody[counts], now[counts]] += asks[counts]
        done += ends
        names = infos["instance_id"]
    return Played(tasks.ravel(), prices.ravel(), returns.ravel(), questions.ravel())


def tuned_rule(envs: CInteractCandidatesVectorEnv, *, rounds: int = 4) -> tuple[str, Policy]:
    """Return the value-of-information rule that earns most on these tasks, as a pair (parameters, rule)."""
    found = [(play(envs, Rule(wants), rounds=rounds).returns.mean(), name, wants) for name, wants in grid()]
    _, name, wants = max(found, key=lambda each: each[0])
    return name, Rule(wants)


def interval(values: Floats, families: npt.NDArray[np.object_], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by a bootstrap over families and seeds.

    Args:
        values: a value for each episode, shape (episodes,), or for each seed and episode, shape (seeds,
            episodes).
        families: the family of each episode, shape (episodes,).
        seed: the seed for resampling.
    """
    table = np.atleast_2d(values)
    names, places = np.unique(families.astype(str), return_inverse=True)
    sums = np.stack([np.bincount(places, row, len(names)) for row in table])
    counts = np.bincount(places, minlength=len(names)).astype(float)
    rng, means = np.random.default_rng(seed), []
    for _ in range(_RESAMPLES):
        rows = rng.integers(len(table), size=len(table))
        columns = rng.integers(len(names), size=len(names))
        means.append(sums[rows][:, columns].sum() / (len(table) * counts[columns].sum()))
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def by_price(played: Played) -> dict[float, float]:
    """Return the mean number of questions at each price."""
    prices = np.round(played.prices, 6)
    return {float(p): float(played.questions[prices == p].mean()) for p in np.unique(prices)}


def summary(played: Played) -> dict[str, Any]:
    """Return the mean return, its interval, and the number of questions and episodes as a JSON object."""
    low, high = interval(played.returns, played.families)
    return {
        "return": float(played.returns.mean()),
        "low": low,
        "high": high,
        "questions": float(played.questions.mean()),
        "questions_by_price": {f"{price:g}": mean for price, mean in by_price(played).items()},
        "episodes": len(played.returns),
    }
