"""The scripted OpenAI server, as the real client and as bare sockets see it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from birdenv.errors import InputError
from birdenv.testing.openai_server import (
    Call,
    ScriptedDialogue,
    ScriptedTurn,
    Server,
    ServerScript,
    Trouble,
    read_script,
    serve,
)

TURNS = (
    ScriptedTurn(content="Let me ask.", calls=(Call(name="clarify", arguments={"question": "Which?"}),)),
    ScriptedTurn(
        content="Done.", reasoning="Because.", faults=(Trouble(status=429, headers={"Retry-After": "7"}),)
    ),
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(
        ServerScript(dialogues=(ScriptedDialogue(when=("library",), turns=TURNS),), models=("m",))
    ) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="sk-test", max_retries=0) as made:
        yield made


def messages(own: int = 0) -> Any:
    said = [{"role": "user", "content": "About the library"}]
    return said + own * [{"role": "assistant", "content": "?"}]


def test_the_typed_client_reads_words_calls_and_usage(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="m", messages=messages())
    message = made.choices[0].message
    assert message.content == "Let me ask." and made.choices[0].finish_reason == "tool_calls"
    assert message.tool_calls and message.tool_calls[0].function.arguments == '{"question": "Which?"}'
    assert made.usage and made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens


def test_a_stream_adds_up_to_the_same(client: openai.OpenAI) -> None:
    options: Any = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(model="m", messages=messages(), stream=True, stream_options=options)
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert "".join(delta.content or "" for delta in deltas) == "Let me ask."
    assert (
        "".join(call.function.arguments or "" for call in calls if call.function) == '{"question": "Which?"}'
    )
    assert chunks[-1].usage is not None and calls[0].id == "call_1"


def test_faults_come_first_and_once(client: openai.OpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as error:
        client.chat.completions.create(model="m", messages=messages(1))
    assert error.value.response.headers["retry-after"] == "7"
    made = client.chat.completions.create(model="m", messages=messages(1))
    assert made.choices[0].message.model_dump()["reasoning_content"] == "Because."


def test_what_is_not_in_the_script_is_an_error(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.chat.completions.create(model="other", messages=messages())
    with pytest.raises(openai.BadRequestError, match="no turn"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])


@pytest.mark.parametrize(
    "turn", [ScriptedTurn(drop=True), ScriptedTurn(cut=True, content="a"), ScriptedTurn(drip=0.001, cut=True)]
)
def test_connections_break(turn: ScriptedTurn) -> None:
    script = ServerScript(dialogues=(ScriptedDialogue(turns=(turn,)),))
    with (
        serve(script) as running,
        openai.OpenAI(base_url=running.url, api_key="k", max_retries=0) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        client.chat.completions.create(model="m", messages=messages())


def test_the_command_prints_its_address_and_logs(tmp_path: Path) -> None:
    path, log = tmp_path / "script.json", tmp_path / "log"
    path.write_text(json.dumps({"dialogues": [{"turns": [{"content": "hello"}]}]}))
    command = [sys.executable, "-m", "birdenv.testing.openai_server", str(path), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with openai.OpenAI(base_url=url, api_key="k") as client:
                made = client.chat.completions.create(model="any", messages=messages())
            assert made.choices[0].message.content == "hello" and len(log.read_text().split()) == 1
        finally:
            process.kill()


def test_a_script_with_a_fault_is_named(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"dialogues": [{"turns": [{"contents": "hello"}]}]}')
    with pytest.raises(InputError, match=r"dialogues\.0\.turns\.0\.contents"):
        read_script(path)
