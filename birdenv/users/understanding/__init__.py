"""Decide what a question is about (BIRD-Interact §3.1, stage 1).

* an annotated point of the request ("labelled"),
* another part of what the gold SQL settles, or something it leaves open ("unlabelled"),
* something that a user does not tell ("unanswerable"),
* or nothing that can be made out: the user asks back ("unclear").

Everything that the question may be about is ranked together, by a linear model over a few dozen features. Its
weights are in `weights.json`; `birdenv_baselines.user_questions.train` makes them.
"""

from birdenv.users.understanding._choice import Choice, named_points, understand
from birdenv.users.understanding._question import take_apart

__all__ = ["Choice", "named_points", "take_apart", "understand"]
