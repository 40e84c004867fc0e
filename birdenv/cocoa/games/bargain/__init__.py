"""Bargain: a buyer and a seller agree on the price of something that is advertised (CraigslistBargain)."""

from birdenv.cocoa.games.bargain._game import GAME, BargainSettings
from birdenv.cocoa.games.bargain._rules import BargainRules, margins

__all__ = ["GAME", "BargainRules", "BargainSettings", "margins"]
