"""Measure players of dialogue games: how well they predict recorded moves, and how well they play."""

from birdenv.cocoa.player_evaluation._moves import Foretold, foretell
from birdenv.cocoa.player_evaluation._self_play import SelfPlay, self_play

__all__ = ["Foretold", "SelfPlay", "foretell", "self_play"]
