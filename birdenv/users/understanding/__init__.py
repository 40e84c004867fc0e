"""Decide what a question is about (BIRD-Interact §3.1, stage 1).

* an annotated point of the request ("labelled"),
* another part of the gold SQL, or something that the gold SQL leaves open ("unlabelled"),
* something that a user never reveals, such as SQL ("unanswerable"),
* or nothing recognisable, so that the user asks the agent to rephrase ("unclear").

A *kind of thing* is a sort of detail that a query settles and that a question can ask for: for example, how
rows are sorted (`order`), how many are shown (`limit`), how numbers are rounded (`round`), what happens to
missing values (`null`), or where a limit lies (`threshold`). `kinds_asked_for.txt` lists all kinds, with the
phrases that ask for each.

`understand_parts` splits a message that contains several questions. Three modules decide whether a question
is refused: `_choice` (the order of the decisions, and the cost of mistakes), `_phrases` (with `scope.txt`),
and `_ranking`, a linear model that scores everything that the question may be about. Its weights are in
`weights.json`, which `birdenv_baselines.user_questions.train` writes.
"""

from birdenv.users.understanding._choice import Choice
from birdenv.users.understanding._parts import ANSWERED, Part, understand, understand_parts
from birdenv.users.understanding._question import take_apart

__all__ = ["ANSWERED", "Choice", "Part", "take_apart", "understand", "understand_parts"]
