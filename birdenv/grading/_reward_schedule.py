"""The reward schedule: what a pass earns in c-Interact, by phase and attempt (BIRD-Interact §5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

REWARDS: Final[Mapping[tuple[int, int], float]] = MappingProxyType(
    {(1, 1): 0.7, (1, 2): 0.5, (2, 1): 0.3, (2, 2): 0.2}
)
"""By (phase, attempt): phase 1 is the clarified question, 2 the follow-up; attempt 2 is after debugging."""


def reward(phase: int, attempt: int, passed: bool) -> float:
    """Return what one graded submission earns; 0 if it did not pass.

    Raises:
        ValueError: the schedule has no such phase or attempt.
    """
    if (phase, attempt) not in REWARDS:
        raise ValueError(f"there is no phase {phase}, attempt {attempt}: both are 1 or 2")
    return REWARDS[phase, attempt] if passed else 0.0


def batch_reward(a: int, b: int, c: int, d: int, n: int) -> float:
    """Return the mean reward of a batch, (0.7a + 0.5b + 0.3c + 0.2d) / n, from 0 to 1 (in papers: x100).

    `a` and `b` are the numbers of tasks that passed phase 1 at once and after debugging, `c` and `d` the same
    for phase 2. `n` counts all tasks, also failed ones and those without a follow-up. An empty batch earns 0.
    """
    return (7 * a + 5 * b + 3 * c + 2 * d) / (10 * n) if n else 0.0
