"""An agent as a user would write one: an OpenAI-compatible endpoint plays, through tool calls."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import Request, urlopen

from birdenv.dialogue import Move, PlayerContext, Seat, Usage, View
from birdenv.dialogue.chat import read_tool_call, tool_schemas
from birdenv.dialogue.games import find_game


class Chat:
    """Plays through the endpoint at CHAT_URL."""

    def __init__(self, argument: str, context: PlayerContext) -> None:
        self.url = os.environ["CHAT_URL"]
        self.seat: Seat = find_game(context.game).seats[context.seat]
        self.messages: list[dict[str, Any]] = []
        self.calls = self.prompt_tokens = self.completion_tokens = 0

    def move(self, view: View) -> Move:
        if self.messages:
            called = self.messages[-1]["tool_calls"][0]["id"]
            self.messages.append({"role": "tool", "tool_call_id": called, "content": view.message})
        else:
            self.messages.append({"role": "user", "content": view.instruction})
        tools = tool_schemas(self.seat, view.legal)
        body = {"model": "any", "messages": self.messages, "tools": tools}
        request = Request(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=30) as response:
            answer = json.load(response)
        self.calls += 1
        self.prompt_tokens += answer["usage"]["prompt_tokens"]
        self.completion_tokens += answer["usage"]["completion_tokens"]
        message = answer["choices"][0]["message"]
        self.messages.append(message)
        return read_tool_call(message, self.seat).move

    def usage(self) -> Usage:
        return Usage(self.calls, self.prompt_tokens, self.completion_tokens)


def miscounting(argument: str, context: PlayerContext) -> Any:
    """Make a player that reports what is no `Usage`, breaks off after a question, or knows cost only."""
    return (Guessing, Breaking, Paying, Silent)[context.scenario.index % 4]()


class Guessing:
    def move(self, view: View) -> Move:
        return Move("submit_sql", view.candidates[0])

    def usage(self) -> Any:
        return {"prompt_tokens": 5}


class Breaking:
    def __init__(self) -> None:
        self.calls = 0

    def move(self, view: View) -> Move:
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
