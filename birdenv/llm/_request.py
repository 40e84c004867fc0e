"""Send requests to an endpoint and classify failures. No other module uses `openai`."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import partial
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeVar

from birdenv.errors import BirdenvError
from birdenv.llm._completion import error_text, shortened
from birdenv.llm._errors import (
    ContextOverflowError,
    EndpointError,
    EndpointRefusedError,
    FilteredError,
    ReasoningMissingError,
    RefusedParameterError,
    TransientError,
    without_key,
)
from birdenv.llm._settings import SHORT_KEY, Endpoint

_T = TypeVar("_T")

OPTIONAL: Final = ("seed", "temperature", "max_tokens", "max_completion_tokens", "service_tier")
"""The parameters of requests that are left out if an endpoint refuses them."""

_MOST_BYTES: Final = 16 * 2**20  # maximum size of an answer
_CONNECT_SECONDS: Final = 30.0
_OVERFLOW = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long"
)
_UNKNOWN = re.compile(
    r"unsupported|not support|unrecogni|unknown|unexpected|not permitted|not allowed|invalid"
)
_SPENT = re.compile(r"insufficient.(quota|balance|credit|funds)|credit balance is too low")
_FILTERED = re.compile(r"content.?(filter|management|policy)")
_REASONING_MISSING = re.compile(
    r"(missing|required|must).*reasoning_content|reasoning_content.*(missing|required|must)"
)
_NEVER = ("unsupported protocol", "certificate", "ssl", "tls", "missing an 'http", "invalid url", "no scheme")


class Poster:
    """A thread-safe client for one endpoint. Returned text and errors never contain the API key.

    The `openai` client provides the URL and the headers, but only its transport is used to send requests,
    because the client itself would double the time per request. Each request in progress has its own
    connection, because a shared pool would search all connections for every request.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._prepared: _Prepared | None = None
        self._lines: list[_Line] = []
        self._idle: list[_Line] = []
        self._is_closed = False

    def post(self, body: dict[str, Any], seconds: float) -> str:
        """Send a chat request and return the body of the response.

        Args:
            body: the body of the request.
            seconds: the time limit for the request.

        Raises:
            TransientError: the request failed, and can be resent.
            RefusedParameterError: the endpoint refuses one parameter. The request may succeed without it.
            ContextOverflowError: the request does not fit in the model's context.
            EndpointError: the endpoint refuses this request.
            EndpointRefusedError: the endpoint refuses all requests.
            FilteredError: the endpoint's content filter stopped this request.
            ReasoningMissingError: the request lacks the reasoning of earlier answers, which the endpoint
                needs.
        """
        ends = time.monotonic() + seconds
        with self._client() as (line, to):
            timeout = to.library.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
            try:
                sent = {"content": json.dumps(body), "timeout": timeout, "follow_redirects": False}
                sent["extensions"] = {"trace": line.note}
                with line.cut_after(seconds), line.client.stream("POST", to.url, **sent) as response:
                    text = self._read(response, ends)
            except (BirdenvError, TransientError):
                raise
            except to.library.ConnectTimeout:
                raise TransientError(f"{self._endpoint.url} cannot be reached", "connection") from None
            except to.library.TimeoutException:
                raise TransientError(f"no answer within {seconds:g} s", "timeout") from None
            except (to.library.ConnectError, to.library.UnsupportedProtocol) as error:
                raise self._connection_error(error) from None
            except to.library.TransportError:
                if time.monotonic() >= ends:
                    raise TransientError(f"no answer within {seconds:g} s", "timeout") from None
                raise TransientError("the connection was lost", "connection") from None
            except Exception as error:  # anything else is not the model's answer
                raise TransientError(self.scrubbed(f"{type(error).__name__}: {error}"), "bad reply") from None
        if response.status_code >= 300:
            raise self._status_error(response, text, body)
        return text

    def scrubbed(self, text: str) -> str:
        """Return text with every spelling of the API key replaced by a placeholder."""
        key = self._endpoint.key
        return text if len(key) <= SHORT_KEY else without_key(text, key)

    def close(self) -> None:
        """Close the connections. No more requests can be sent."""
        with self._lock:
            self._is_closed = True
            lines, self._lines = self._lines, []
        for line in lines:
            line.client.close()

    @contextmanager
    def _client(self) -> Iterator[tuple[_Line, _Prepared]]:
        """Yield an idle client, preferably the last used client, and the common parts of requests."""
        with self._lock:
            if self._is_closed:
                raise EndpointRefusedError("the run has ended")
            if self._prepared is None:
                self._prepared = self._opened(lambda: _prepared(self._endpoint))
            if self._idle:
                line = self._idle.pop()
            else:
                line = _Line(self._opened(self._prepared.opened))
                self._lines.append(line)
        try:
            yield line, self._prepared
        finally:
            self._idle.append(line)

    def _opened(self, make: Callable[[], _T]) -> _T:
        """Return the result of `make`, and explain errors caused by certificates or proxies."""
        try:
            return make()
        except (OSError, ValueError, ImportError) as error:
            why = self.scrubbed(shortened(f"{type(error).__name__}: {error}"))
            raise EndpointRefusedError(
                f"{self._endpoint.url}: the connection cannot be set up: {why} "
                "(are SSL_CERT_FILE and proxy variables such as HTTPS_PROXY right?)"
            ) from None

    def _read(self, response: Any, ends: float) -> str:
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise EndpointError(f"an answer from {self._endpoint.url} has more than {_MOST_BYTES} bytes")
            if time.monotonic() > ends:
                raise TransientError("the answer did not end in time", "timeout")
        return self.scrubbed(b"".join(parts).decode("utf-8", "replace"))

    def _status_error(self, response: Any, answer: str, body: dict[str, Any]) -> Exception:
        """Return the error for a response with a status of 300 or more."""
        status, found = response.status_code, _error_of(answer)
        code = shortened(str(found.get("code") or found.get("type") or ""))
        text = error_text(found) or shortened(answer)
        said = f"{self._endpoint.url} answered {status}: {text}"
        lower = f"{code} {text}".lower()
        if status < 400:  # a redirected POST would arrive as a GET
            place = self.scrubbed(shortened(response.headers.get("location", "")))
            return EndpointRefusedError(
                f"{self._endpoint.url} answered {status}: it redirects requests to {place} "
                "(is the base URL correct?)"
            )
        if status == 402 or _SPENT.search(lower) or "billing" in code.lower():
            return EndpointRefusedError(f"{said} (the quota is spent)")
        if status in (408, 409, 425, 429) or status >= 500:
            kind = "rate limit" if status == 429 else "unavailable" if status > 501 else "server error"
            return TransientError(said, kind, retry_after(response.headers))
        if status == 413 or _OVERFLOW.search(lower):
            return ContextOverflowError(said)
        if status in (400, 422):
            refused = str(found.get("param") or "")
            names = [name for name in OPTIONAL if name in body and (name == refused or name in lower)]
            if names and _UNKNOWN.search(lower):
                return RefusedParameterError(names[0])
            if _FILTERED.search(lower):
                return FilteredError(text)
            if _REASONING_MISSING.search(lower):
                return ReasoningMissingError(said)
            return EndpointError(said)
        if status in (401, 403):
            said += " (is the key correct?)"
        elif status == 404 and found.get("code"):
            said += f" ({self._endpoint.url}/models lists its models)"
        elif status == 404:
            said += " (is the base URL correct? Most end in /v1)"
        return EndpointRefusedError(said)

    def _connection_error(self, error: BaseException) -> Exception:
        """Return the error for a failed connection."""
        reasons: list[str] = []
        cause: BaseException | None = error.__cause__ or error
        while cause is not None:
            text = str(cause)
            reasons += [text] if text and text not in reasons else []
            cause = cause.__cause__ or cause.__context__
        why = self.scrubbed(shortened(reasons[0] if reasons else "no reason given"))
        said = f"{self._endpoint.url} cannot be reached: {why}"
        lower = " ".join(reasons).lower()
        if "certificate" in lower:
            said += " (SSL_CERT_FILE names a file of certificates to trust)"
        if any(word in lower for word in _NEVER):
            return EndpointRefusedError(said)
        if "refused" in lower:
            said += " (is the server running?)"
        return TransientError(said, "connection")


