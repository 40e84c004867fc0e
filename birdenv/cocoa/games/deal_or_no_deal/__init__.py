"""DealOrNoDeal: two seats divide books, hats and balls that are worth different points to each."""

from birdenv.cocoa.games.deal_or_no_deal._game import GAME, THINGS, DealRules, DealSettings

__all__ = ["GAME", "THINGS", "DealRules", "DealSettings"]
