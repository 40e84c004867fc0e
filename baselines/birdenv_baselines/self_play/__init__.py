"""Two learners in the same dialogues: a user that learns what to tell, and a system that learns when to ask.

Run `python -m birdenv_baselines.self_play --help`. This needs only NumPy.

* `Policy` makes yes-or-no decisions with a linear model, and learns by REINFORCE.
* `DisclosingUser` and `AskingSystem` are players whose decisions a policy makes.
* `Pair` and `train` let system and user learn in a game, alone or together.
* `cross_play` lets every system play with every user, to see whether pairs have only agreed on a code.
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
