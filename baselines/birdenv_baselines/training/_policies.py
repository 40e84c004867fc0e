"""Fixed policies, to compare trained policies with. They act on batches of observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates import CandidateColumn, EpisodeColumn, Layout, SpanColumn
from birdenv.envs.candidates import CInteractCandidatesVectorEnv as Envs

Actions = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
_C, _S, _E = CandidateColumn, SpanColumn, EpisodeColumn


class Policy(Protocol):
    """A policy that chooses an action for each episode in a batch."""

    def act(self, envs: Envs, observation: dict[str, Any], masks: npt.NDArray[np.bool_]) -> Actions:
        """Return an action for each of the n episodes, shape (n,).

        Args:
            envs: the vector environment that the episodes run in.
            observation: the observations of all episodes.
            masks: which actions are legal. Shape (n, actions).
        """


class Random:
    """A policy that chooses a random legal action."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, envs: Envs, observation: dict[str, Any], masks: npt.NDArray[np.bool_]) -> Actions:
        draws = self._rng.random(masks.shape)
        chosen: Actions = np.where(masks, draws, -1.0).argmax(axis=1)
        return chosen


Wants = Callable[["Seen"], Floats]
"""Returns how much a rule wants to ask about each span, shape (n, spans). It asks only above 0."""


class Rule:
    """A policy that asks about one span after another, and then submits the candidate that fits best.

    A function computes a number for each span. The policy asks about the span with the highest number, and
    stops asking when no number is above 0.
    """

    def __init__(self, wants: Wants) -> None:
        self._wants = wants

    def act(self, envs: Envs, observation: dict[str, Any], masks: npt.NDArray[np.bool_]) -> Actions:
        layout, seen = envs.layout, Seen(envs, observation)
        wanted = np.where(masks[:, : layout.spans], self._wants(seen), 0.0)
        submit = np.where(masks[:, layout.submit : layout.give_up], seen.candidates[:, :, _C.TOTAL], -1.0)
        possible = submit.max(axis=1) >= 0
        best = np.where(possible, layout.submit + submit.argmax(axis=1), layout.give_up)
        chosen: Actions = np.where(wanted.max(axis=1) > 0, wanted.argmax(axis=1), best)
        return chosen


class Seen:
    """A batch of observations, with the features of spans and candidates as tables."""

    def __init__(self, envs: Envs, observation: dict[str, Any]) -> None:
        layout: Layout = envs.layout
        n = len(observation["episode"])
        self.envs = envs
        self.spans: Floats = observation["spans"].reshape(n, layout.spans, len(SpanColumn))
        self.candidates: Floats = observation["candidates"].reshape(
            n, layout.candidates, len(CandidateColumn)
        )
        self.episode: Floats = observation["episode"]

    @property
    def price(self) -> Floats:
        """Return the price of a question in each episode, shape (n, 1)."""
        most = max(self.envs._setting.prices)
        return self.episode[:, [_E.PRICE]] * most

    @property
    def left(self) -> Floats:
        """Return the number of untried candidates that agree with all answers, at least 1. Shape (n, 1)."""
        agree = (self.candidates[:, :, _C.FITS_ANSWERS] > 0) & (self.candidates[:, :, _C.TRIED] == 0)
        return np.maximum(agree.sum(axis=1, keepdims=True), 1).astype(float)


def never(seen: Seen) -> Floats:
    """Return zeros for `Rule`, so that it never asks."""
    return np.zeros(seen.spans.shape[:2])


def everything(seen: Seen) -> Floats:
    """Return positive, decreasing numbers for `Rule`, so that it asks about all spans from left to right."""
    return 2.0 - seen.spans[:, :, _S.POSITION]


def first(seen: Seen) -> Floats:
    """Return numbers for `Rule`, so that it asks about spans with unknown words before all others."""
    return everything(seen) + 2.0 * (seen.spans[:, :, _S.UNKNOWN] > 0)


def unknown(seen: Seen) -> Floats:
    """Return the share of unknown words in each span, so that `Rule` asks only about spans with any."""
    return seen.spans[:, :, _S.UNKNOWN]


def guess(left: Floats) -> Floats:
    """Return the expected reward of guessing among equally likely candidates, with two attempts.

    Args:
        left: the number of candidates.

    >>> guess(np.array([1.0, 2.0, 4.0])).tolist()
    [1.0, 0.9, 0.45]
    """
    return np.where(left > 1, (0.7 + 0.5 + 2 * 0.3) / np.maximum(left, 2.0), 1.0)


def worth_it(suspicion: float, informs: float, halves: float = 2.0) -> Wants:
    """Return a function for `Rule`, so that it asks while the expected gain from an answer exceeds the price.

    Args:
        suspicion: the minimum share of unknown words in a span to ask about.
        informs: the probability that an answer excludes candidates.
        halves: the factor by which an answer that excludes candidates divides their number.
    """

    def wants(seen: Seen) -> Floats:
        gain = informs * (guess(np.maximum(seen.left / halves, 1.0)) - guess(seen.left))
        pays = gain > seen.price
        return np.where(pays, (unknown(seen) >= suspicion) * (unknown(seen) + 0.1), 0.0)

    return wants


def grid() -> Iterator[tuple[str, Wants]]:
    """Yield value-of-information rules with different parameters, each preceded by its parameters as text."""
    for suspicion, informs, halves in product((0.01, 0.34, 0.51, 1.0), (0.25, 0.5, 0.75, 1.0), (2.0, 3.0)):
        yield f"{suspicion}, {informs}, {halves}", worth_it(suspicion, informs, halves)


class Privileged(Rule):
    """A policy that knows which spans are ambiguous, and asks about each ambiguity once at any price.

    Because this knowledge is private, the return is only a reference for other policies.
    """

    def __init__(self) -> None:
        super().__init__(_open_spans)


def _open_spans(seen: Seen) -> Floats:
    """Return 1 for spans about ambiguities that have not been asked about, and 0 for other spans."""
    envs = seen.envs
    points = envs._episodes.tables.points[envs._episodes.stages][:, : envs.layout.spans]
    asked = seen.spans[:, :, _S.ASKED] > 0
    done = np.bitwise_or.reduce(np.where(asked, points, 0), axis=1)
    return ((points & ~done[:, None]) != 0).astype(float)


RULES: Final[dict[str, Callable[[], Policy]]] = {
    "random": Random,
    "never-asks": lambda: Rule(never),
    "asks-everything": lambda: Rule(everything),
    "asks-first": lambda: Rule(first),
    "asks-unknown-words": lambda: Rule(unknown),
    "privileged": Privileged,
}
"""Policies without parameters to tune, by name."""
