"""Who may sit in the system seat: the contract of an agent, and finding one by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from random import Random
from typing import Any, Literal, Protocol, TypeAlias

from birdenv.dialogue import Session
from birdenv.errors import InputError, describe_error
from birdenv.tasks.bird import PublicBirdTask
from birdenv.tasks.c_interact import PublicTask

__all__ = [
    "Agent",
    "AgentFactory",
    "AnyPublicTask",
    "Game",
    "Setting",
    "agent_names",
    "find_agent",
    "is_ours",
]

GROUP = "birdenv.agents"

Game: TypeAlias = Literal["bird", "c-interact"]
AnyPublicTask: TypeAlias = PublicBirdTask | PublicTask


@dataclass(frozen=True, slots=True)
class Setting:
    """What an agent is told about the run when it is made: public data only.

    `tasks` are all tasks of the task file, in its order, whether the run plays them or not. `options` are the
    run's settings for agents, by name (`predictions_order`).
    """

    game: Game
    tasks: Sequence[AnyPublicTask] = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict)


class Agent(Protocol):
    """Makes a session for every episode. Sessions of one agent may run in several threads at once.

    `sees_private` asks for the private half of each task; it is granted only to birdenv's own oracle.
    """

    sees_private: bool

    def new_session(self, task: AnyPublicTask, rng: Random, private: Any = None) -> Session:
        """A player for one episode. `rng` is seeded from the run's seed and the task alone."""


AgentFactory: TypeAlias = Callable[[str, Setting], Agent]
"""Called with the text behind the colon of `--agent name:text` ("" without) and the setting."""


def agent_names() -> list[str]:
    """Names of all installed agents."""
    return sorted(entry.name for entry in entry_points(group=GROUP))


def find_agent(spec: str) -> tuple[AgentFactory, str]:
    """The factory that `spec` names and its argument: `name`, `name:argument` or `module:factory`.

    Raises `InputError` listing the known agents.
    """
    name, _, argument = spec.partition(":")
    entry = _entry(name)
    if entry is not None:
        return _load(entry, spec), argument
    known = ", ".join(agent_names()) or "none; is birdenv installed with pip?"
    hint = f"known agents: {known}; or give module:factory"
    if not argument:
        raise InputError(f"unknown agent {spec!r}; {hint}")
    try:
        return _checked(getattr(importlib.import_module(name), argument), spec), ""
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise InputError(f"unknown agent {spec!r}; {hint}") from None
        raise InputError(f"agent {spec!r} cannot be imported: {error}") from None
    except Exception as error:
        raise InputError(f"agent {spec!r} cannot be imported: {describe_error(error)}") from None


def is_ours(spec: str) -> bool:
    """Whether the agent is birdenv's own, so that it may share the process that holds private tasks."""
    entry = _entry(spec.partition(":")[0])
    return entry is not None and entry.value.startswith("birdenv_agents.") and _ships_with_birdenv(entry)


def _ships_with_birdenv(entry: EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == "birdenv"


def _entry(name: str) -> EntryPoint | None:
    found = [entry for entry in entry_points(group=GROUP) if entry.name == name]
    found.sort(key=lambda entry: not _ships_with_birdenv(entry))
    return found[0] if found else None


def _load(entry: EntryPoint, spec: str) -> AgentFactory:
    try:
        factory = entry.load()
    except Exception as error:
        raise InputError(
            f"agent {spec!r} is installed but cannot be imported: {describe_error(error)}"
        ) from None
    return _checked(factory, spec)


def _checked(factory: Any, spec: str) -> AgentFactory:
    if not callable(factory):
        raise InputError(
            f"agent {spec!r} is not callable: it must be a class or a function(argument, setting)"
        )
    made: AgentFactory = factory
    return made
