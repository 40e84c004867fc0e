"""DealOrNoDeal as a PettingZoo environment: `agent_0` and `agent_1` divide some things.

PettingZoo prescribes the names `env`, `raw_env` and `parallel_env`. Each function accepts the game's settings
and `render_mode`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from birdenv.envs.pettingzoo import DialogueAEC, DialogueParallel

__all__ = ["env", "parallel_env", "raw_env"]

raw_env = partial(DialogueAEC, "deal-or-no-deal")
"""Return the environment in which one seat moves at a time (PettingZoo's AEC)."""

parallel_env = partial(DialogueParallel, "deal-or-no-deal")
"""Return the environment in which both seats act at once (PettingZoo's parallel API)."""


def env(**settings: Any) -> Any:
    """Return the AEC environment, wrapped so that calls in a wrong order raise an error."""
    return OrderEnforcingWrapper(raw_env(**settings))
