"""Options of commands that play with language models: which model, where, how fast, for how much."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints

import typer

from birdenv.llm import ModelSettings


class Prompts(StrEnum):
    """Which of the prompts of ours are sent."""

    FULL = "full"
    COMPACT = "compact"


_OPTIONS: Final[dict[str, tuple[Any, typer.models.OptionInfo]]] = {
    "model": (str, typer.Option("--model", help="The agent's model, if not in --agent llm:MODEL.")),
    "user_model": (str, typer.Option("--user-model", help="The user's model, if not in --user llm:MODEL.")),
    "base_url": (
        str,
        typer.Option(
            "--base-url",
            help="OpenAI-compatible endpoint; default: OPENAI_BASE_URL, else OpenAI's. Also read from .env.",
        ),
    ),
    "user_base_url": (
        str,
        typer.Option("--user-base-url", help="The user's endpoint (key: BIRDENV_USER_API_KEY)."),
    ),
    "key_variable": (
        str,
        typer.Option(
            "--api-key-variable", help="Environment variable that holds the key; default: OPENAI_API_KEY."
        ),
    ),
    "max_concurrency": (
        int,
        typer.Option("--max-concurrency", min=1, help="Requests to an endpoint at the same time."),
    ),
    "max_cost": (
        float,
        typer.Option("--max-cost", min=0.0, help="US dollars; the run then ends, and --resume goes on."),
    ),
    "max_tokens": (
        int,
        typer.Option("--max-tokens", min=1, help="The same in tokens of the whole run."),
    ),
    "prompt": (Path, typer.Option("--prompt", help="File with the agent's system prompt (Jinja2).")),
    "prompts": (
        Prompts,
        typer.Option("--prompts", help="full; or compact, with examples, for small models."),
    ),
    "temperature": (
        float,
        typer.Option("--temperature", min=0.0, help="The agent's; the user's is 0."),
    ),
    "answer_tokens": (int, typer.Option("--max-answer-tokens", min=1, help="Most tokens of one answer.")),
    "service_tier": (
        str,
        typer.Option("--service-tier", help="As the endpoint has it; flex waits up to 900 s."),
    ),
    "request_seconds": (
        float,
        typer.Option(
            "--request-timeout", min=0.1, help="Seconds for one request; all tries: three times that."
        ),
    ),
    "replay": (
        Path,
        typer.Option("--replay", help="Play the recorded calls of this run again, offline."),
    ),
    "cache": (Path, typer.Option("--llm-cache", help="Use calls of other runs again: a folder.")),
    "prices": (
        Path,
        typer.Option("--prices", help="JSON file of prices: {MODEL: {input, output}}, US dollars a million."),
    ),
}


def takes_models(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of models, in place of its parameter `models`."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    own = [p.replace(annotation=hints[name]) for name, p in signature.parameters.items() if name != "models"]
    names = (
        list(_OPTIONS) if "user" in hints or "context" in hints else [n for n in _OPTIONS if "user" not in n]
    )
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[_OPTIONS[name][0] | None, _OPTIONS[name][1]],
        )
        for name in names
    ]

    @wraps(command)
    def wrapper(**given: Any) -> Any:
        chosen = {name: value for name in names if (value := given.pop(name)) is not None}
        return command(**given, models=ModelSettings(**chosen))

    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    wrapper.__signature__ = inspect.Signature([*keyword, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in (*keyword, *added)}
    del wrapper.__wrapped__
    return wrapper
