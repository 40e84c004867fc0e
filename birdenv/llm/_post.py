"""One request to an endpoint, and what its failure means. The only module that uses `openai`."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any, Final

from birdenv.llm._completion import error_text, shortened
from birdenv.llm._errors import (
    ContextOverflowError,
    EndpointError,
    EndpointRefusedError,
    FilteredError,
    RefusedParameterError,
    TransientError,
)
from birdenv.llm._settings import SHORT_KEY, Endpoint

OPTIONAL: Final = ("seed", "temperature", "max_tokens", "max_completion_tokens", "service_tier")
"""Parameters that an endpoint may refuse; then they are left out."""

_MOST_BYTES: Final = 16 * 2**20  # of an answer
_CONNECT_SECONDS: Final = 30.0
_STREAMED: Final = {"headers": {"X-Stainless-Raw-Response": "stream"}}
_OVERFLOW = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long"
)
_UNKNOWN = re.compile(
    r"unsupported|not support|unrecogni|unknown|unexpected|not permitted|not allowed|invalid"
)
_FILTERED = re.compile(r"content.?(filter|management|policy)")
_NEVER = ("unsupported protocol", "certificate", "ssl", "tls", "missing an 'http", "invalid url", "no scheme")


class Poster:
    """Sends requests to one endpoint; safe from any thread. Texts that it returns never hold the key.

    Each request under way has a client of its own, with one connection: a pool of connections looks at all of
    them for each request.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._clients: list[Any] = []
        self._idle: list[Any] = []
        self._tls: Any = None
        self._is_closed = False

    def post(self, body: dict[str, Any], seconds: float) -> str:
        """Send a chat request, and return the text of the answer.

        Raises:
            TransientError: it failed, and may be sent again.
            RefusedParameterError: it may be sent again without one parameter.
            ContextOverflowError: it is longer than the model's context.
            EndpointError: the endpoint does not take this request.
            EndpointRefusedError: the endpoint takes no request.
            FilteredError: its filter stopped this request.
        """
        import openai

        ends = time.monotonic() + seconds
        timeout = openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
        try:
            with self._client() as client:
                response = client.post(
                    "/chat/completions", cast_to=object, body=body, options={**_STREAMED, "timeout": timeout}
                )
                try:
                    return self._read(response, ends)
                finally:
                    response.close()
        except openai.APIStatusError as error:
            raise self._status_error(error, body) from None
        except openai.APITimeoutError as error:
            if "connect" in type(error.__cause__).__name__.lower():
                raise TransientError(f"{self._endpoint.url} cannot be reached", "connection") from None
            raise TransientError(f"no answer within {seconds:g} s", "timeout") from None
        except openai.APIConnectionError as error:
            raise self._connection_error(error) from None
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise TransientError(self.scrubbed(f"{type(error).__name__}: {error}"), "bad reply") from None
        except Exception as error:
            if "timeout" in type(error).__name__.lower():
                raise TransientError(f"no answer within {seconds:g} s", "timeout") from None
            if type(error).__module__.partition(".")[0] not in ("httpx", "httpx2", "httpcore", "httpcore2"):
                raise
            raise TransientError("the connection was lost", "connection") from None

    def scrubbed(self, text: str) -> str:
        """Return a text without the key, also as JSON may spell it."""
        key = self._endpoint.key
        if len(key) <= SHORT_KEY:
            return text
        return text.replace(key, "[key]").replace(key.replace("/", "\\/"), "[key]")

    def close(self) -> None:
        """Close the connections; nothing can be sent any more."""
        with self._lock:
            self._is_closed = True
            clients, self._clients = self._clients, []
        for client in clients:
            client.close()

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A client that nobody else uses; the one that was used last, if there is any."""
        with self._lock:
            if self._is_closed:
                raise EndpointRefusedError("the run has ended")
            if self._idle:
                client = self._idle.pop()
            else:
                client = self._opened()
                self._clients.append(client)
        try:
            yield client
        finally:
            self._idle.append(client)

    def _opened(self) -> Any:
        import openai

        if self._tls is None:  # reading the certificates takes longer than all the rest
            library = type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]  # httpx, or httpx2
            self._tls = import_module(library).create_ssl_context()
        return openai.OpenAI(
            api_key=self._endpoint.key,
            base_url=self._endpoint.url,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(verify=self._tls),
        )

    def _read(self, response: Any, ends: float) -> str:
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise EndpointError(f"an answer of {self._endpoint.url} has more than {_MOST_BYTES} bytes")
            if time.monotonic() > ends:
                raise TransientError("the answer did not end in time", "timeout")
        return self.scrubbed(b"".join(parts).decode("utf-8", "replace"))

    def _status_error(self, error: Any, body: dict[str, Any]) -> Exception:
        """What an answer with a status from 400 means."""
        status, found = error.status_code, _error_of(error)
        code = str(found.get("code") or found.get("type") or "")
        text = self.scrubbed(error_text(found) or shortened(error.response.text))
        said = f"{self._endpoint.url} answered {status}: {text}"
        lower = f"{code} {text}".lower()
        if "insufficient_quota" in lower or status == 402:
            return EndpointRefusedError(f"{said} (the quota is spent)")
        if status in (408, 409, 425, 429) or status >= 500:
            kind = "rate limit" if status == 429 else "server error"
            return TransientError(said, kind, retry_after(error.response.headers))
        if status == 413 or _OVERFLOW.search(lower):
            return ContextOverflowError(said)
        if status in (400, 422):
            refused = str(found.get("param") or "")
            names = [name for name in OPTIONAL if name in body and (name == refused or name in lower)]
            if names and _UNKNOWN.search(lower):
                return RefusedParameterError(names[0])
            if _FILTERED.search(lower):
                return FilteredError(text)
            return EndpointError(said)
        if status in (401, 403):
            said += " (is the key right?)"
        elif status == 404 and found.get("code"):
            said += f" ({self._endpoint.url}/models lists its models)"
        elif status == 404:
            said += " (is the base URL right? Most end in /v1)"
        return EndpointRefusedError(said)

    def _connection_error(self, error: BaseException) -> Exception:
        """What a request that never arrived, or whose answer never came, means."""
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


def _error_of(error: Any) -> dict[str, Any]:
    body = error.body
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {"message": body}
    inner = body.get("error", body) if isinstance(body, dict) else {}
    return inner if isinstance(inner, dict) else {"message": str(inner)}


def retry_after(headers: Any) -> float | None:
    """Return the seconds that `Retry-After` asks for, as seconds or as a date; None without it."""
    milliseconds, given = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(float(milliseconds) / 1000, 0.0)
        if given is None:
            return None
        try:
            return max(float(given), 0.0)
        except ValueError:
            return max(parsedate_to_datetime(given).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError):
        return None
