"""What can go wrong with an endpoint, by what may help; and keys, which no text of an error may show.

A key is found however a server spells it: plain, or as JSON, HTML or a URL escapes its characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.entities import codepoint2name
from typing import Final

from birdenv.errors import BirdenvError, InfrastructureError, RunEndedError


class EndpointError(InfrastructureError):
    """The endpoint gave no usable answer to one call, also after retries."""

    retried = True


class EndpointRefusedError(RunEndedError):
    """The endpoint refuses every call: the key, the model, the URL or the quota is at fault."""


class BudgetSpentError(RunEndedError):
    """The run has reached `--max-cost` or `--max-tokens`."""


class ReplayMissError(RunEndedError):
    """A run that is replayed makes a call that was not recorded."""


class ContextOverflowError(BirdenvError):
    """The messages are longer than the model's context."""


class TransientError(Exception):
    """One request failed, and the next may do.

    Attributes:
        kind: what happened, for counts: `rate limit`, `server error`, `unavailable`, `connection`, `timeout`,
            `bad reply`.
        after: seconds that the server asks to wait; None if it does not.
    """

    def __init__(self, message: str, kind: str, after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.after = after


class RefusedParameterError(Exception):
    """The endpoint does not know an optional parameter; the argument is its name."""


class ReasoningMissingError(Exception):
    """The endpoint wants the reasoning of earlier answers back; the argument is what it said."""


class FilteredError(Exception):
    """The endpoint's filter stopped a request; the argument is what it said."""


_HIDDEN: Final = "[key]"
_KEY_LIKE: Final = re.compile(r"(?i)(?<![a-z0-9])(?:(?:sk|gsk|hf|xai|nvapi|pplx)[-_][\w-]{6}|AIza\w{8})")


def has_key(text: str, key: str) -> bool:
    """Return whether a text holds a key."""
    return _spelled(key).search(text) is not None


def without_key(text: str, key: str) -> str:
    r"""Return a text with a mark in place of a key.

    >>> without_key(r'{"error": "bad sk-a\u002B1, sk-a%2b1"}', "sk-a+1")
    '{"error": "bad [key], [key]"}'
    """
    return _spelled(key).sub(_HIDDEN, text)


def looks_like_a_key(text: str) -> bool:
    """Return whether a text holds something with the first letters that well-known keys have.

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
    # JSON in JSON doubles the backslashes: 15 stand for four levels of it
    return rf"(?:{plain}|\\{{1,15}}(?:(?i:u{code:04x})|{plain})|(?i:%{code:02x}|&(?:{'|'.join(entities)});))"
