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

    parallel: options.Parallel = options.RUN.parallel
    output: options.Output = None
    resume: options.Resume = None
    seed: options.Seed = options.RUN.seed
    move_timeout: options.MoveTimeout = options.RUN.move_timeout
    engine: options.Engine = options.RUN.engine
    address: options.Address = options.RUN.address
    shard: options.Shard = options.RUN.shard
    verbose: options.Verbose = False


@dataclass(frozen=True)
class RunOptions(RunFolder):
    """The same, for one agent that is evaluated."""

    agent: options.Agent = "asks-first"
    repeats: options.Repeats = options.RUN.repeats


def takes_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option for each field of those of its parameters that are groups.

    A group is a frozen dataclass whose fields are annotated as options. The default of such a parameter is an
    instance; its class has the options, its values are their defaults. A model that is named without an agent
    is the agent.
    """
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: type(parameter.default)
        for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.default)
    }
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
