"""Gymnasium and PettingZoo environments: thin drivers of the controllers in `birdenv.tasks`.

`CInteractEnv`, `AInteractEnv` and `BirdSqlEnv` are registered with Gymnasium by `import birdenv`. Wrappers
for LLM policies are in `birdenv.envs.wrappers`; the PettingZoo game, where the user's seat is a learner, too,
is the module `birdenv.envs.c_interact_v0`.
"""

from birdenv.envs._a_interact_env import AInteractEnv
from birdenv.envs._bird_sql_env import BirdSqlEnv
from birdenv.envs._c_interact_env import CInteractEnv
from birdenv.envs._unicode_text import UnicodeText

__all__ = ["AInteractEnv", "BirdSqlEnv", "CInteractEnv", "UnicodeText"]
