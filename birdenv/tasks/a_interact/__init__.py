"""a-Interact: the tasks of c-Interact, played with nine tools that cost budget (BIRD-Interact)."""

from birdenv.tasks.a_interact._budget import COSTS, MALFORMED_COST, Budget, budget_for
from birdenv.tasks.a_interact._controller import PROFILES, AInteractController

__all__ = ["COSTS", "MALFORMED_COST", "PROFILES", "AInteractController", "Budget", "budget_for"]
