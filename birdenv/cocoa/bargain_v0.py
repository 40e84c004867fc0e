"""Bargain as a PettingZoo environment: `buyer_0` and `seller_0` agree on a price.

The functions `env`, `raw_env` and `parallel_env`, whose names PettingZoo prescribes, accept `render_mode` and
the game's settings.
"""

from __future__ import annotations

from birdenv.envs.pettingzoo import functions_of

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = functions_of("bargain")
