"""The language models of a run, with their endpoints, recorded calls and costs."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from birdenv.errors import InputError, RunEndedError
from birdenv.llm._completion import UNPAID, Completion, completion_of
from birdenv.llm._costs import Ledger, TokenPrices
from birdenv.llm._errors import ContextOverflowError, ReplayMissError
from birdenv.llm._recording import Call, CallFile, CollectedCalls
from birdenv.llm._retries import Caller
from birdenv.llm._seat_calls import Chat
from birdenv.llm._settings import VARIABLES, Endpoint, ModelSettings, Role, environment

CALLS: Final = "private_calls.jsonl"
"""The file with a run's calls. It is private, because prompts for a simulated user may contain gold SQL."""

_OVERFLOW: Final = "context overflow"


class Models:
    """The language models of a run. All threads share one instance.

    Attributes:
        settings: the settings of the models.
        ledger: the run's token counts, costs and budgets.
    """

    def __init__(self, settings: ModelSettings | None = None) -> None:
        """Read the files that the settings name, without calling a model.

        Raises:
            InputError: a file cannot be read.
        """
        self.settings = settings or ModelSettings()
        self.ledger = Ledger(self.settings)
        self._prices = TokenPrices(self.settings.prices)
        self._endpoints: dict[Role, Endpoint] = {}
        self._callers: dict[Endpoint, Caller] = {}
        self._caches: dict[str, CallFile] = {}
        self._recorded: Mapping[str, Sequence[str]] = {}
        self._own: CallFile | CollectedCalls | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        self._replayed = None if self.settings.replay is None else _replayed(self.settings.replay)

    def chat(self, role: Role, model: str, scope: str, seed: int | None = None) -> Chat:
        """Return an object that calls a model for one seat in one episode.

        Args:
            role: the role of the seat, which determines the settings to use.
            model: the name of the model in the player's spec; empty to use the model named in the settings.
            scope: the task, the episode number and the seat, such as `library_1/0/system`.
            seed: the seed that is sent with every request; None for no seed.

        Raises:
            InputError: the model, the key or the URL is missing, or the price that `max_cost` requires; or a
                call file is damaged.
        """
        name = self.settings.model_of(role, model)
        endpoint = self._endpoint(role)
        self._cache_of(endpoint)
        if self.settings.max_cost is not None and not self._prices.are_known(name, endpoint.url):
            raise InputError(
                f"--max-cost requires the price of {name!r} at {endpoint.url}: for a public service, "
                "pip install 'birdenv[prices]'; otherwise specify it in a --prices file"
            )
        return Chat(self.settings, partial(self.answer, role), name, scope, seed)

    def record_in(self, folder: Path) -> None:
        """Record all calls in a run folder, and reuse the answers that the folder already contains.

        Raises:
            InputError: the folder's call file is damaged.
        """
        own = self._own = CallFile(folder / CALLS, append=True)
        self._recorded = own.by_episode()
        self.ledger.begin_with(own.calls, own.cost, own.tokens, own.unpriced, own.unmetered)

    def collect(self) -> CollectedCalls:
        """Collect a worker's calls in memory, so that the run's main process can record them."""
        collected = self._own = CollectedCalls()
        return collected

    def recorded_of(self, episode: str) -> tuple[Call, ...]:
        """Return an episode's calls that were already in the run folder when `record_in` was called."""
        own = self._own
        keys = self._recorded.get(episode, ())
        return tuple(call for key in keys if own is not None and (call := own.find(key)) is not None)

    def take_over(self, calls: Iterable[Call], agent: str) -> None:
        """Record and count calls that a worker made.

        Args:
            calls: the calls.
            agent: the name of the evaluated seat. Calls for all other seats are counted under the role
                `user`.
        """
        for call in calls:
            entry = {name: value for name, value in call.items() if name != "key"}
            if self._own is not None:
                self._own.add(call["key"], entry)
            role: Role = "agent" if call["scope"].endswith(f"/{agent}") else "user"
            reused = self._replayed is not None or bool(entry.get("reused"))
            self.ledger.add(role, _recorded(entry), reused=reused)

    def answer(
        self,
        role: Role,
        key: str,
        body: dict[str, Any],
        entry: dict[str, Any],
        thoughts: Sequence[str] = (),
    ) -> Completion:
        """Return the recorded answer to a request, or send the request to the endpoint and record its answer.

        Args:
            role: the role, which determines the endpoint.
            key: the key under which the call is recorded.
            body: the body of the request.
            entry: the request as it will be recorded.
            thoughts: the reasoning from each earlier answer in the dialogue.

        Raises:
            ReplayMissError: the run is a replay, and the call was not recorded.
            ContextOverflowError: the messages are too long.
            InfrastructureError: the endpoint does not answer, or a budget is spent.
        """
        if self._is_closed:
            raise RunEndedError("the run has ended")
        endpoint = self._endpoint(role)
        cached = self._cache_of(endpoint)
        for file in (self._own, self._replayed, cached):
            found = file.find(key) if file is not None else None
            if found is not None:
                if file is not self._own and self._own is not None:
                    again = {"reused": True} if file is cached else {}
                    self._own.add(key, {k: v for k, v in found.items() if k not in ("key", "reused")} | again)
                completion = _recorded(found)
                self.ledger.add(role, completion, reused=True)
                break
        else:
            completion = self._called(role, endpoint, key, body, entry, thoughts, cached)
        if completion.finish_reason == _OVERFLOW:
            raise ContextOverflowError(completion.content)
        return completion

    def sort_calls(self) -> None:
        """Sort the recorded calls, so that identical runs write identical files.

        Call this method when no episode is running.
        """
        if self._own is not None:
            self._own.sort()
            self._own.close()

    def close(self) -> None:
        """Close connections and files. Later calls raise `RunEndedError`."""
        with self._lock:
            self._is_closed = True
            callers, self._callers = list(self._callers.values()), {}
            files = [self._own, self._replayed, *self._caches.values()]
        for caller in callers:
            caller.close()
        for file in files:
            if file is not None:
                file.close()

    def _called(
        self,
        role: Role,
        endpoint: Endpoint,
        key: str,
        body: dict[str, Any],
        entry: dict[str, Any],
        thoughts: Sequence[str],
        cached: CallFile | None,
    ) -> Completion:
        if self._replayed is not None:
            raise ReplayMissError(
                f"{self._replayed.path} does not contain call {entry['n'] + 1} of {entry['scope']} "
                f"({key[:12]}). Replay a run with the settings, prompts and birdenv version that recorded it"
            )
        self.ledger.check()
        try:
            caller = self._caller(endpoint)
            completion = caller.call(body, thoughts, lambda kind: self.ledger.trouble(role, kind))
        except ContextOverflowError as error:
            completion = completion_of({"role": "assistant", "content": str(error)}, _OVERFLOW, UNPAID)
        cost = self._prices.cost(body["model"], endpoint.url, completion)
        completion = _priced(completion, cost)
        self.ledger.add(role, completion, reused=False)
        made = {**entry, **_answer_entry(completion)}
        for file in (self._own, cached):
            if file is not None:
                file.add(key, made)
        return completion

    def _endpoint(self, role: Role) -> Endpoint:
        found = self._endpoints.get(role)
        if found is None:
            found = self._endpoints[role] = self.settings.endpoint(role)
        return found

    def _caller(self, endpoint: Endpoint) -> Caller:
        with self._lock:
            found = self._callers.get(endpoint)
            if found is None:
                found = self._callers[endpoint] = Caller(endpoint, self.settings)
            return found

    def _cache_of(self, endpoint: Endpoint) -> CallFile | None:
        """Return an endpoint's own cache file, because two servers may use one name for different models."""
        folder = self.settings.cache
        if folder is None:
            return None
        with self._lock:
            found = self._caches.get(endpoint.url)
            if found is None:
                digest = hashlib.sha256(endpoint.url.encode()).hexdigest()[:8]
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise InputError(f"{folder}: cannot be created: {error.strerror}") from None
                path = folder / f"{urlsplit(endpoint.url).hostname}-{digest}.jsonl"
                found = self._caches[endpoint.url] = CallFile(path, append=True)
            return found


