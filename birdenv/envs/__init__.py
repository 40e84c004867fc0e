"""Gymnasium and PettingZoo environments for any registered game.

* `CInteractEnv`, `AInteractEnv`, `BirdSqlEnv`: environments that `import birdenv` registers with Gymnasium
* `DialogueEnv`: an environment for any game and seat
* `DialogueVectorEnv`: a batch of environments (`gymnasium.make_vec`)
* `DialogueAEC`, `DialogueParallel`: any game in PettingZoo's two forms
* `birdenv.envs.c_interact_v0`: the PettingZoo module of c-Interact, with an agent in the user's seat, too
* `birdenv.envs.wrappers`: wrappers for language models and for reward shaping
* `birdenv.envs.candidates`: the setting for learning when to ask
* `birdenv.envs.sb3`: a batch of that setting for Stable-Baselines3
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
    """Import PettingZoo and the candidate setting only when they are used."""
    if name in ("DialogueAEC", "DialogueParallel"):
        from birdenv.envs import pettingzoo

        return getattr(pettingzoo, name)
    if name == "CInteractCandidatesEnv":
        from birdenv.envs.candidates import CInteractCandidatesEnv

        return CInteractCandidatesEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
