"""An environment as a chat with tools.

Spaces of chat messages with tool calls.

Reading one action out of an assistant message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from birdenv.dialogue import Event
from birdenv.envs._spaces import SpaceAsText, UnicodeText
from birdenv.tasks import (
    ARGUMENTS,
    KINDS,
    SENDERS,
    SEPARATOR,
    SYSTEM,
    TOOLS,
    USER,
    Kind,
    chat_messages,
    tool_schemas,
)

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


_CONTENT_LENGTH = 2**16


def read_action(reply: Any) -> dict[str, Any] | None:
    """The environment's action that the reply calls for, or None if it calls for no single valid one.

    A reply is an assistant message with exactly one entry in `tool_calls`, or that entry alone, or its
    `function`. `arguments` is a JSON text or an object, with the tool's arguments and nothing else; they may
    be missing for a tool that has none.
    """
    call = _only_call(reply)
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return None
    name, arguments = function.get("name"), _arguments(function.get("arguments"))
    kind = next((kind for kind in TOOLS if kind == name), None)
    if kind is None or not isinstance(arguments, Mapping) or set(arguments) != set(ARGUMENTS[kind]):
        return None
    texts = [arguments[argument] for argument in ARGUMENTS[kind]]
    if not all(isinstance(text, str) for text in texts):
        return None
    return {"kind": TOOLS.index(kind), "text": SEPARATOR.join(texts)}


def read_content(reply: Any) -> str:
    """What the assistant said in words; empty where it said nothing."""
    content = reply.get("content") if isinstance(reply, Mapping) else None
    return content[:_CONTENT_LENGTH] if isinstance(content, str) else ""


def _only_call(reply: Any) -> Any:
    if not isinstance(reply, Mapping):
        return None
    if "name" in reply or "function" in reply:
        return reply
    calls = reply.get("tool_calls")
    return calls[0] if isinstance(calls, (list, tuple)) and len(calls) == 1 else None


def _arguments(arguments: Any) -> Any:
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


class ChatMessages(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Observation: `{"messages": [...], "tools": [...]}`, the arguments of an OpenAI-style chat call.

    `messages` is the whole dialogue so far, as `birdenv.tasks.chat_messages` writes it; `tools` are the
    schemas of the actions that are legal now. Action: the assistant's message with one tool call in it, or
    the tool call alone. A reply without exactly one valid tool call is played as an illegal action, and
    stands in `messages` by its words, with the environment's reply as a user's message behind it.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], dict[str, Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self.observation_space = ChatPrompts()
        self._kinds: tuple[Kind, ...] = env.get_wrapper_attr("kinds")
        self.action_space = ChatReplies(self._kinds)
        self._messages: list[dict[str, Any]] = []
        self._time = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._messages = chat_messages(observation["instruction"], ())
        self._time = 0
        return self._prompt(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        inner = read_action(action)
        if inner is not None and not self.env.action_space.contains(inner):
            inner = None
        observation, reward, terminated, truncated, info = self.env.step(inner)
        if inner is None:
            self._time += 1
            self._messages += [
                {"role": "assistant", "content": read_content(action)},
                {"role": "user", "content": observation["message"]},
            ]
        else:
            self._messages += chat_messages("", self._events(inner, observation))[1:]
        return self._prompt(observation), reward, terminated, truncated, info

    def _events(self, action: dict[str, Any], observation: dict[str, Any]) -> list[Event]:
        """The last exchange as the controller logged it: an answer of the user is an event of its own."""
        kind, text = self._kinds[action["kind"]], action["text"]
        reply, sender = observation["message"], SENDERS[observation["sender"]]
        self._time += 1
        if sender == "user":
            asked = Event(SYSTEM, self._time, kind, text)
            self._time += 1
            return [asked, Event(USER, self._time, "answer", reply)]
        return [Event(SYSTEM, self._time, kind, text, metadata={"sender": sender, "reply": reply})]

    def _prompt(self, observation: dict[str, Any]) -> dict[str, Any]:
        mask = observation["action_mask"]
        legal = [kind for kind, allowed in zip(self._kinds, mask, strict=True) if allowed]
        return {"messages": deepcopy(self._messages), "tools": tool_schemas(legal)}
