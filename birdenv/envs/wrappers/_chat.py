"""An environment as a chat with tools: spaces of messages, an action read out of an assistant's message."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from birdenv.dialogue import Seat
from birdenv.dialogue.chat import chat_messages, read_tool_call, tool_schemas
from birdenv.envs._gymnasium import DialogueEnv
from birdenv.envs._text_space import SpaceAsText, UnicodeText

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
    """The arguments of a chat model: `{"messages": [...], "tools": [...]}`."""

    def __init__(self, seat: Seat, max_length: int = 2**22, *, seed: int | None = None) -> None:
        super().__init__(max_length, seed=seed)
        self._seat = seat

    def contains(self, x: Any) -> bool:
        return (
            isinstance(x, dict)
            and x.keys() == {"messages", "tools"}
            and isinstance(x["messages"], list)
            and isinstance(x["tools"], list)
        )

    def sample(self, mask: None = None, probability: None = None) -> Json:
        return {"messages": [{"role": "user", "content": self._text()}], "tools": tool_schemas(self._seat)}


class ChatReplies(_ChatSpace):
    """The answer of a chat model: an assistant message, with or without tool calls, or a bare tool call.

    Samples call the seat's tools.
    """

    def __init__(self, seat: Seat, max_length: int = 2**22, *, seed: int | None = None) -> None:
        super().__init__(max_length, seed=seed)
        self._seat = seat

    def contains(self, x: Any) -> bool:
        return isinstance(x, dict) and (x.get("role") == "assistant" or "name" in x or "function" in x)

    def sample(self, mask: None = None, probability: None = None) -> Json:
        action = self._seat.actions[int(self.np_random.integers(len(self._seat.actions)))]
        arguments = {field.name: self._text() for field in action.fields if field.is_text}
        call = {"name": action.name, "arguments": json.dumps(arguments)}
        tool_calls = [{"id": "call_0", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": tool_calls}


class ChatMessages(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Observation: `{"messages": [...], "tools": [...]}`, the arguments of an OpenAI-style chat call.

    `messages` is the whole dialogue so far, as `birdenv.dialogue.chat_messages` writes it; `tools` are the
    schemas of the actions that are legal now. Action: the assistant's message with one tool call in it, or
    the tool call alone. A reply without exactly one valid tool call is played as an illegal action, and
    stands in `messages` by its words, with the environment's reply as a user's message after it.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], dict[str, Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        inner = env.unwrapped
        assert isinstance(inner, DialogueEnv)
        self._inner = inner
        self._seat = inner._seat
        self.observation_space = ChatPrompts(self._seat)
        self.action_space = ChatReplies(self._seat)
        self._messages: list[dict[str, Any]] = []
        self._cursor = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._messages, self._cursor = [], 0
        return self._prompt(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        move = read_tool_call(action, self._seat).move
        observation, reward, terminated, truncated, info = self.env.step(move)
        return self._prompt(observation), reward, terminated, truncated, info

    def _prompt(self, observation: dict[str, Any]) -> dict[str, Any]:
        news = self._inner.heard(self._cursor)
        self._cursor += len(news)
        written = chat_messages(observation["instruction"], news, self._seat, self._inner._index)
        self._messages += written if not self._messages else written[1:]
        mask = observation["action_mask"]
        legal = [kind for kind, allowed in zip(self._seat.kinds, mask, strict=True) if allowed]
        return {"messages": deepcopy(self._messages), "tools": tool_schemas(self._seat, legal)}
