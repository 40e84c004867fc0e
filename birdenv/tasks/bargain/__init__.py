"""Bargain: a buyer and a seller agree on the price of something that is advertised (CraigslistBargain)."""

from birdenv.tasks.bargain._game import GAME, BargainSettings
from birdenv.tasks.bargain._rules import BargainRules, margins

__all__ = ["GAME", "BargainRules", "BargainSettings", "margins"]
