"""The game a-Interact: the tasks of c-Interact, played with nine tools on a budget (BIRD-Interact)."""

from birdenv.tasks.a_interact._budget import COSTS, MALFORMED_COST, Budget, budget_for
from birdenv.tasks.a_interact._rules import GAME, PROFILES, AInteractRules, AInteractSettings

__all__ = [
    "COSTS",
    "GAME",
    "MALFORMED_COST",
    "PROFILES",
    "AInteractRules",
    "AInteractSettings",
    "Budget",
    "budget_for",
]