class _Line:
    """A client and its connection, which a separate thread can cut when the time for a request is up.

    The time limits of the transport apply to single reads, so a server that sends single bytes slowly would
    never exceed them.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._stream: Any = None

    def note(self, event: str, info: Mapping[str, Any]) -> None:
        """Store the connection that the transport reports as new (its `trace` extension)."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._stream = info["return_value"]

    @contextmanager
    def cut_after(self, seconds: float) -> Iterator[None]:
        """Cut the connection if the `with` block takes longer than the time limit."""
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        connection = self._stream and self._stream.get_extra_info("socket")
        if connection is not None:
            with suppress(OSError):  # not `shutdown` of the TLS socket, which drops data that is still in use
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Prepared(NamedTuple):
    """The common parts of all requests to an endpoint.

    Attributes:
        library: the library of the transport, `httpx` or `httpx2`.
        url: the URL of the requests, as an object of the library.
        opened: creates a client with its own connection, which sends the headers of the endpoint.
    """

    library: Any
    url: Any
    opened: Callable[[], Any]


def _prepared(endpoint: Endpoint) -> _Prepared:
    """Return the common parts of requests, with the URL and the headers of the `openai` client."""
    import openai

    library = import_module(type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])
    tls = library.create_ssl_context()  # shared, because reading the certificates is slow
    try:
        client = openai.OpenAI(api_key=endpoint.key, base_url=endpoint.url)
    except library.InvalidURL as error:
        raise EndpointRefusedError(f"{endpoint.url} is not a base URL: {error}") from None
    client.close()  # the client itself sends nothing
    named = {**client.default_headers, **client.auth_headers}
    headers = {name: value for name, value in named.items() if isinstance(value, str)}
    return _Prepared(
        library,
        library.URL(f"{endpoint.url}/chat/completions"),
        partial(openai.DefaultHttpxClient, verify=tls, headers=headers),
    )


def _error_of(answer: str) -> dict[str, Any]:
    """Return the error object in a response. An error of any other type becomes an object's message."""
    try:
        body = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    inner = body.get("error", body) if isinstance(body, dict) else body
    return inner if isinstance(inner, dict) else {"message": str(inner)}


def retry_after(headers: Any) -> float | None:
    """Return the delay in seconds that `Retry-After` headers ask for; None if it is missing or invalid."""
    milliseconds, given = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        elif given is None:
            return None
        else:
            try:
                seconds = float(given)
            except ValueError:
                seconds = parsedate_to_datetime(given).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0) if seconds < threading.TIMEOUT_MAX else None  # None for NaN, too
