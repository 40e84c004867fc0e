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
    """What one graded submission earns; 0 if it did not pass. Raises `ValueError` for another schedule."""
    if (phase, attempt) not in REWARDS:
        raise ValueError(f"there is no phase {phase}, attempt {attempt}: both are 1 or 2")
    return REWARDS[phase, attempt] if passed else 0.0


def batch_reward(a: int, b: int, c: int, d: int, n: int) -> float:
    """Mean reward of a batch, (0.7a + 0.5b + 0.3c + 0.2d) / n, between 0 and 1 (the published tables: x100).

    `a`, `b`: tasks that passed phase 1 at once, after debugging; `c`, `d`: phase 2 likewise; `n`: all tasks,
    failed ones and those without a follow-up included. 0 for an empty batch.
    """
    return (7 * a + 5 * b + 3 * c + 2 * d) / (10 * n) if n else 0.0
