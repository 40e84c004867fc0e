"""Two policies that learn from the same dialogues: what a user should disclose, and when a system should ask.

Run `python -m birdenv_baselines.self_play --help`. This needs only NumPy.

* `Policy` makes yes-or-no decisions with a logistic model, and learns by REINFORCE.
* `DisclosingUser` and `AskingSystem` are players that let a policy make their decisions.
* `train` trains a `Pair` of system and user in a game: both of them, or only one.
* `cross_play` pairs every system with every user, to see whether partners have only agreed on a private code.
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
