"""The game a-Interact: the tasks of c-Interact, played with nine tools on a budget (BIRD-Interact)."""

from birdenv.tasks.a_interact._budget import COSTS, MALFORMED_COST, Budget
from birdenv.tasks.a_interact._rules import GAME, PROFILES

__all__ = ["COSTS", "GAME", "MALFORMED_COST", "PROFILES", "Budget"]
