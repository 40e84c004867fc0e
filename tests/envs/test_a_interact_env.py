"""`AInteractEnv` adds no rules: nine kinds of action, and the budget in every observation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from envs_benchmark import GOLD_1, GOLD_1_FOLLOW_UP, GOLD_2, SCHEMA, WRONG

import birdenv
from birdenv import Move
from birdenv.dialogue.chat import chat_messages
from birdenv.envs import AInteractEnv
from birdenv.envs.wrappers import ChatMessages
from birdenv.errors import InputError
from birdenv.tasks import SENDERS
from birdenv.tasks.a_interact import COSTS, GAME
from birdenv.tasks.sql._actions import TOOLS

Make = Callable[..., Any]

ACTIONS = (
    birdenv.clarify("What does dear mean?"),
    birdenv.execute_sql("SELECT 1"),
    birdenv.submit_sql(WRONG),
    birdenv.get_schema(),
    birdenv.get_all_column_meanings(),
    birdenv.get_column_meaning("items", "price"),
    birdenv.get_all_external_knowledge_names(),
    birdenv.get_knowledge_definition("Bargain"),
    birdenv.get_all_knowledge_definitions(),
)


def _start(env: Any, instance_id: str = "shop_1") -> dict[str, Any]:
    observation, _ = env.reset(options={"instance_id": instance_id})
    found: dict[str, Any] = observation
    return found


def test_each_builder_makes_the_kind_of_its_name(a_interact: Make) -> None:
    env = a_interact(patience=20)
    _start(env)
    for number, action in enumerate(ACTIONS):
        assert action["kind"] == number and action in env.action_space
        env.step(action)
    assert [e.action for e in env.unwrapped._dialogue.events if e.agent == 0] == list(TOOLS)
    assert env.unwrapped.kinds == TOOLS


def test_the_budget_stands_in_every_observation(a_interact: Make) -> None:
    env = a_interact()
    observation = _start(env)
    left = 14.0  # 6, 2 for the one ambiguity, 2 for each of the patience
    assert observation["budget"].tolist() == [left] and observation["turns_left"] == 7
    for action in ACTIONS[3:]:
        observation, *_ = env.step(action)
        left -= COSTS[TOOLS[action["kind"]]]
        assert observation["budget"].tolist() == [left]
        assert f"Budget left: {left:g} of 14." in observation["message"]


def test_a_whole_episode(a_interact: Make) -> None:
    env = a_interact()
    assert SCHEMA not in _start(env)["instruction"]
    observation, *_ = env.step(birdenv.get_schema())
    assert SCHEMA in observation["message"] and SENDERS[observation["sender"]] == "database"
    assert env.step(birdenv.submit_sql(WRONG))[1] == 0.0
    observation, reward, terminated, _, _ = env.step(birdenv.submit_sql(GOLD_1))
    assert (reward, terminated, observation["phase"]) == (0.7, False, 2)
    observation, reward, terminated, _, info = env.step(birdenv.submit_sql(GOLD_1_FOLLOW_UP))
    assert (reward, terminated) == (0.3, True)
    assert (info["reward"], info["budget"], info["budget_used"]) == (1.0, 14, 10.0)
    assert not observation["action_mask"].any()


def test_the_mask_shows_what_can_be_paid_for(a_interact: Make) -> None:
    env = a_interact(patience=0)
    assert _start(env)["action_mask"].all()
    for _ in range(6):
        env.step(birdenv.get_schema())
    observation, *_ = env.step(birdenv.get_all_external_knowledge_names())
    legal = [kind for kind, allowed in zip(TOOLS, observation["action_mask"], strict=True) if allowed]
    assert observation["budget"].tolist() == [1.5]
    assert legal == [kind for kind in TOOLS if COSTS[kind] <= 1.5 or kind == "submit_sql"]
    assert "clarify" not in legal
    observation, *_ = env.step(birdenv.clarify("What does dear mean?"))
    assert np.flatnonzero(observation["action_mask"]).tolist() == [TOOLS.index("submit_sql")]
    assert env.step(birdenv.submit_sql(GOLD_1))[1:3] == (0.7, True)


def test_what_is_no_call_of_a_tool_costs_a_fifth(a_interact: Make) -> None:
    env = a_interact()
    _start(env)
    for move in (Move("drop"), Move("submit_sql"), Move("get_column_meaning", "items"), Move("clarify", 3)):
        assert "refused" in env.step(move)[4]
    observation, *_ = env.step(birdenv.get_schema())
    assert observation["budget"].tolist() == [pytest.approx(14 - 4 * 0.2 - 1)]


def test_chat_models_get_nine_tools_and_read_their_budget(a_interact: Make) -> None:
    env = ChatMessages(a_interact())
    prompt, _ = env.reset(options={"instance_id": "shop_2"})
    assert [tool["function"]["name"] for tool in prompt["tools"]] == list(TOOLS)
    schema = {tool["function"]["name"]: tool["function"]["parameters"] for tool in prompt["tools"]}
    assert schema["get_column_meaning"]["required"] == ["table", "column"]
    assert schema["get_schema"]["properties"] == {}
    calls: list[tuple[str, Any]] = [
        ("get_schema", "{}"),
        ("get_all_knowledge_definitions", ""),
        ("get_column_meaning", {"table": "items", "column": "colour"}),
        ("get_knowledge_definition", '{"name": "Bargain"}'),
        ("clarify", '{"question": "What does showy mean?"}'),
    ]
    for name, arguments in calls:
        prompt, *_ = env.step({"name": name, "arguments": arguments})
    dialogue = env.unwrapped._dialogue
    assert dialogue.rules.budget.left == 9 and not dialogue.rules.malformed
    instruction = prompt["messages"][0]["content"]
    assert prompt["messages"] == chat_messages(instruction, dialogue.events, GAME.seats[0])
    assert all("Budget left: " in message["content"] for message in prompt["messages"][2::2])
    _, reward, terminated, *_ = env.step({"name": "submit_sql", "arguments": json.dumps({"sql": GOLD_2})})
    assert (reward, terminated) == (0.7, True)


def test_samples_of_a_chat_model_call_every_tool(a_interact: Make) -> None:
    env = ChatMessages(a_interact())
    env.action_space.seed(1)
    called = {env.action_space.sample()["tool_calls"][0]["function"]["name"] for _ in range(200)}
    assert called == set(TOOLS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"patience": -1}, "patience"),
        ({"user": "nobody"}, "unknown user"),
        ({"instances": ["nope"]}, "no instance 'nope'"),
        ({"render_mode": "rgb_array"}, "render_mode"),
    ],
)
def test_settings_that_cannot_be_used(a_interact: Make, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        AInteractEnv(**arguments)
