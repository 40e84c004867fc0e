"""The task list of CoCoA's games, with one task for each scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from birdenv.cocoa.files import Attribute, Scenario
from birdenv.cocoa.games._shared_rules import ScenarioSettings
from birdenv.dialogue import Rules
from birdenv.dialogue.games import TaskList
from birdenv.errors import InputError
from birdenv.files import file_digest


class ScenarioTasks(TaskList):
    """Tasks that are made of scenarios.

    Players see the public part of a scenario; transcripts contain all of it.

    Args:
        scenarios: the scenarios.
        settings: the game's settings.
        start: returns the rules for a scenario; raises `ValueError` if the seats' knowledge does not match.
        knowledge: the type of one seat's knowledge.

    Raises:
        InputError: a scenario cannot be played.
    """

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        settings: ScenarioSettings,
        start: Callable[[Scenario, Any], Rules],
        knowledge: type[Any],
    ) -> None:
        super().__init__([scenario.uuid for scenario in scenarios])
        self._scenarios = {scenario.uuid: scenario for scenario in scenarios}
        self._public = [scenario.public() for scenario in scenarios]
        self._places = {scenario.uuid: place for place, scenario in enumerate(scenarios)}
        self._settings = settings
        self._start = start
        shape: TypeAdapter[Any] = TypeAdapter(list[knowledge])  # type: ignore[valid-type]
        for scenario in scenarios:  # before the first episode, not in the middle of a run
            try:
                shape.validate_python(scenario.kbs)
                start(scenario, settings)
            except ValueError as error:
                where = settings.scenarios or "a generated scenario"
                raise InputError(
                    f"{where}: the scenario {scenario.uuid!r} cannot be played: {_why(error)}"
                ) from None

    def start(self, instance_id: str) -> Rules:
        return self._start(self._scenarios[instance_id], self._settings)

    def public(self, instance_id: str) -> Any:
        return self._public[self._places[instance_id]]

    def all_public(self) -> Sequence[Any]:
        return self._public

    def scenario(self, instance_id: str) -> Mapping[str, Any]:
        return self._scenarios[instance_id].to_json()

    def config(self) -> dict[str, Any]:
        settings = self._settings
        file = settings.scenarios
        digest = {} if file is None else {"data_file": file, "data_sha256": file_digest(Path(file))}
        return settings.model_dump(mode="json", exclude={"scenarios"}) | digest


def _why(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    return f"{'.'.join(map(str, ('kbs', *first['loc'])))}: {first['msg']}"


def new_id(rng: Any, prefix: str = "S_") -> str:
    """Return a random id in CoCoA's style: a prefix with 16 letters and digits."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    return prefix + "".join(rng.choices(letters, k=16))


def column(name: str, value_type: str, entity: bool = True) -> Attribute:
    """Return an attribute with all its keys set, so that files contain all of them."""
    return Attribute(name=name, value_type=value_type, unique=False, multivalued=False, entity=entity)
