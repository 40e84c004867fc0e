"""Options in groups with their defaults: for a command one parameter, for people an option for each field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from typing import Any, get_type_hints

from birdenv.cli.options import _run_options as options
from birdenv.cli.options._models import ModelOptions


@dataclass(frozen=True)
class RunFolder:
    """How episodes are played, and where their records go."""

    parallel: options.Parallel = 1
    output: options.Output = None
    resume: options.Resume = None
    seed: options.Seed = 0
    move_timeout: options.MoveTimeout = 3600.0
    verbose: options.Verbose = False


@dataclass(frozen=True)
class RunOptions(RunFolder):
    """The same, for one agent that is evaluated."""

    agent: options.Agent = "asks-first"
    repeats: options.Repeats = 1


@dataclass(frozen=True)
class Selection:
    """Which tasks are played."""

    limit: options.Limit = None
    offset: options.Offset = 0
    difficulty: options.Difficulty = None
    database: options.Database = None
    instance: options.Instance = None
    leave_out: options.LeaveOut = None
    ungraded: options.Ungraded = "skip"
    strict_data: options.StrictData = False

    def settings(self) -> dict[str, Any]:
        """Return them as settings of a game."""
        return {
            "difficulty": self.difficulty,
            "databases": tuple(self.database) if self.database else None,
            "instances": tuple(self.instance) if self.instance else None,
            "offset": self.offset,
            "limit": self.limit,
            "leave_out": None if self.leave_out is None else str(self.leave_out),
            "ungraded": self.ungraded,
            "strict_data": self.strict_data,
        }


@dataclass(frozen=True)
class DatabaseOptions:
    """Where the databases run, and how SQL on them is judged."""

    dialect: options.Dialect = "sqlite"
    dsn: options.Dsn = None
    today: options.Today = None
    fail_doubtful: options.FailDoubtful = False

    def settings(self) -> dict[str, Any]:
        """Return them as settings of a game."""
        return vars(self)


def takes_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option for each field of those of its parameters that are groups.

    A group is a frozen dataclass whose fields are annotated as options. The default of such a parameter is an
    instance; its values are the defaults of the options. A model that is named without an agent is the agent.
    """
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    members = {name: [field.name for field in fields(group)] for name, group in groups.items()}

    def shown(name: str, default: Any, hint: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name in groups:
            kinds = get_type_hints(groups[name], include_extras=True)
            parameters += [
                shown(each, getattr(parameter.default, each), kinds[each]) for each in members[name]
            ]
        else:
            parameters.append(shown(name, parameter.default, hints[name]))

    @wraps(command)
    def wrapper(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{each: given.pop(each) for each in members[name]})
        run, models = given.get("run"), given.get("models")
        named = models.model if isinstance(models, ModelOptions) else None
        if isinstance(run, RunOptions) and named and options.is_default("agent"):
            given["run"] = replace(run, agent=f"llm:{named}")
        return command(**given)

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapper.__wrapped__
    return wrapper
