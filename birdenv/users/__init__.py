"""The simulated user: what it knows, how it understands questions, and what it answers.

* `Brief`, `Ambiguity`, `BriefNotes`: what the user knows about one task
* `Answer`: the text of an answer, and a private trace of how it came about
* `RuleUser`, `RulePlayer`, `TEMPERAMENTS`: a deterministic user without a language model, and its variants

`users.understanding` finds what a question is about, `users.sql_in_words` puts SQL into everyday words,
`users.model_user` contains users with a language model, and `users.leak_guard` checks the answers of all
users.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from birdenv.users._brief import STAGES, Ambiguity, AmbiguityKind, Answer, Brief, BriefNotes, Call, UserStyle

if TYPE_CHECKING:
    from birdenv.users._rule_player import TEMPERAMENTS, RulePlayer, rule_player
    from birdenv.users.decoder import ASKING_BACK, RuleUser

_DECODER = ("ASKING_BACK", "RuleUser")

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


def __getattr__(name: str) -> Any:
    if name in __all__:  # imported on first use, to keep the help of commands fast
        module = "decoder" if name in _DECODER else "_rule_player"
        found = globals()[name] = getattr(importlib.import_module(f"birdenv.users.{module}"), name)
        return found  # later uses do not come here
    raise AttributeError(f"module 'birdenv.users' has no attribute {name!r}")
