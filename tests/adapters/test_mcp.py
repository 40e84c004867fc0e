"""The Model Context Protocol: in memory, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from dialogues import ASK, WRONG
from session_tests import Message, SessionTests, Step, note

pytest.importorskip("mcp.server.lowlevel", reason="the extra `mcp` is not installed")
pytest.importorskip("mcp_types", reason="mcp is older than 2")

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from servers import example, run_page, served, servers_in_threads

from birdenv import InputError
from birdenv.adapters._serving import Episodes
from birdenv.adapters.mcp import make_server
from birdenv.dialogue import make_game
from birdenv.runs import write_run
from birdenv.runs.summaries import read_run
from birdenv.version import __version__


async def call(client: Any, message: Message, seen: list[str]) -> tuple[str, float, bool]:
    function = message["tool_calls"][0]["function"]
    result = await client.call_tool(function["name"], json.loads(function["arguments"]))
    note(seen, result)
    earned = result.meta or {}
    return result.content[0].text, earned.get("birdenv/reward", 0.0), earned.get("birdenv/done", False)


class TestMcp(SessionTests):
    framework = "mcp"

    @asynccontextmanager
    async def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AsyncIterator[Step]:
        episodes = Episodes(make_game(game, **settings), task)
        async with Client(make_server(episodes)) as client:
            assert client.server_info.version == __version__
            note(self.seen, await client.list_tools())
            note(self.seen, await client.get_prompt("task"))
            yield lambda message: call(client, message, self.seen)
        episodes.close()


def test_over_stdio_the_process_is_the_episode(tmp_path: Path) -> None:
    record = tmp_path / "rollouts.jsonl"
    command = ["-m", "birdenv.adapters.mcp", "c-interact", "--task", "library_1", "--record", str(record)]

    async def play() -> list[Any]:
        parameters = StdioServerParameters(command=sys.executable, args=command)
        async with Client(stdio_client(parameters)) as client:
            prompt = await client.get_prompt("task")
            assert "roomy branches" in prompt.messages[0].content.text
            return [await call(client, message, []) for message in (ASK, WRONG)]

    asked, wrong = asyncio.run(play())
    assert "40 seats" in asked[0] and not wrong[2]
    [records] = map(json.loads, record.read_text().splitlines())
    assert records["runs"]["status"] == "left"
    folder = write_run(make_game("c-interact"), [records], tmp_path / "run", agent="mine")
    assert read_run(folder)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nogame"], "known games: a-interact"),
        (["c-interact", "patience=x"], "patience must be"),
        (["c-interact", "--task", "nope"], "'nope'"),
    ],
)
def test_the_command_says_in_a_line_what_is_not_there(words: list[str], told: str) -> None:
    command = [sys.executable, "-m", "birdenv.adapters.mcp", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert told in done.stderr.splitlines()[-1]


class TestEpisodesByTheirHandles:
    def test_a_handle_is_an_episode(self) -> None:
        episodes = Episodes(make_game("c-interact"))
        first = episodes.find({"birdenv-episode": "a", "birdenv-task": "library_2"})
        assert first.instance_id == "library_2"
        assert episodes.find({"birdenv-episode": "b"}).instance_id == episodes.arena.ids[0]
        assert episodes.find({"birdenv-episode": "a"}) is first
        episodes.close()

    def test_there_is_a_cap(self) -> None:
        episodes = Episodes(make_game("c-interact"), most=2)
        for handle in "ab":
            episodes.find({"birdenv-episode": handle})
        with pytest.raises(InputError, match="2 episodes are already open"):
            episodes.find({"birdenv-episode": "c"})
        episodes.close()

    def test_an_idle_episode_is_closed(self) -> None:
        episodes = Episodes(make_game("c-interact"), most=1, idle=-1.0)
        first = episodes.find({"birdenv-episode": "a"})
        episodes.find({"birdenv-episode": "b"})
        assert first.done and first.status == "left"
        episodes.close()


class TestMcpOverHttp(SessionTests):
    framework = "mcp"
    url_of: Callable[..., str]

    @pytest.fixture(scope="class", autouse=True)
    def servers(self) -> Iterator[None]:
        def app(game: str, settings: Mapping[str, Any]) -> Any:
            return make_server(Episodes(make_game(game, **settings))).streamable_http_app()

        with servers_in_threads(app) as url_of:
            type(self).url_of = staticmethod(url_of)
            yield

    @asynccontextmanager
    async def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AsyncIterator[Step]:
        url = await asyncio.to_thread(self.url_of, game, settings)
        headers = {"birdenv-episode": str(uuid4()), "birdenv-task": task}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            note(self.seen, [str(await client.list_tools()), str(await client.list_prompts())])
            prompt = (await client.get_prompt("task")).messages[0].content.text
            assert prompt == make_game(game, **settings).instruction(task)
            note(self.seen, prompt)
            yield lambda message: call(client, message, self.seen)


def test_the_command_serves_over_http() -> None:
    async def play(url: str, task: str) -> str:
        headers = {"birdenv-episode": "a", "birdenv-task": task}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return (await client.get_prompt("task")).messages[0].content.text

    with served("birdenv.adapters.mcp", "c-interact") as url:
        prompts = [asyncio.run(play(url, task)) for task in ("library_1", "coop_1")]
    assert prompts == [make_game("c-interact").instruction("library_1")] * 2  # the handle is the episode


@pytest.mark.slow
def test_the_example_plays_an_episode(tmp_path: Path) -> None:
    said = example("mcp_agent.py", tmp_path)
    assert "Request: Which roomy branches" in said and "at least 40 seats" in said


@pytest.mark.slow
def test_the_page_plays() -> None:
    said = run_page("mcp")
    assert "Request: Which roomy branches" in said and "40 seats. 0.0" in said
