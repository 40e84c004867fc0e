"""Let every trained system play with every trained user, and compare own partners with other partners.

A system and a user that have only agreed on a private code earn less with other partners.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from birdenv.dialogue import Arena
from birdenv_baselines.self_play._train import Pair, evaluate


def cross_play(arena: Arena, pairs: Sequence[Pair], *, seed: int = 0) -> npt.NDArray[np.float64]:
    """Return the mean reward of each system (row) when it plays with each user (column)."""
    rewards = [
        [evaluate(arena, Pair(one.system, other.user), seed=seed).system for other in pairs] for one in pairs
    ]
    return np.array(rewards)


def code_gap(matrix: npt.NDArray[np.float64]) -> float:
    """Return how much more a system earns, on average, with its own partner than with other partners."""
    own = float(np.diag(matrix).mean())
    others = matrix[~np.eye(len(matrix), dtype=np.bool_)]
    return own - float(others.mean()) if others.size else 0.0


def write_csv(matrix: npt.NDArray[np.float64], path: Path) -> None:
    """Write the reward matrix as CSV. Systems and users are identified by number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["system", *(f"user {i}" for i in range(len(matrix)))])
        for i, row in enumerate(matrix):
            rows.writerow([f"system {i}", *(f"{value:.4f}" for value in row)])
