"""Exceptions for endpoint failures, and functions that remove API keys from text.

A key is recognised in every spelling that a server might use: plain, or escaped as in JSON, HTML or a URL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.entities import codepoint2name
from typing import Final

from birdenv.errors import BirdenvError, InfrastructureError, RunEndedError


class EndpointError(InfrastructureError):
    """The endpoint returned no usable answer to a call, even after retries."""

    retried = True


class EndpointRefusedError(RunEndedError):
    """The endpoint refuses all calls, for example because the key is invalid or the quota is used up."""


class BudgetSpentError(RunEndedError):
    """The run has reached `--max-cost` or `--max-tokens`."""


class ReplayMissError(RunEndedError):
    """A replay requires a call that the original run did not record."""


class ContextOverflowError(BirdenvError):
    """The messages do not fit in the model's context."""


class TransientError(Exception):
    """A request failed, but a retry may succeed.

    Attributes:
        kind: the kind of failure: `rate limit`, `server error`, `unavailable`, `connection`, `timeout` or
            `bad reply`.
        after: the number of seconds to wait before a retry; None if the server does not specify a delay.
    """

    def __init__(self, message: str, kind: str, after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.after = after


class RefusedParameterError(Exception):
    """The endpoint refuses an optional parameter. The error's argument is the name of the parameter."""


class ReasoningMissingError(Exception):
    """The request lacks reasoning that the endpoint requires. The argument is the endpoint's message."""


class FilteredError(Exception):
    """The endpoint's content filter stopped a request. The error's argument is the endpoint's message."""


_HIDDEN: Final = "[key]"
_KEY_LIKE: Final = re.compile(r"(?i)(?<![a-z0-9])(?:(?:sk|gsk|hf|xai|nvapi|pplx)[-_][\w-]{6}|AIza\w{8})")


def has_key(text: str, key: str) -> bool:
    """Return True if the text contains the key in any spelling."""
    return _spelled(key).search(text) is not None


def without_key(text: str, key: str) -> str:
    r"""Return the text with every spelling of the key replaced by a placeholder.

    >>> without_key(r'{"error": "bad sk-a\u002B1, sk-a%2b1"}', "sk-a+1")
    '{"error": "bad [key], [key]"}'
    """
    return _spelled(key).sub(_HIDDEN, text)


def looks_like_a_key(text: str) -> bool:
    """Return True if a word in the text begins with the prefix of a well-known kind of API key.

    >>> looks_like_a_key("http://127.0.0.1/sk-a1b2c3/v1"), looks_like_a_key("http://desk-1/task_list/v1")
    (True, False)
    """
    return _KEY_LIKE.search(text) is not None


@lru_cache(maxsize=8)
def _spelled(key: str) -> re.Pattern[str]:
    return re.compile("".join(map(_spellings, key)))


def _spellings(char: str) -> str:
    code = ord(char)
    entities = [
        f"#0{{0,8}}{code}",
        f"#x0{{0,8}}{code:x}",
        *([codepoint2name[code]] if code in codepoint2name else []),
    ]
    plain = re.escape(char)
    # Nested JSON doubles the backslashes; 15 allow for four levels.
    return rf"(?:{plain}|\\{{1,15}}(?:(?i:u{code:04x})|{plain})|(?i:%{code:02x}|&(?:{'|'.join(entities)});))"
