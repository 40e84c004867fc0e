"""Spaces of chat messages with tool calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from birdenv.envs._space_as_text import SpaceAsText
from birdenv.envs._unicode_text import UnicodeText
from birdenv.tasks import ARGUMENTS, KINDS, Kind, tool_schemas

__all__ = ["ChatPrompts", "ChatReplies"]

Json = dict[str, Any]


class _ChatSpace(SpaceAsText[Json]):
    """JSON objects; `max_length` bounds their text, and membership looks at the outermost layer only."""

    def __init__(self, max_length: int = 2**22, *, seed: int | None = None) -> None:
        super().__init__(max_length, seed=seed)

    def encode(self, value: Json) -> str:
        return json.dumps(value)

    def decode(self, text: str) -> Json:
        decoded: Json = json.loads(text) if text else {}
        return decoded

    def _text(self) -> str:
        return UnicodeText(32, seed=int(self.np_random.integers(2**31))).sample()


class ChatPrompts(_ChatSpace):
    """What a chat model is called with: `{"messages": [...], "tools": [...]}`."""

    def contains(self, x: Any) -> bool:
        return (
            isinstance(x, dict)
            and x.keys() == {"messages", "tools"}
            and isinstance(x["messages"], list)
            and isinstance(x["tools"], list)
        )

    def sample(self, mask: None = None, probability: None = None) -> Json:
        return {"messages": [{"role": "user", "content": self._text()}], "tools": tool_schemas(KINDS)}


class ChatReplies(_ChatSpace):
    """What a chat model answers: an assistant message, with tool calls or without; or one bare tool call.

    Samples call the tools named in `kinds`.
    """

    def __init__(
        self, kinds: Sequence[Kind] = KINDS, max_length: int = 2**22, *, seed: int | None = None
    ) -> None:
        super().__init__(max_length, seed=seed)
        self._kinds = tuple(kinds)

    def contains(self, x: Any) -> bool:
        return isinstance(x, dict) and (x.get("role") == "assistant" or "name" in x or "function" in x)

    def sample(self, mask: None = None, probability: None = None) -> Json:
        kind = self._kinds[int(self.np_random.integers(len(self._kinds)))]
        call = {
            "name": kind,
            "arguments": json.dumps({argument: self._text() for argument in ARGUMENTS[kind]}),
        }
        tool_calls = [{"id": "call_0", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": tool_calls}
