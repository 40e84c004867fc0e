"""Check options of language models against the players of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.llm import ModelSettings

USER_SETTINGS: Final = ("user_model", "user_base_url", "user_prompts")
"""The settings of models that only concern the simulated user."""


def check_models(models: ModelSettings, agent: Any, others: Iterable[Any]) -> None:
    """Reject language-model options if no player is a language model, and user-model options if the user is
    not.

    Raises:
        InputError: an option was given, and no player that it concerns is one of birdenv's with a model.
    """
    others = list(others)
    is_model = any(map(_is_model, others))
    if models.user_prompts and not any(map(_takes_prompts, others)):
        raise InputError("--user-prompts has no effect here: it replaces the prompts of --user llm:MODEL")
    if (models.user_model or models.user_base_url) and not is_model:
        raise InputError("--user-model and --user-base-url have no effect here: give --user llm:MODEL")
    if models != ModelSettings() and not (is_model or _is_model(agent)):
        raise InputError(
            "no player is a language model, so options of models (such as --model, --base-url, --replay) "
            "have no effect: give --agent llm:MODEL or --user llm:MODEL"
        )


def _takes_prompts(player: Any) -> bool:
    return isinstance(player, str) and player.partition(":")[0] == "llm"


def _is_model(player: Any) -> bool:
    return isinstance(player, str) and "llm" in re.split(r"\W", player.partition(":")[0])
