"""Gymnasium and PettingZoo environments: thin drivers of any registered game.

`CInteractEnv`, `AInteractEnv` and `BirdSqlEnv` are registered with Gymnasium by `import birdenv`;
`DialogueEnv` takes any game and seat, `DialogueVectorEnv` a batch of them (`gymnasium.make_vec`). Wrappers
for LLM policies and for shaping are in `birdenv.envs.wrappers`. The PettingZoo game, where the user's seat is
a learner, too, is the module `birdenv.envs.c_interact_v0`; `DialogueAEC` and `DialogueParallel` are any game
in PettingZoo's two forms. `birdenv.envs.candidates` is the setting for learning when to ask, and
`birdenv.envs.sb3` its batch for Stable-Baselines3.
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
    """Load PettingZoo, and the candidate setting, only for those who use them."""
    if name in ("DialogueAEC", "DialogueParallel"):
        from birdenv.envs import pettingzoo

        return getattr(pettingzoo, name)
    if name == "CInteractCandidatesEnv":
        from birdenv.envs.candidates import CInteractCandidatesEnv

        return CInteractCandidatesEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
