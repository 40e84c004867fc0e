"""Bargain (CraigslistBargain): a buyer and a seller agree on the price of an advertised item."""

from birdenv.cocoa.games.bargain._game import GAME, margins

__all__ = ["GAME", "margins"]
