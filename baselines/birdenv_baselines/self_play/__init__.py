"""Two learners over the same dialogues: a user that learns what to tell, a system that learns when to ask.

`python -m birdenv_baselines.self_play --help`. NumPy only.

* `Policy`: yes or no by a linear model, with REINFORCE
* `DisclosingUser`, `AskingSystem`: players whose decisions a policy makes
* `Pair`, `train`: learning in a game, alone or together
* `cross_play`: every system with every user, to see whether pairs have only agreed on a code
"""

from birdenv_baselines.self_play._matrix import cross_play
from birdenv_baselines.self_play._players import AskingSystem, DisclosingUser
from birdenv_baselines.self_play._policy import Policy
from birdenv_baselines.self_play._train import Pair, Prices, evaluate, train

__all__ = [
    "AskingSystem",
    "DisclosingUser",
    "Pair",
    "Policy",
    "Prices",
    "cross_play",
    "evaluate",
    "train",
]
