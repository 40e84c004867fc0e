"""Expected ("golden") transcripts for testing adapters, and `check_game`, which checks a new game.

An adapter plays birdenv's episodes in a different framework. To test an adapter, play this package's scripts
through it, and compare the transcripts with birdenv's own:

    for script in SCRIPTS:
        assert play_script(script, make_step) == golden_transcript(script)

`make_step` starts an episode with the script's game, task and settings, and returns a step function. The step
function takes a model's message in OpenAI's format. It returns the text that the model reads, the reward of
the step, and whether the episode is over. `play_script_async` is for functions that must be awaited.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from birdenv.dialogue import Move, View, make_game
from birdenv.testing._check_game import GameFaultsError, check_game

__all__ = [
    "MALFORMED",
    "SCRIPTS",
    "AgentScript",
    "GameFaultsError",
    "Line",
    "check_game",
    "failing_user",
    "golden_transcript",
    "play_script",
    "play_script_async",
    "tool_call",
]

Message: TypeAlias = Mapping[str, Any]

Stepped: TypeAlias = tuple[str, float, bool]
"""The result of a step: the text that the model reads, the reward, and whether the episode is over."""


class Line(NamedTuple):
    """An exchange in a transcript: a message from the model, and the reply to it.

    Attributes:
        message: the model's message as JSON.
        text: the reply that the model reads.
        reward: the reward of the step, rounded to ten decimals.
        done: True if the episode is over.
    """

    message: str
    text: str
    reward: float
    done: bool


@dataclass(frozen=True)
class AgentScript:
    """A script of the messages that a model sends in one episode of the demo benchmark.

    Attributes:
        name: the name of the script, which says what happens in the episode.
        game: the name of the game.
        instance_id: the id of the task.
        messages: the model's messages, in order.
        settings: the game's settings for `make_game`.
    """

    name: str
    game: str
    instance_id: str
    messages: tuple[Message, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


def tool_call(name: str, *, content: str | None = None, call_id: str = "call_1", **arguments: Any) -> Message:
    """Return an assistant's message with one tool call.

    >>> tool_call("clarify", question="Which year?")["tool_calls"][0]["function"]["arguments"]
    '{"question": "Which year?"}'
    """
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def _raw(name: str, arguments: Any) -> Message:
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


_QUESTION = '{"question": "?"}'

_TWO: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": f"call_{i}",
            "type": "function",
            "function": {"name": "clarify", "arguments": '{"question": "?"}'},
        }
        for i in (1, 2)
    ],
}

MALFORMED: Mapping[str, Message] = {
    "prose": {"role": "assistant", "content": "I think that it is about seats."},
    "two calls": _TWO,
    "unknown tool": tool_call("look_around", where="everywhere"),
    "arguments are no JSON": _raw("clarify", "What is roomy?"),
    "arguments are a list": _raw("clarify", '["What is roomy?"]'),
    "one argument too many": tool_call("clarify", question="What is roomy?", why="because"),
    "an argument is no text": tool_call("clarify", question=5),
    "blank": tool_call("clarify", question="  "),
    "nothing": {"role": "assistant", "content": None},
}
"""Messages that cannot be read as a move, by the kind of mistake. `birdenv.adapters.CANNOT_EXPRESS` lists the
kinds that a framework never passes to birdenv."""

_ASK = tool_call("clarify", question="What do you mean by 'roomy branches'?", content="Let me ask.")
_WRONG = tool_call("submit_sql", sql="SELECT 1")
_BROKEN = tool_call("submit_sql", sql="SELEC 1")
_RIGHT = tool_call(
    "submit_sql",
    sql="CREATE TABLE fine_archive AS SELECT fine_id, amount, reason, status FROM fines"
    " WHERE status IN ('paid', 'waived'); DELETE FROM fines WHERE status IN ('paid', 'waived')",
)
_RIGHT_AGAIN = tool_call(
    "submit_sql", sql="SELECT reason, COUNT(*), SUM(amount) FROM fine_archive GROUP BY reason"
)
_LOOK = tool_call("execute_sql", sql="SELECT name FROM branches ORDER BY name LIMIT 2")

SCRIPTS: tuple[AgentScript, ...] = (
    AgentScript("a question and two wrong answers", "c-interact", "library_1", (_ASK, _WRONG, _BROKEN)),
    AgentScript("an empty answer", "c-interact", "library_2", (tool_call("submit_sql", sql=""), _WRONG)),
    *(
        AgentScript(f"malformed: {name}", "c-interact", "library_1", (message, _ASK, _WRONG, _WRONG))
        for name, message in MALFORMED.items()
    ),
    AgentScript(
        "tools with prices",
        "a-interact",
        "library_1",
        (
            tool_call("get_schema"),
            tool_call("get_column_meaning", table="branches", column="seats"),
            _ASK,
            _WRONG,
        ),
    ),
    AgentScript("right at once, twice", "c-interact", "library_M_2", (_RIGHT, _RIGHT_AGAIN)),
    AgentScript(
        "right after a debug attempt, twice",
        "c-interact",
        "library_M_2",
        (_WRONG, _RIGHT, _BROKEN, _RIGHT_AGAIN),
    ),
    AgentScript("right with tools, twice", "a-interact", "library_M_2", (_LOOK, _RIGHT, _RIGHT_AGAIN)),
    AgentScript(
        "one question with rows",
        "bird",
        "1",
        (_LOOK, tool_call("submit_sql", sql="SELECT COUNT(*) FROM members WHERE card_status = 'active'")),
    ),
    AgentScript("ended by the limit", "bird", "1", (_LOOK, _LOOK), {"max_turns": 2}),
    AgentScript(
        "ended by a fault", "c-interact", "library_1", (_ASK,), {"user": "birdenv.testing:failing_user"}
    ),
)
"""Scripts for the demo benchmark. They contain each kind of malformed message and earn each possible reward;
one episode ends at a limit, and one because of a failure."""


def failing_user(view: View) -> Move:
    """Raise an error, as a simulated user with broken code would. This makes the episode void."""
    raise RuntimeError("this user always fails")


def golden_transcript(script: AgentScript) -> tuple[Line, ...]:
    """Play a script directly in birdenv, without an adapter, and return the expected transcript."""

    def make_step(script: AgentScript) -> Callable[[Message], Stepped]:
        episode = make_game(script.game, **script.settings).episode(script.instance_id)

        def step(message: Message) -> Stepped:
            made = episode.call(message)
            return made.text, made.reward, made.done

        return step

    return play_script(script, make_step)


def play_script(
    script: AgentScript, make_step: Callable[[AgentScript], Callable[[Message], Stepped]]
) -> tuple[Line, ...]:
    """Play a script through an adapter until the episode is over, and return the transcript.

    Args:
        script: the script.
        make_step: starts an episode for the script, and returns a function that plays one message.
    """
    step = make_step(script)
    lines: list[Line] = []
    for message in script.messages:
        lines.append(_line(message, *step(message)))
        if lines[-1].done:
            break
    return tuple(lines)


async def play_script_async(
    script: AgentScript,
    make_step: Callable[[AgentScript], Awaitable[Callable[[Message], Awaitable[Stepped]]]],
) -> tuple[Line, ...]:
    """Play a script like `play_script`, through an adapter whose functions must be awaited."""
    step = await make_step(script)
    lines: list[Line] = []
    for message in script.messages:
        lines.append(_line(message, *await step(message)))
        if lines[-1].done:
            break
    return tuple(lines)


def _line(message: Message, text: str, reward: float, done: bool) -> Line:
    return Line(json.dumps(message, sort_keys=True), text, round(reward, 10), done)
