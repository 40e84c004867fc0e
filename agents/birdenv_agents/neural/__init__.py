"""The neural player: a small recurrent network that has learned to talk and to act from dialogues.

`neural:FILE` plays; `train` and `reinforce` write the file. PyTorch is imported only when one of these
functions is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from birdenv.dialogue import Player, PlayerContext
from birdenv.dialogue.players import plays
from birdenv.errors import InputError

__all__ = ["neural", "reinforce", "train"]


@plays("mutual-friends", "bargain", "deal-or-no-deal")
def neural(argument: str, context: PlayerContext) -> Player:
    """Return a player that uses a trained network.

    Raises:
        InputError: PyTorch is not installed, or the file does not contain a network for this game.
    """
    player: Player = _module("_player").neural(argument, context)
    return player


def __getattr__(name: str) -> Any:
    if name in ("train", "reinforce"):
        return getattr(_module(f"_{name}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _module(name: str) -> Any:
    try:
        return import_module(f"birdenv_agents.neural.{name}")
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise InputError(f"neural players need {error.name}: pip install 'birdenv[neural]'") from None
