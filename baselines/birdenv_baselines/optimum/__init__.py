"""The best reachable return of candidate families, by exact dynamic programming."""

from birdenv_baselines.optimum._families import FamilyOptimum, family_optima
from birdenv_baselines.optimum._meanings import best_return, submit_value

__all__ = ["FamilyOptimum", "best_return", "family_optima", "submit_value"]
