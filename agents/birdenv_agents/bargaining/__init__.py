"""The rule-based players of Bargain: they read prices and intents out of messages, concede, and close."""

from birdenv_agents.bargaining._person import BargainingPerson
from birdenv_agents.bargaining._player import Bargainer
from birdenv_agents.bargaining._words import ACTS, PHRASES

__all__ = ["ACTS", "PHRASES", "Bargainer", "BargainingPerson"]
