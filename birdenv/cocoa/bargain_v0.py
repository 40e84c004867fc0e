"""Bargain as a PettingZoo game: `buyer_0` and `seller_0` agree on a price.

The three names are PettingZoo's; all take the game's settings and `render_mode`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from birdenv.envs.pettingzoo import DialogueAEC, DialogueParallel

__all__ = ["env", "parallel_env", "raw_env"]

raw_env = partial(DialogueAEC, "bargain")
"""Returns the game, one move at a time."""

parallel_env = partial(DialogueParallel, "bargain")
"""Returns the game with the actions of both seats at once."""


def env(**settings: Any) -> Any:
    """Return the game with PettingZoo's checks of the order of calls."""
    return OrderEnforcingWrapper(raw_env(**settings))
