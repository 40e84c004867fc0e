"""Settings of models: from flags, else from the environment, else from a file `.env`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from birdenv.errors import InputError
from birdenv.files import file_digest
from birdenv.llm._errors import has_key, looks_like_a_key

Role: TypeAlias = Literal["agent", "user"]
"""For whom a model is called: the evaluated seat, or the simulated user."""

OPENAI: Final = "https://api.openai.com/v1"
VARIABLES: Final = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "BIRDENV_USER_BASE_URL", "BIRDENV_USER_API_KEY")
"""The environment variables that are read where no flag says otherwise."""

SHORT_KEY: Final = 5  # such as NO_KEY: no secret, and may stand anywhere

KEY_VARIABLE: Final = "OPENAI_API_KEY"

USER_PROMPTS: Final = ("encoder.txt", "decoder.txt")
"""The files of `ModelSettings.user_prompts`."""

NO_KEY: Final = "none"
"""Sent to servers of one's own, which ask for no key."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address to which requests go, and their key, which no `repr` shows."""

    url: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Everything that may be chosen about the models of a run.

    Attributes:
        model: the agent's model, where its spec names none.
        user_model: the simulated user's model, likewise.
        base_url: endpoint; without it `OPENAI_BASE_URL`, else OpenAI's.
        user_base_url: the user's endpoint; without it `BIRDENV_USER_BASE_URL`, else the agent's.
        key_variable: name of the environment variable that holds the key.
        max_concurrency: most requests at the same time for each endpoint; None for as many as there are
            episodes.
        max_cost: US dollars after which the run ends.
        run_tokens: prompt and completion tokens after which the run ends.
        prompt: file of the agent's system prompt (Jinja2).
        prompts: `full`, or `compact`: short prompts with examples, for models that only continue a text.
        user_prompts: folder whose `encoder.txt` and `decoder.txt` replace the prompts of the user `llm`.
        temperature: of the agent; None leaves it to the endpoint. The user's is 0.
        answer_tokens: most tokens of one answer; None leaves it to the endpoint.
        service_tier: `flex` and the like; `flex` waits longer.
        request_seconds: until one request is given up; None for 300, or 900 with `flex`.
        call_seconds: the same for all tries of a call; None for three times as long.
        retries: tries after the first.
        pause_seconds: longest pause before the second try; doubled for each further one.
        replay: a run whose recorded calls are played again, offline.
        cache: folder of calls that are used again in other runs.
        prices: JSON file of prices.
    """

    model: str | None = None
    user_model: str | None = None
    base_url: str | None = None
    user_base_url: str | None = None
    key_variable: str = KEY_VARIABLE
    max_concurrency: int | None = None
    max_cost: float | None = None
    run_tokens: int | None = None
    prompt: Path | None = None
    prompts: Literal["full", "compact"] = "full"
    user_prompts: Path | None = None
    temperature: float | None = None
    answer_tokens: int | None = None
    service_tier: str | None = None
    request_seconds: float | None = None
    call_seconds: float | None = None
    retries: int = 8
    pause_seconds: float = 0.5
    replay: Path | None = None
    cache: Path | None = None
    prices: Path | None = None

    @property
    def seconds(self) -> tuple[float, float]:
        """Return seconds for one request, and for all tries of a call."""
        request = self.request_seconds or (900.0 if self.service_tier == "flex" else 300.0)
        return request, self.call_seconds or 3 * request

    def model_of(self, role: Role, named: str = "") -> str:
        """Return the model of a role: the one that a spec names, else the setting.

        Raises:
            InputError: there is neither.
        """
        found = named or (self.user_model if role == "user" else self.model)
        if not found:
            option = "--user-model" if role == "user" else "--model"
            raise InputError(f"which model? Give it in the spec (llm:MODEL), or by {option}")
        return found

    def endpoint(self, role: Role) -> Endpoint:
        """Return where the calls of a role go.

        A key goes only to the endpoint that it was given for: the user's other endpoint has the key
        `BIRDENV_USER_API_KEY`, or none.

        Raises:
            InputError: there is no key for OpenAI, or the key or the URL cannot be used.
        """
        values = environment()
        url = _checked_url(self.base_url or values.get("OPENAI_BASE_URL") or OPENAI)
        key = values.get(self.key_variable)
        user_url = self.user_base_url or values.get("BIRDENV_USER_BASE_URL")
        user_url = _checked_url(user_url) if user_url else None  # whoever asks: it is written into the run
        if role == "user":
            own = values.get("BIRDENV_USER_API_KEY")
            if user_url and user_url != url:
                url, key = user_url, own
            key = own or key
        if self.key_variable != KEY_VARIABLE and self.key_variable not in values and self.replay is None:
            raise InputError(  # its name is not said: people put the key itself there
                "the variable that --api-key-variable names is not set, in the environment or in a file .env"
            )
        if not key and self.replay is None and url == OPENAI:
            raise InputError(
                f"no key: set {KEY_VARIABLE} in the environment or in a file .env, "
                "or name a server of your own with --base-url"
            )
        return Endpoint(url, _checked_key((key or NO_KEY).strip(), url))

    def to_travel(self) -> ModelSettings:
        """Return settings that mean the same in another process, folder and environment.

        Endpoints that the environment names stand in them, and paths are absolute. Keys are not in them: each
        machine has its own, under the names that the settings say.

        Raises:
            InputError: a base URL cannot be used.
        """
        values = environment()
        url = _checked_url(self.base_url or values.get("OPENAI_BASE_URL") or OPENAI)
        user_url = self.user_base_url or values.get("BIRDENV_USER_BASE_URL")
        paths = {
            name: path.absolute()
            for name in ("prompt", "user_prompts", "replay", "cache", "prices")
            if (path := getattr(self, name)) is not None
        }
        return replace(
            self,
            base_url=url,
            user_base_url=_checked_url(user_url) if user_url else url,
            **paths,
        )

    def config(self) -> dict[str, Any]:
        """Return the settings on which the records of a run depend, where they are not the default.

        Raises:
            InputError: a file of prompts cannot be read.
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
    """Return the URL without a slash at its end. What it holds is not said: it may be a key."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError("the base URL cannot be read; it looks like http://127.0.0.1:8000/v1") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError(
            "the base URL must hold no user name, password or query: give the key in the environment"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InputError("that is no base URL; it looks like http://127.0.0.1:8000/v1")
    if looks_like_a_key(url):
        raise InputError("the base URL holds what looks like a key: give the key in the environment")
    return url.rstrip("/").removesuffix("/chat/completions")


def _checked_key(key: str, url: str) -> str:
    """Return the key. Nothing of it is said: the client repeats what it cannot send."""
    if not key.isascii() or not key.isprintable():
        raise InputError("the key holds a character that no key has, such as a line break or a curly quote")
    if len(key) > SHORT_KEY and has_key(url, key):
        raise InputError("the base URL must not hold the key, which is sent beside it")
    return key


def environment() -> Mapping[str, str]:
    """Return the environment's variables, and those of `.env` in the working directory behind them."""
    return {**_dotenv(Path.cwd() / ".env"), **{name: value for name, value in os.environ.items() if value}}


def _dotenv(path: Path) -> Mapping[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return {name: value for name, value in dotenv_values(path).items() if value}
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read") from None
