"""Compute the best reachable return of candidate families by exact dynamic programming."""

from birdenv_baselines.optimum._beliefs import Worlds, best_returns, submit_value
from birdenv_baselines.optimum._families import FamilyOptimum, family_optima

__all__ = ["FamilyOptimum", "Worlds", "best_returns", "family_optima", "submit_value"]
