"""Options of commands that play with language models: which model, where, how fast, for how much."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv.llm import ModelSettings


class Prompts(StrEnum):
    """The choice of birdenv's own prompts that are sent."""

    FULL = "full"
    COMPACT = "compact"


@dataclass(frozen=True)
class ModelOptions:
    """The agent's model."""

    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="The agent's model; without --agent it is --agent llm:MODEL."),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            help="OpenAI-compatible endpoint; default: OPENAI_BASE_URL, else OpenAI's. Also read from .env.",
        ),
    ] = None
    key_variable: Annotated[
        str | None,
        typer.Option(
            "--api-key-variable", help="Environment variable that holds the key; default: OPENAI_API_KEY."
        ),
    ] = None
    max_concurrency: Annotated[
        int | None,
        typer.Option("--max-concurrency", min=1, help="Number of requests to an endpoint at the same time."),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0.0,
            help="Budget in US dollars. The run ends when it is spent; --resume continues it.",
        ),
    ] = None
    run_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Budget in tokens, for the whole run.")
    ] = None
    prompt: Annotated[
        Path | None, typer.Option("--prompt", help="File with the agent's system prompt (Jinja2).")
    ] = None
    prompts: Annotated[
        Prompts | None, typer.Option("--prompts", help="full; or compact, with examples, for small models.")
    ] = None
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", min=0.0, help="Temperature of the agent's model (the user's is 0)."),
    ] = None
    answer_tokens: Annotated[
        int | None, typer.Option("--max-answer-tokens", min=1, help="Maximum number of tokens in one answer.")
    ] = None
    service_tier: Annotated[
        str | None,
        typer.Option("--service-tier", help="Service tier to request, e.g. flex (waits up to 900 s)."),
    ] = None
    request_seconds: Annotated[
        float | None,
        typer.Option(
            "--request-timeout",
            min=0.1,
            help="Seconds for one request; all its retries get three times as long.",
        ),
    ] = None
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Replay the recorded calls of this run, offline.")
    ] = None
    cache: Annotated[
        Path | None,
        typer.Option(
            "--llm-cache", help="Folder in which calls are kept, so that other runs can reuse them."
        ),
    ] = None
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices", help="JSON file of prices: {MODEL: {input, output}}, US dollars per million tokens."
        ),
    ] = None

    def settings(self) -> ModelSettings:
        """Return the settings with what was chosen on the command line."""
        from birdenv.llm import ModelSettings

        return ModelSettings(**{name: value for name, value in asdict(self).items() if value is not None})


@dataclass(frozen=True)
class PairOptions(ModelOptions):
    """The agent's model, and the user's."""

    user_model: Annotated[
        str | None, typer.Option("--user-model", help="The user's model, if not in --user llm:MODEL.")
    ] = None
    user_base_url: Annotated[
        str | None, typer.Option("--user-base-url", help="The user's endpoint (key: BIRDENV_USER_API_KEY).")
    ] = None
    user_prompts: Annotated[
        Path | None,
        typer.Option(
            "--user-prompts",
            help="Folder with encoder.txt and decoder.txt, which replace the prompts of --user llm:MODEL "
            "under the published profiles.",
        ),
    ] = None


def check_models(models: ModelSettings | None, agent: Any, others: Iterable[Any]) -> None:
    """Reject language-model options if no player is a language model, and user-model options if the user is
    not.

    Raises:
        InputError: something was chosen, and no player's spec names one of our players with a model.
    """
    from birdenv.llm import ModelSettings

    others = list(others)
    is_model = any(map(_is_model, others))
    if models is not None and models.user_prompts and not any(map(_takes_prompts, others)):
        raise InputError("--user-prompts has no effect here: it replaces the prompts of --user llm:MODEL")
    if models is not None and (models.user_model or models.user_base_url) and not is_model:
        raise InputError("--user-model and --user-base-url have no effect here: give --user llm:MODEL")
    if models not in (None, ModelSettings()) and not (is_model or _is_model(agent)):
        raise InputError(
            "no player is a language model, so options of models (such as --model, --base-url, --replay) "
            "say nothing: give --agent llm:MODEL or --user llm:MODEL"
        )


def _takes_prompts(player: Any) -> bool:
    return isinstance(player, str) and player.partition(":")[0] == "llm"


def _is_model(player: Any) -> bool:
    return isinstance(player, str) and "llm" in re.split(r"\W", player.partition(":")[0])
