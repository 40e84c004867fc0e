"""An environment as a chat with tools."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from birdenv.dialogue import Event
from birdenv.envs.wrappers._chat_spaces import ChatPrompts, ChatReplies
from birdenv.envs.wrappers._tool_call import read_action, read_content
from birdenv.tasks import SENDERS, SYSTEM, USER, Kind, chat_messages, tool_schemas

__all__ = ["ChatMessages"]


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
