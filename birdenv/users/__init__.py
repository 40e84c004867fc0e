"""The simulated user: what it knows, which ambiguity a question is about, what it answers, what it must not.

* `Brief`, `Ambiguity`, `Notes`: what the user's side knows of one task
* `Answer`: the words of an answer, and its private trace
* `RuleUser`, `RulePlayer`, `TEMPERAMENTS`: a deterministic user without a language model, and its variants

`users.leak_guard` guards the words of any user, `users.sql_in_words` says SQL in a lay user's words,
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
