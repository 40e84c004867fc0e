"""The simulated user: what it knows, which point a question is about, and what it answers.

* `Brief`, `Ambiguity`, `BriefNotes`: what the user knows about one task
* `Answer`: the words of an answer, and its private trace
* `RuleUser`, `RulePlayer`, `TEMPERAMENTS`: a deterministic user without a language model, and its variants

`users.leak_guard` guards the words of any user, `users.sql_in_words` puts SQL into the words of a lay user,
`users.understanding` finds what a question is about, `users.model_user` holds users with a language model.
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
        return getattr(importlib.import_module(f"birdenv.users.{module}"), name)
    raise AttributeError(f"module 'birdenv.users' has no attribute {name!r}")
