"""Measure players of dialogue games: how well they predict recorded moves, and how well they play."""

from birdenv.cocoa.player_evaluation._moves import MovePredictions, predict_moves
from birdenv.cocoa.player_evaluation._self_play import SelfPlay, self_play

__all__ = ["MovePredictions", "SelfPlay", "predict_moves", "self_play"]
