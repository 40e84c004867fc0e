"""The rule-based Bargain players. They read prices and intents in messages, concede, and close deals."""

from birdenv_agents.bargain._own_phrases import ACTS, PHRASES
from birdenv_agents.bargain._player import Bargainer
from birdenv_agents.bargain._scripted_partner import ScriptedBargainer

__all__ = ["ACTS", "PHRASES", "Bargainer", "ScriptedBargainer"]