class FunctionModels(Models):
    """Models that are called through a Python function, for use inside other frameworks.

    The framework counts and logs the calls itself.

    Args:
        call: takes the body of a chat completion request, and returns the assistant's message.
    """

    def __init__(self, call: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        super().__init__()
        self._call = call

    def chat(self, role: Role, model: str, scope: str, seed: int | None = None) -> Chat:
        """Return an object that calls a model for one seat in one episode (see `Models.chat`)."""
        return Chat(self.settings, self._answer_of_function, model or role, scope, seed)

    def _answer_of_function(self, key: str, body: dict[str, Any], *_: Any) -> Completion:
        return completion_of(self._call(body), "stop", None)


def models_of(given: Models | ModelSettings | None) -> Models:
    """Return `given` if it is a `Models`; otherwise, return models that use `given` as settings.

    If `given` is None, environment variables and `.env` name the endpoint. Within a process, equal settings
    return the same instance. Calls to these models are not recorded.
    """
    if isinstance(given, Models):
        return given
    values = environment()
    return _shared_models(given, tuple(values.get(name) for name in VARIABLES))


@lru_cache(maxsize=8)
def _shared_models(settings: ModelSettings | None, values: tuple[str | None, ...]) -> Models:
    return Models(settings)


def _replayed(run: Path) -> CallFile:
    """Return the calls of a run.

    The path names the file, the folder of the run, or a folder with several runs, of which the latest counts.
    """
    for path in (run / CALLS, run / "latest" / CALLS, run):
        if path.is_file():
            return CallFile(path.resolve(), append=False)
    raise InputError(f"{run} has no recorded calls ({CALLS}); --replay needs a run with language models")


def _priced(completion: Completion, cost: float | None) -> Completion:
    return replace(completion, cost_usd=None if cost is None else round(cost, 10))


def _answer_entry(completion: Completion) -> dict[str, Any]:
    usage = {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": completion.cached_tokens},
    }
    return {
        "message": dict(completion.message),
        "finish_reason": completion.finish_reason,
        "usage": usage,
        "cost_usd": completion.cost_usd,
    }


def _recorded(entry: dict[str, Any]) -> Completion:
    found = completion_of(entry["message"], entry.get("finish_reason"), entry.get("usage"))
    return _priced(found, entry.get("cost_usd"))
