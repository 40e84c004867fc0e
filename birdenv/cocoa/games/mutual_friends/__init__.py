"""MutualFriends: each seat has a list of friends, and both look for the one friend on both lists."""

from birdenv.cocoa.games.mutual_friends._draw_scenarios import generate
from birdenv.cocoa.games.mutual_friends._game import GAME

__all__ = ["GAME", "generate"]
