"""A warning where SQL of a language model would run in this process."""

from __future__ import annotations

import warnings

from birdenv.envs._gymnasium import DialogueEnv

_WARNING = (
    "this environment runs SQL in this process (isolation='inline'). That is for policies of your own: a "
    "model's SQL may take seconds, or a gigabyte of memory, that no limit stops. Use "
    "gymnasium.make(..., isolation='process') for models; docs/isolation.md says what each way promises"
)


def warn_of_inline(env: DialogueEnv, stacklevel: int = 3) -> None:
    """Warn if the SQL of an environment runs inline; Python shows the warning once for each place."""
    settings = getattr(env._arena._tasks, "settings", None)
    where = getattr(settings, "dialect", ""), getattr(settings, "isolation", "")
    if where == ("sqlite", "inline"):
        warnings.warn(_WARNING, UserWarning, stacklevel=stacklevel)
