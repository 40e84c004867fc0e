"""MutualFriends: each seat has a list of friends, and they find the one that is on both."""

from birdenv.cocoa.games.mutual_friends._draw_scenarios import generate
from birdenv.cocoa.games.mutual_friends._game import GAME, MutualFriendsRules, MutualFriendsSettings

__all__ = ["GAME", "MutualFriendsRules", "MutualFriendsSettings", "generate"]
