"""Bargain: a buyer and a seller agree on the price of something that is advertised (CraigslistBargain)."""

from birdenv.cocoa.games.bargain._game import GAME, BargainRules, BargainSettings, margins

__all__ = ["GAME", "BargainRules", "BargainSettings", "margins"]
