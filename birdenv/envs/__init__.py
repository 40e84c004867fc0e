"""Gymnasium and PettingZoo environments: thin drivers of any registered game.

`CInteractEnv`, `AInteractEnv` and `BirdSqlEnv` are registered with Gymnasium by `import birdenv`;
`DialogueEnv` takes any game and seat. Wrappers for LLM policies are in `birdenv.envs.wrappers`; the
PettingZoo game, where the user's seat is a learner, too, is the module `birdenv.envs.c_interact_v0`.
"""

from birdenv.envs._gymnasium import AInteractEnv, BirdSqlEnv, CInteractEnv, DialogueEnv
from birdenv.envs._spaces import UnicodeText

__all__ = ["AInteractEnv", "BirdSqlEnv", "CInteractEnv", "DialogueEnv", "UnicodeText"]
