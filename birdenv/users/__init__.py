"""The simulated user: what it knows, which point a question is about, and what it answers.

* `Brief`, `Ambiguity`, `BriefNotes`: what the user knows about one task
* `Answer`: the words of an answer, and its private trace
* `RuleUser`, `RulePlayer`, `TEMPERAMENTS`: a deterministic user without a language model, and its variants

`users.leak_guard` guards the words of any user, `users.sql_in_words` puts SQL into the words of a lay user,
`users.understanding` finds what a question is about, `users.model_user` holds users with a language model.
"""

from birdenv.users._brief import STAGES, Ambiguity, AmbiguityKind, Answer, Brief, BriefNotes, Call, UserStyle
from birdenv.users._rule_player import TEMPERAMENTS, RulePlayer, rule_player
from birdenv.users.decoder import ASKING_BACK, RuleUser

__all__ = [
    "ASKING_BACK",
    "STAGES",
    "TEMPERAMENTS",
    "Ambiguity",
    "AmbiguityKind",
    "Answer",
    "Brief",
    "BriefNotes",
    "Call",
    "RulePlayer",
    "RuleUser",
    "UserStyle",
    "rule_player",
]
