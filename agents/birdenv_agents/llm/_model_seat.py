"""What players with a language model share: the model's calls, its faults, and what both took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict

from birdenv.dialogue import PlayerContext, Usage
from birdenv.llm import Chat, Models, Prompt, models_of, package_prompt

LEFT_OUT = "(Earlier messages are left out here: they did not fit.)"
"""In place of what was dropped from a history."""


class ModelSeat:
    """One model in the evaluated seat of one episode."""

    def __init__(self, model: str, context: PlayerContext) -> None:
        self.context = context
        models: Models = models_of(context.models)
        scope = f"{context.instance_id}/{context.repeat}/{context.seat_name}"
        self.chat: Chat = models.chat("agent", model, scope, context.rng.getrandbits(31))
        self.own_prompt = models.settings.prompt
        self._form = "" if models.settings.prompts == "full" else models.settings.prompts
        self._faults: Counter[str] = Counter()

    def prompt(self, name: str) -> Prompt:
        """Return the prompt of the run's settings, else the package's."""
        if self.own_prompt is not None:
            return Prompt.from_file(self.own_prompt)
        return package_prompt("birdenv_agents", name, self._form)

    def fault(self, kind: str) -> None:
        """Count something that the model did wrong."""
        self._faults[kind] += 1

    def usage(self) -> Usage:
        """Return what the episode's calls took."""
        return Usage(**asdict(self.chat.spent))

    def faults(self) -> Mapping[str, int]:
        """Return what the model did wrong, and how often."""
        return dict(sorted(self._faults.items()))
