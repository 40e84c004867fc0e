"""Measure players of dialogue games: how well they predict recorded moves, and how well they play."""

from birdenv.cocoa.player_evaluation._moves import predict_moves
from birdenv.cocoa.player_evaluation._self_play import self_play

__all__ = ["predict_moves", "self_play"]
