"""`ChatMessages`: the dialogue as the dialogue's own log would give it, and tool calls as actions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from envs_benchmark import GOLD_1
from gymnasium.error import InvalidAction
from openai.types.chat import ChatCompletionMessage

from birdenv.dialogue.chat import chat_messages
from birdenv.envs.wrappers import ChatMessages
from birdenv.tasks.c_interact import GAME

Make = Callable[..., Any]


def _call(name: str, arguments: Any) -> dict[str, Any]:
    return {"id": "call_x", "type": "function", "function": {"name": name, "arguments": arguments}}


def _reply(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def _started(c_interact: Make, **arguments: Any) -> tuple[Any, dict[str, Any]]:
    env = ChatMessages(c_interact(**arguments))
    prompt, _ = env.reset(options={"instance_id": "shop_1"})
    return env, prompt


def _tools(prompt: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in prompt["tools"]]


def test_it_opens_with_the_instruction_and_the_legal_tools(c_interact: Make) -> None:
    _, prompt = _started(c_interact)
    (message,) = prompt["messages"]
    assert message["role"] == "user" and "Which items are dear?" in message["content"]
    assert _tools(prompt) == ["clarify", "submit_sql"]


def test_the_messages_are_those_of_the_event_log(c_interact: Make) -> None:
    env, _ = _started(c_interact, execute_sql=True)
    env.step(_reply(_call("clarify", '{"question": "What does dear mean?"}')))
    env.step(_reply(_call("execute_sql", json.dumps({"sql": "SELECT name FROM items"}))))
    env.step(_reply(_call("clarify", {"question": "  "})))
    env.step(_reply(_call("submit_sql", {"sql": "SELEC"})))
    prompt, reward, *_ = env.step(_reply(_call("submit_sql", {"sql": GOLD_1})))
    instruction = prompt["messages"][0]["content"]
    assert reward == 0.5
    events = env.unwrapped._dialogue.events
    assert prompt["messages"] == chat_messages(instruction, events, GAME.seats[0])
    assert [m["role"] for m in prompt["messages"][1:]] == ["assistant", "tool"] * 5
    assert _tools(prompt) == ["execute_sql", "submit_sql"]


def test_no_tools_are_left_at_the_end(c_interact: Make) -> None:
    env, _ = _started(c_interact)
    terminated = False
    while not terminated:
        prompt, _, terminated, _, _ = env.step(_reply(_call("submit_sql", {"sql": ""})))
    assert prompt["tools"] == []


@pytest.mark.parametrize(
    "action",
    [
        _call("clarify", '{"question": "Which?"}'),
        {"name": "clarify", "arguments": {"question": "Which?"}},
        _reply(_call("clarify", {"question": "Which?"}), content="Let me ask."),
        ChatCompletionMessage.model_validate(_reply(_call("clarify", '{"question": "Which?"}'))),
    ],
)
def test_accepted_forms_of_a_tool_call(c_interact: Make, action: dict[str, Any]) -> None:
    env, _ = _started(c_interact)
    env.step(action)
    assert env.unwrapped._dialogue.rules.progress_fields()["free_questions"] == 1  # asked back


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"role": "assistant", "content": "I would rather talk."},
        _reply(),
        _reply(_call("clarify", {"question": "1?"}), _call("clarify", {"question": "2?"})),
        _reply(_call("drop_table", {"sql": "x"})),
        _reply(_call("clarify", "not JSON")),
        _reply(_call("clarify", '["Which?"]')),
        _reply(_call("clarify", {"sql": "Which?"})),
        _reply(_call("clarify", {"question": "Which?", "more": 1})),
        _reply(_call("clarify", {"question": 3})),
        _reply(_call("clarify", None)),
        _reply({"function": "clarify"}),
        {"tool_calls": [None]},
        {"name": ["clarify"], "arguments": {}},
    ],
    ids=lambda action: repr(action)[:40],
)
def test_malformed_replies_cost_a_turn_and_are_shown_by_their_words(c_interact: Make, action: Any) -> None:
    env, _ = _started(c_interact)
    prompt, reward, terminated, _, _ = env.step(action)
    assert (reward, terminated, env.unwrapped._dialogue.rules.turns_left) == (0.0, False, 3)
    assistant, user = prompt["messages"][1:]
    words = action.get("content") if isinstance(action, dict) else None
    assert assistant == {"role": "assistant", "content": words or ""}
    assert user["role"] == "user" and "3 questions left" in user["content"]


@pytest.mark.parametrize("action", [None, "clarify", [], 5])
def test_a_wrong_type_raises_and_costs_nothing(c_interact: Make, action: Any) -> None:
    env, _ = _started(c_interact)
    with pytest.raises(InvalidAction, match="a model's message or a tool call"):
        env.step(action)
    assert not env.unwrapped._dialogue.events


def test_an_argument_that_is_too_long_costs_a_turn_and_is_shown_by_its_length(c_interact: Make) -> None:
    env, _ = _started(c_interact)
    prompt, reward, terminated, _, _ = env.step(_reply(_call("clarify", {"question": "x" * 100_000})))
    assert (reward, terminated, env.unwrapped._dialogue.rules.turns_left) == (0.0, False, 3)
    assistant, tool = prompt["messages"][1:]
    [call] = assistant["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"question": {"cut": 100_000}}
    assert (tool["role"], tool["tool_call_id"]) == ("tool", call["id"])
    assert "3 questions left" in tool["content"]


def test_samples_are_valid_tool_calls(c_interact: Make) -> None:
    env, _ = _started(c_interact)
    env.action_space.seed(1)
    sample = env.action_space.sample()
    assert sample in env.action_space
    env.step(sample)
    assert env.unwrapped._dialogue.events[0].action in ("clarify", "execute_sql", "submit_sql")
    assert env.observation_space.sample() in env.observation_space


def test_what_the_caller_changes_is_the_callers_own(c_interact: Make) -> None:
    env, prompt = _started(c_interact)
    prompt["messages"][0]["content"] = "spoilt"
    prompt["tools"].clear()
    later, *_ = env.step(_reply(_call("clarify", {"question": "Which?"})))
    assert "Which items are dear?" in later["messages"][0]["content"] and later["tools"]
