"""The base class for players with a language model. It calls the model, and counts faults and usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict

from birdenv.dialogue import PlayerContext, Usage
from birdenv.llm import Chat, Models, Prompt, models_of, package_prompt

LEFT_OUT = "(Earlier messages were left out here because they did not fit.)"
"""The note that replaces messages which were dropped from a history."""


class ModelSeat:
    """A language model in the evaluated seat of one episode.

    Args:
        model: the name of the model; empty for the model in the run's settings.
        context: the game, the task and the seat.

    Attributes:
        context: the game, the task and the seat.
        chat: the client that sends requests to the model.
    """

    def __init__(self, model: str, context: PlayerContext) -> None:
        self.context = context
        models: Models = models_of(context.models)
        scope = f"{context.instance_id}/{context.repeat}/{context.seat_name}"
        self.chat: Chat = models.chat("agent", model, scope, context.rng.getrandbits(31))
        self.own_prompt = models.settings.prompt
        self._form = "" if models.settings.prompts == "full" else models.settings.prompts
        self._faults: Counter[str] = Counter()

    def prompt(self, name: str) -> Prompt:
        """Return the prompt from the run's settings or, by default, the prompt `name` from this package."""
        if self.own_prompt is not None:
            return Prompt.from_file(self.own_prompt)
        return package_prompt("birdenv_agents", name, self._form)

    def fault(self, kind: str) -> None:
        """Count a fault by the model."""
        self._faults[kind] += 1

    def usage(self) -> Usage:
        """Return the total token usage of all requests in the episode."""
        return Usage(**asdict(self.chat.spent))

    def faults(self) -> Mapping[str, int]:
        """Return how many faults of each kind the model has made."""
        return dict(sorted(self._faults.items()))
