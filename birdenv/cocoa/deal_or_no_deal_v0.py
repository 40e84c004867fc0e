"""DealOrNoDeal as a PettingZoo environment: `agent_0` and `agent_1` divide a set of things.

The functions `env`, `raw_env` and `parallel_env`, whose names PettingZoo prescribes, accept `render_mode` and
the game's settings.
"""

from __future__ import annotations

from birdenv.envs.pettingzoo import functions_of

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = functions_of("deal-or-no-deal")
