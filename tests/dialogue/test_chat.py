"""The dialogue as chat messages."""

from __future__ import annotations

import json

from birdenv.dialogue import Event
from birdenv.dialogue.chat import chat_messages, read_tool_call, tool_schemas
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.c_interact import GAME
from birdenv.testing import MALFORMED

SEAT = GAME.seats[SYSTEM]


def test_tool_calls_and_their_results() -> None:
    events = [
        Event(SYSTEM, 1, "clarify", "Which year?"),
        Event(USER, 2, "answer", "The last one."),
        Event(SYSTEM, 3, "submit_sql", "SELECT 'é'", metadata={"sender": "judge", "reply": "Correct."}),
    ]
    instruction, ask, answer, submit, verdict = chat_messages("Rules", events, SEAT)
    assert instruction == {"role": "user", "content": "Rules"}
    assert ask["tool_calls"][0]["function"]["name"] == "clarify"
    assert answer == {"role": "tool", "tool_call_id": ask["tool_calls"][0]["id"], "content": "The last one."}
    assert json.loads(submit["tool_calls"][0]["function"]["arguments"]) == {"sql": "SELECT 'é'"}
    assert verdict["tool_call_id"] == submit["tool_calls"][0]["id"]
    assert verdict["content"] == "Correct."


def test_what_was_no_tool_call_stands_as_words() -> None:
    refused = Event(SYSTEM, 1, "malformed", None, metadata={"sender": "judge", "reply": "Not valid."})
    assert chat_messages("Rules", [refused], SEAT)[1:] == [
        {"role": "assistant", "content": "malformed"},
        {"role": "user", "content": "Not valid."},
    ]


def test_a_message_without_calls_is_told_from_one_with_bad_calls() -> None:
    actions = {name: read_tool_call(message, SEAT).move.action for name, message in MALFORMED.items()}
    assert [name for name, action in actions.items() if action == "no_call"] == ["prose", "nothing"]
    assert set(actions.values()) == {"no_call", "malformed", "clarify"}  # a blank question is read


def test_schemas_name_one_required_text() -> None:
    [schema] = tool_schemas(SEAT, ["clarify"])
    parameters = schema["function"]["parameters"]
    assert parameters["required"] == ["question"] == list(parameters["properties"])
