"""DealOrNoDeal as a PettingZoo environment: `agent_0` and `agent_1` divide some things.

PettingZoo prescribes the names `env`, `raw_env` and `parallel_env`. Each function accepts the game's settings
and `render_mode`.
"""

from __future__ import annotations

from birdenv.envs.pettingzoo import functions_of

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = functions_of("deal-or-no-deal")
