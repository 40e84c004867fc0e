"""Call an endpoint, and retry failed requests. No other layer of birdenv retries model calls."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final

from birdenv.llm._completion import UNPAID, Completion, completion_of, read_completion
from birdenv.llm._errors import (
    EndpointError,
    EndpointRefusedError,
    FilteredError,
    ReasoningMissingError,
    RefusedParameterError,
    TransientError,
)
from birdenv.llm._request import Poster
from birdenv.llm._settings import Endpoint, ModelSettings

_LONGEST_PAUSE: Final = 60.0
_FIRST_TRIES: Final = 3  # if the endpoint has never answered, or the last call failed
_LOST_CALLS: Final = 3
"""The number of failed calls in a row, in all threads, after which an endpoint counts as lost."""

_OF_ALL_CALLS: Final = frozenset({"connection", "timeout", "rate limit", "unavailable"})
"""The kinds of failures that affect all calls. Other failures may depend on the request."""

Count = Callable[[str], None]
"""A function that is called with the kind of each failure."""


class Caller:
    """A thread-safe client for one endpoint that retries failed requests.

    The pause before a retry is random, and its maximum doubles with every retry. If the server says how long
    to wait (`Retry-After`), all threads wait that long, unless it is longer than a request may take. A
    rate-limited call is retried until its time limit, because the endpoint is still answering other calls.
    After a failed call, later calls get fewer retries until one succeeds. After several failed calls in a
    row, the run ends, so that a dead endpoint does not cost every episode its full number of retries.

    Attributes:
        endpoint: the URL and the API key to use.
    """

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        self.endpoint = endpoint
        self._settings = settings
        self._poster = Poster(endpoint)
        most = settings.max_concurrency
        self._room: Any = nullcontext() if most is None else threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._quiet_until = 0.0
        self._refused: dict[str, set[str]] = {}
        self._with_reasoning: set[Any] = set()  # models that require reasoning in requests
        self._has_worked = False
        self._has_answered = False  # with a completion or an error of an API
        self._rejected = 0
        self._failed = 0  # number of failed calls in a row

    def call(self, body: dict[str, Any], thoughts: Sequence[str], count: Count) -> Completion:
        """Return the endpoint's answer to a chat request.

        Args:
            body: the body of the request.
            thoughts: the reasoning for each assistant message in the request. Reasoning is sent only to
                endpoints that require it, because most endpoints reject it.
            count: a function that is called with the kind of failure after each failed request.

        Raises:
            EndpointError: no attempt returned a usable answer.
            EndpointRefusedError: the endpoint does not answer any call.
            ContextOverflowError: the messages are too long.
        """
        request_seconds, call_seconds = self._settings.seconds
        ends = time.monotonic() + call_seconds
        tries = failures = 0
        is_doubted = self._failed > 0
        while True:
            self._wait_until_allowed(ends)
            left = ends - time.monotonic()
            if left <= 0:
                raise EndpointError(
                    f"{self.endpoint.url}: the {call_seconds:g} s of the call ended in a pause"
                )
            sent, thinks = self._accepted(body), body.get("model") in self._with_reasoning
            if thinks:
                sent = sent | {"messages": _with_thoughts(sent["messages"], thoughts)}
            try:
                with self._room:
                    completion = read_completion(self._poster.post(sent, min(request_seconds, left)))
                self._has_worked, self._failed = True, 0
                return completion
            except FilteredError as error:
                self._has_worked = True
                refused = {"role": "assistant", "content": None, "refusal": str(error)}
                return completion_of(refused, "content_filter", UNPAID)
            except RefusedParameterError as error:
                count("refused parameter")
                self._refuse(str(body.get("model")), str(error))
            except ReasoningMissingError as error:
                count("reasoning asked for")
                if thinks:
                    raise EndpointError(str(error)) from None
                self._with_reasoning.add(body.get("model"))
            except EndpointError as error:
                self._rejected += 1
                if not self._has_worked and self._rejected >= _FIRST_TRIES:
                    raise EndpointRefusedError(str(error)) from None
                raise
            except TransientError as error:
                count(error.kind)
                self._has_answered |= error.kind in ("rate limit", "server error", "unavailable")
                tries += 1
                failures += error.kind != "rate limit" or not self._has_worked
                self._pause(error, tries, failures > self._retries(is_doubted), ends)

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()

    def _retries(self, is_doubted: bool) -> int:
        """Return how often a failed call may be retried. Rate limits do not count as failures."""
        is_known = self._has_worked or self._has_answered
        most = self._settings.retries
        return most if is_known and not is_doubted else min(most, _FIRST_TRIES - 1)

    def _pause(self, error: TransientError, tries: int, was_last: bool, ends: float) -> None:
        """Wait before the next attempt.

        Raises:
            EndpointError: no attempts or no time is left.
        """
        longest = min(self._settings.pause_seconds * 2 ** min(tries - 1, 20), _LONGEST_PAUSE)
        asked = error.after or 0.0
        pause = random.uniform(0.0, longest) + asked
        if asked < min(self._settings.seconds):
            with self._lock:
                self._quiet_until = max(self._quiet_until, time.monotonic() + asked)
        if was_last or time.monotonic() + pause >= ends:
            said = self._poster.scrubbed(str(error))
            if self.endpoint.url not in said:
                said = f"{self.endpoint.url}: {said}"
            times = f" (tried {tries} times)" if tries > 1 else ""
            if asked and not was_last:
                times += f" (the server asks to wait {asked:.0f} s)"
            with self._lock:
                self._failed += 1
            is_lost = error.kind in _OF_ALL_CALLS and self._failed >= _LOST_CALLS
            row = f" ({self._failed} calls in a row failed)" if is_lost and self._has_worked else ""
            kind = EndpointRefusedError if is_lost or not self._has_worked else EndpointError
            raise kind(f"{said}{times}{row}") from None
        time.sleep(pause)

    def _wait_until_allowed(self, ends: float) -> None:
        pause = self._quiet_until - time.monotonic()
        if pause > 0:
            time.sleep(min(pause * random.uniform(1.0, 1.1), max(ends - time.monotonic(), 0.0)))

    def _accepted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the request without the parameters that the endpoint has refused for this model."""
        refused = self._refused.get(str(body.get("model")))
        if not refused:
            return body
        sent = {name: value for name, value in body.items() if name not in refused}
        if "max_tokens" in refused and "max_completion_tokens" not in refused and "max_tokens" in body:
            sent["max_completion_tokens"] = body["max_tokens"]
        return sent

    def _refuse(self, model: str, name: str) -> None:
        with self._lock:
            self._refused.setdefault(model, set()).add(name)


def _with_thoughts(messages: Sequence[dict[str, Any]], thoughts: Sequence[str]) -> list[dict[str, Any]]:
    """Return messages with their reasoning. The last `thoughts` belong to the last assistant messages."""
    own = sum(message.get("role") == "assistant" for message in messages)
    left = iter(thoughts[len(thoughts) - own :] if own <= len(thoughts) else ())
    return [
        message | {"reasoning_content": next(left, "")} if message.get("role") == "assistant" else message
        for message in messages
    ]
