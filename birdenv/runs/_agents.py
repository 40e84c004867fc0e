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

GROUP = "birdenv.agents"

Game: TypeAlias = Literal["bird", "c-interact", "a-interact"]
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
        """A player for one episode. `rng` is seeded from the run's seed and the task alone.

        If the session has a method `usage`, it is called when the episode is over, and says what the episode
        took: a `Usage`, or None.
        """


AgentFactory: TypeAlias = Callable[[str, Setting], Agent]
"""Called with the text behind the colon of `--agent name:text` ("" without) and the setting."""


def agent_names() -> list[str]:
    """Names of all installed agents."""
    return sorted(entry.name for entry in entry_points(group=GROUP))


def check_name(spec: str) -> None:
    """Raise `InputError`, listing the known agents, if `spec` cannot name one. Imports nothing."""
    name, _, attribute = spec.partition(":")
    if _entry(name) is None and not (attribute and all(part.isidentifier() for part in name.split("."))):
        raise _unknown(spec)


def find_agent(spec: str) -> tuple[AgentFactory, str]:
    """Import the factory that `spec` names: `name`, `name:argument` or `module:factory`; and its argument.

    Importing runs the agent's code: call this only in the process in which the agent may run. Raises
    `InputError` if there is no such agent or if its import fails.
    """
    name, _, argument = spec.partition(":")
    check_name(spec)
    entry = _entry(name)
    try:
        if entry is not None:
            return _checked(entry.load(), spec), argument
        return _checked(getattr(importlib.import_module(name), argument), spec), ""
    except InputError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise _unknown(spec) from None
        raise InputError(f"agent {spec!r} cannot be imported: {error}") from None
    except Exception as error:
        raise InputError(f"agent {spec!r} cannot be imported: {describe_error(error)}") from None


def _unknown(spec: str) -> InputError:
    known = ", ".join(agent_names()) or "none; is birdenv installed with pip?"
    return InputError(f"unknown agent {spec!r}; known agents: {known}; or give module:factory")


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


def _checked(factory: Any, spec: str) -> AgentFactory:
    if not callable(factory):
        raise InputError(
            f"agent {spec!r} is not callable: it must be a class or a function(argument, setting)"
        )
    made: AgentFactory = factory
    return made
