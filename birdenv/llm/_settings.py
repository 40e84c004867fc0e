"""Settings for language models, from options, environment variables or a `.env` file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field

from birdenv.checks import CheckedSettings
from birdenv.errors import InputError
from birdenv.files import file_digest
from birdenv.llm._errors import has_key, looks_like_a_key

Role: TypeAlias = Literal["agent", "user"]
"""The role in which a model is called: as the evaluated agent, or as the simulated user."""

OPENAI: Final = "https://api.openai.com/v1"
VARIABLES: Final = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "BIRDENV_USER_BASE_URL", "BIRDENV_USER_API_KEY")
"""The environment variables that name endpoints and keys if no option does."""

SHORT_KEY: Final = 5  # keys up to this length, such as NO_KEY, are not secret

KEY_VARIABLE: Final = "OPENAI_API_KEY"

USER_PROMPTS: Final = ("encoder.txt", "decoder.txt")
"""The names of the files in the folder `ModelSettings.user_prompts`."""

NO_KEY: Final = "none"
"""The text that is sent in place of an API key to servers that do not require a key."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The URL and the API key of an endpoint. `repr` does not show the key."""

    url: str
    key: str = field(repr=False)


class ModelSettings(CheckedSettings):
    """The settings for the language models in a run.

    Each field with a description is also a command-line option. The option has the field's name unless the
    annotation of the field contains a different name.
    """

    owner = "a model"

    model: Annotated[
        str | None,
        "--model",
        "-m",
        Field(description="The agent's model. Without --agent, this means --agent llm:MODEL."),
    ] = None
    user_model: Annotated[
        str | None, Field(description="The user's model, unless --user llm:MODEL names it.")
    ] = None
    base_url: Annotated[
        str | None,
        Field(
            description="OpenAI-compatible endpoint; default: OPENAI_BASE_URL (also in .env), otherwise "
            "OpenAI."
        ),
    ] = None
    user_base_url: Annotated[
        str | None,
        Field(
            description="The user's endpoint (key: BIRDENV_USER_API_KEY); default: BIRDENV_USER_BASE_URL, "
            "otherwise the agent's endpoint."
        ),
    ] = None
    key_variable: Annotated[
        str,
        "--api-key-variable",
        Field(description="Environment variable with the key; default: OPENAI_API_KEY."),
    ] = KEY_VARIABLE
    max_concurrency: Annotated[
        int | None, Field(ge=1, description="Maximum number of requests to an endpoint at the same time.")
    ] = None
    max_cost: Annotated[
        float | None,
        Field(
            ge=0,
            description="Budget in US dollars. The run ends when this is spent; --resume continues the run.",
        ),
    ] = None
    run_tokens: Annotated[
        int | None, "--max-tokens", Field(ge=1, description="Budget in tokens, for the whole run.")
    ] = None
    prompt: Annotated[Path | None, Field(description="File with the agent's system prompt (Jinja2).")] = None
    prompts: Annotated[
        Literal["full", "compact"],
        Field(
            description="birdenv's own prompts: full (default), or compact, with examples for small models."
        ),
    ] = "full"
    user_prompts: Annotated[
        Path | None,
        Field(
            description="Folder with encoder.txt and decoder.txt, which replace the prompts of --user "
            "llm:MODEL under the published profiles."
        ),
    ] = None
    temperature: Annotated[
        float | None, Field(ge=0, description="Temperature of the agent's model (the user's is 0).")
    ] = None
    answer_tokens: Annotated[
        int | None, "--max-answer-tokens", Field(ge=1, description="Maximum number of tokens in one answer.")
    ] = None
    service_tier: Annotated[
        str | None, Field(description="Service tier to request, e.g. flex (waits up to 900 s).")
    ] = None
    request_seconds: Annotated[
        float | None,
        "--request-timeout",
        Field(
            ge=0.1,
            description="Seconds allowed for a request; a call with retries is allowed three times as long.",
        ),
    ] = None
    call_seconds: float | None = None
    """A call's time limit in seconds, over all attempts; None for three times the limit for one request."""
    retries: int = 8
    """The maximum number of retries of a call."""
    pause_seconds: float = 0.5
    """The maximum pause in seconds before the first retry. The maximum doubles with each further retry."""
    replay: Annotated[Path | None, Field(description="Replay the recorded calls of this run, offline.")] = (
        None
    )
    cache: Annotated[
        Path | None,
        "--llm-cache",
        Field(description="Folder for storing calls, so that other runs can reuse the answers."),
    ] = None
    prices: Annotated[
        Path | None,
        Field(description="JSON file of prices in US dollars per million tokens: {MODEL: {input, output}}."),
    ] = None

    @property
    def seconds(self) -> tuple[float, float]:
        """Return the time limits in seconds for a single request, and for a call with all its retries."""
        request = self.request_seconds or (900.0 if self.service_tier == "flex" else 300.0)
        return request, self.call_seconds or 3 * request

    def model_of(self, role: Role, named: str = "") -> str:
        """Return the name of the model for a role: `named` or, if that is empty, the model in the settings.

        Raises:
            InputError: no model is specified.
        """
        found = named or (self.user_model if role == "user" else self.model)
        if not found:
            option = "--user-model" if role == "user" else "--model"
            raise InputError(f"no model is specified: name a model in the spec (llm:MODEL) or with {option}")
        return found

    def endpoint(self, role: Role) -> Endpoint:
        """Return the endpoint for a role's calls.

        An API key is sent only to the endpoint that it was set for. If the simulated user has a separate
        endpoint, the key comes from `BIRDENV_USER_API_KEY`; if that variable is not set, no key is sent.

        Raises:
            InputError: the key for OpenAI is missing, or the key or the URL cannot be used.
        """
        values = environment()
        url, user_url = self._urls(values)  # check both URLs, because the run records them
        key = values.get(self.key_variable)
        if role == "user":
            own = values.get("BIRDENV_USER_API_KEY")
            if user_url != url:
                url, key = user_url, own
            key = own or key
        if self.key_variable != KEY_VARIABLE and self.key_variable not in values and self.replay is None:
            raise InputError(  # without the variable's name, because people put the key itself there
                "the variable that --api-key-variable names is not set, either in the environment or in a "
                ".env file"
            )
        if not key and self.replay is None and url == OPENAI:
            raise InputError(
                f"no API key was found: set {KEY_VARIABLE} in the environment or in a .env file, "
                "or name a server of your own with --base-url"
            )
        return Endpoint(url, _checked_key((key or NO_KEY).strip(), url))

    def to_travel(self) -> ModelSettings:
        """Return a copy of the settings that is valid in a different process, folder or environment.

        The copy has absolute paths and the endpoints named by the environment, but no API keys. Every machine
        must have the keys in its environment variables.

        Raises:
            InputError: a base URL cannot be used.
        """
        url, user_url = self._urls(environment())
        paths = {
            name: path.absolute()
            for name in ("prompt", "user_prompts", "replay", "cache", "prices")
            if (path := getattr(self, name)) is not None
        }
        return self.model_copy(update={"base_url": url, "user_base_url": user_url, **paths})

    def _urls(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return the base URLs for the agent and for the user."""
        url = _checked_url(self.base_url or values.get("OPENAI_BASE_URL") or OPENAI)
        user_url = self.user_base_url or values.get("BIRDENV_USER_BASE_URL")
        return url, _checked_url(user_url) if user_url else url

    def config(self) -> dict[str, Any]:
        """Return the settings that affect a run's records, excluding settings with their default value.

        Raises:
            InputError: a prompt file cannot be read.
        """
        of_user = self.user_prompts
        found = {
            "model": self.model,
            "user_model": self.user_model,
            "temperature": self.temperature,
            "answer_tokens": self.answer_tokens,
            "prompts": None if self.prompts == "full" else self.prompts,
            "prompt_sha256": None if self.prompt is None else file_digest(self.prompt),
            "user_prompts_sha256": of_user and {name: file_digest(of_user / name) for name in USER_PROMPTS},
        }
        return {name: value for name, value in found.items() if value is not None}


def _checked_url(url: str) -> str:
    """Return a valid URL without its final slash. Errors do not quote it, because it may contain a key."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError("the base URL cannot be read; it looks like http://127.0.0.1:8000/v1") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError(
            "the base URL must not contain a user name, password or query: put the key in the environment"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InputError("the base URL is not valid; it looks like http://127.0.0.1:8000/v1")
    if looks_like_a_key(url):
        raise InputError("the base URL seems to contain a key: put the key in the environment")
    return url.rstrip("/").removesuffix("/chat/completions")


def _checked_key(key: str, url: str) -> str:
    """Return a valid API key. Without this check, errors of the client would quote an invalid key."""
    if not key.isascii() or not key.isprintable():
        raise InputError("the key contains an invalid character, such as a line break or a curly quote")
    if len(key) > SHORT_KEY and has_key(url, key):
        raise InputError("the base URL must not contain the key, which is sent separately")
    return key


def environment() -> Mapping[str, str]:
    """Return the environment variables, supplemented by the `.env` file in the working directory."""
    return {**_dotenv(Path.cwd() / ".env"), **{name: value for name, value in os.environ.items() if value}}


def _dotenv(path: Path) -> Mapping[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return {name: value for name, value in dotenv_values(path).items() if value}
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read") from None
