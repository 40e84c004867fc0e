"""Gymnasium and PettingZoo environments for any registered game.

* `CInteractEnv`, `AInteractEnv`, `BirdSqlEnv`: environments that `import birdenv` registers with Gymnasium
* `DialogueEnv`: a Gymnasium environment for one seat of any game
* `DialogueVectorEnv`: a batch of these environments, for `gymnasium.make_vec`
* `DialogueAEC`, `DialogueParallel`: PettingZoo environments for any game, one for each PettingZoo API
* `birdenv.envs.c_interact_v0`: the PettingZoo module for c-Interact, with a system agent and a user agent
* `birdenv.envs.wrappers`: wrappers for language models and reward shaping
* `birdenv.envs.candidates`: an environment with numeric observations, for learning when to ask a question
* `birdenv.envs.sb3`: a wrapper that makes the candidate environments usable with Stable-Baselines3
"""

from typing import TYPE_CHECKING, Any

from birdenv.envs._gymnasium import AInteractEnv, BirdSqlEnv, CInteractEnv, DialogueEnv
from birdenv.envs._text_space import UnicodeText
from birdenv.envs._vector import AInteractVectorEnv, BirdSqlVectorEnv, CInteractVectorEnv, DialogueVectorEnv

if TYPE_CHECKING:
    from birdenv.envs.candidates import CInteractCandidatesEnv
    from birdenv.envs.pettingzoo import DialogueAEC, DialogueParallel

__all__ = [
    "AInteractEnv",
    "AInteractVectorEnv",
    "BirdSqlEnv",
    "BirdSqlVectorEnv",
    "CInteractCandidatesEnv",
    "CInteractEnv",
    "CInteractVectorEnv",
    "DialogueAEC",
    "DialogueEnv",
    "DialogueParallel",
    "DialogueVectorEnv",
    "UnicodeText",
]


def __getattr__(name: str) -> Any:
    """Import the names that need PettingZoo or the candidate environments only when they are used."""
    if name in ("DialogueAEC", "DialogueParallel"):
        from birdenv.envs import pettingzoo

        return getattr(pettingzoo, name)
    if name == "CInteractCandidatesEnv":
        from birdenv.envs.candidates import CInteractCandidatesEnv

        return CInteractCandidatesEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
