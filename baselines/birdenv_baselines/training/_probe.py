"""A probe for leaks: does an observation before any question reveal which meaning is right?

The probe is a linear model on the features of each candidate that fits the request. Before any question, it
must not be better than a random guess. After the answers about all ambiguities, it must be much better;
otherwise, the probe would be too weak to find a leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates import CandidateColumn, CInteractCandidatesVectorEnv
from birdenv_baselines.training._benchmark import family_of
from birdenv_baselines.training._evaluate import interval
from birdenv_baselines.training._policies import Privileged

Floats = npt.NDArray[np.float64]
_RIDGE = 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """How often a probe finds the right meaning.

    Attributes:
        right: the share of episodes in which the probe chooses the right candidate.
        low, high: the 95 % interval of this share.
        chance: the expected share for a random guess among the candidates that can be right.
    """

    right: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True)
class _Views:
    """The candidates of n episodes as the system sees them, with the labels for the probe.

    Attributes:
        features: the features of the candidates. Shape (n, candidates, features).
        possible: which candidates are right in some task with the same request. Shape (n, candidates).
        meant: the index of the right candidate. Shape (n,).
        families: the family of each task. Shape (n,).
    """

    features: Floats
    possible: npt.NDArray[np.bool_]
    meant: npt.NDArray[np.intp]
    families: npt.NDArray[np.object_]


def probe(
    train: CInteractCandidatesVectorEnv,
    test: CInteractCandidatesVectorEnv,
    *,
    answered: bool = False,
    shuffled: bool = False,
    rounds: int = 4,
) -> Found:
    """Fit the probe on one batch of episodes, and return how often it is right on another batch.

    Args:
        train, test: vector environments with different families.
        answered: True to use observations after the answers about all ambiguities; False to use observations
            before any question.
        shuffled: True to fit the probe to random labels, for comparison.
        rounds: the number of episodes in each environment.
    """
    seen, views = (_views(envs, answered, rounds) for envs in (train, test))
    meant = seen.meant
    if shuffled:
        draws = np.random.default_rng(0).random(seen.possible.shape)
        meant = np.where(seen.possible, draws, -1.0).argmax(axis=1)
    labels = np.zeros(seen.possible.shape)
    labels[np.arange(len(meant)), meant] = 1.0
    labels -= 1.0 / seen.possible.sum(axis=1, keepdims=True)
    rows = seen.features[seen.possible]
    weights = np.linalg.solve(rows.T @ rows + _RIDGE * np.eye(rows.shape[1]), rows.T @ labels[seen.possible])
    guess = np.where(views.possible, views.features @ weights, -np.inf).argmax(axis=1)
    right = (guess == views.meant).astype(float)
    chance = float((1.0 / views.possible.sum(axis=1)).mean())
    return Found(float(right.mean()), *interval(right, views.families), chance)


def _views(envs: CInteractCandidatesVectorEnv, answered: bool, rounds: int) -> _Views:
    parts = [_look(envs, answered, seed * envs.num_envs) for seed in range(rounds)]
    shown, possible, meant, tasks = (np.concatenate(part) for part in zip(*parts, strict=True))
    is_open = possible.sum(axis=1) > 1
    shown, possible, meant, tasks = (part[is_open] for part in (shown, possible, meant, tasks))
    count = possible.sum(axis=1)[:, None, None]
    mean = (shown * possible[:, :, None]).sum(axis=1, keepdims=True) / count
    places = np.broadcast_to(np.eye(shown.shape[1]), (len(shown), shown.shape[1], shown.shape[1]))
    families = np.array([family_of(name) for name in tasks], dtype=object)
    return _Views(np.concatenate([shown - mean, places], axis=2), possible, meant, families)


def _look(envs: CInteractCandidatesVectorEnv, answered: bool, seed: int) -> tuple[npt.NDArray[Any], ...]:
    """Return the candidates, which of them are possible, the right candidate and the task of each episode."""
    observation, infos = envs.reset(seed=seed)
    tasks, stages, order = (
        infos["instance_id"].copy(),
        envs._episodes.stages.copy(),
        envs._episodes.order.copy(),
    )
    shown = observation["candidates"].copy()
    policy, asking = Privileged(), np.full(envs.num_envs, answered)
    while asking.any():
        actions = policy.act(envs, observation, envs.action_masks())
        ready = asking & (actions > envs.layout.useless)
        shown[ready] = observation["candidates"][ready]
        asking &= ~ready
        observation, *_ = envs.step(actions)
    place = np.arange(envs.num_envs)[:, None]
    possible = _possible(envs)[stages][place, order]
    meant = envs._episodes.tables.passes[stages][place, order].argmax(axis=1)
    return shown.reshape(envs.num_envs, -1, len(CandidateColumn)), possible, meant, tasks


def _possible(envs: CInteractCandidatesVectorEnv) -> npt.NDArray[np.bool_]:
    """Return which candidates are right in some task with the same request, for each task."""
    setting, passes = envs._setting, envs._episodes.tables.passes
    made = np.zeros_like(passes[: len(setting.ids)])
    for start, size in zip(setting._starts, setting._sizes, strict=True):
        group = setting._grouped[start : start + size]
        made[group] = passes[group].any(axis=0)
    return made
