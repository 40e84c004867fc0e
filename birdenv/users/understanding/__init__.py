"""Decide what a question is about (BIRD-Interact §3.1, stage 1).

* an annotated point of the request ("labelled"),
* another part of what the gold SQL settles, or something it leaves open ("unlabelled"),
* something that a user does not tell ("unanswerable"),
* or nothing that can be made out: the user asks back ("unclear").

`understand_parts` takes a message with several questions apart. Three files decide whether one is refused:
`_choice` (the order of the decisions, and what a mistake costs), `_phrases` (`scope.txt`), and
`_ranking`, a linear model of all that the question may be about. Its weights are in `weights.json`;
`birdenv_baselines.user_questions.train` makes them.
"""

from birdenv.users.understanding._choice import Choice
from birdenv.users.understanding._parts import ANSWERED, Part, named_points, understand, understand_parts
from birdenv.users.understanding._question import take_apart

__all__ = ["ANSWERED", "Choice", "Part", "named_points", "take_apart", "understand", "understand_parts"]
