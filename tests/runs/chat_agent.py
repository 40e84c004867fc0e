"""An agent as a user would write one: an OpenAI-compatible endpoint plays, through tool calls."""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any
from urllib.request import Request, urlopen

from birdenv.dialogue import Move, Session
from birdenv.runs import Setting, Usage
from birdenv.tasks import SEPARATOR, SystemView, tool_schemas


class Chat:
    """Plays through the endpoint at CHAT_URL."""

    sees_private = False

    def __init__(self, argument: str, setting: Setting) -> None:
        self.setting = setting

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return ChatSession(os.environ["CHAT_URL"])


class ChatSession:
    def __init__(self, url: str) -> None:
        self.url = url
        self.messages: list[dict[str, Any]] = []
        self.calls = self.prompt_tokens = self.completion_tokens = 0

    def move(self, view: SystemView) -> Move:
        if self.messages:
            called = self.messages[-1]["tool_calls"][0]["id"]
            self.messages.append({"role": "tool", "tool_call_id": called, "content": view.message})
        else:
            self.messages.append({"role": "user", "content": view.instruction})
        body = {"model": "any", "messages": self.messages, "tools": tool_schemas(view.legal)}
        request = Request(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=30) as response:
            answer = json.load(response)
        self.calls += 1
        self.prompt_tokens += answer["usage"]["prompt_tokens"]
        self.completion_tokens += answer["usage"]["completion_tokens"]
        message = answer["choices"][0]["message"]
        self.messages.append(message)
        function = message["tool_calls"][0]["function"]
        return Move(function["name"], SEPARATOR.join(json.loads(function["arguments"]).values()))

    def usage(self) -> Usage:
        return Usage(self.calls, self.prompt_tokens, self.completion_tokens)


class Miscounting(Chat):
    """Its sessions report what is no `Usage`, break off behind a question, or know the cost alone."""

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return (Guessing, Breaking, Paying, Silent)[task.index % 4]()


class Guessing:
    def move(self, view: SystemView) -> Move:
        return Move("submit_sql", view.candidates[0])

    def usage(self) -> Any:
        return {"prompt_tokens": 5}


class Breaking:
    def __init__(self) -> None:
        self.calls = 0

    def move(self, view: SystemView) -> Move:
        self.calls += 1
        if self.calls == 2:
            raise RuntimeError("the endpoint is gone")
        return Move("clarify", "What do you mean?")

    def usage(self) -> Usage:
        return Usage(calls=self.calls)


class Paying(Guessing):
    def usage(self) -> Usage:
        return Usage(cost_usd=0.0125)


class Silent(Guessing):
    def usage(self) -> None:
        return None
