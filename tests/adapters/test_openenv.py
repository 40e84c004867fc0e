"""OpenEnv: a server, OpenEnv's own client, and its own validation."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dialogues import ASK, WRONG, golden
from servers import example, served
from session_tests import Message, SessionTests, Step, note

pytest.importorskip("openenv.core", reason="the extra `openenv` is not installed")

import uvicorn
from openenv.core.generic_client import GenericEnvClient

from birdenv.adapters.openenv import make_app
from birdenv.dialogue import make_game
from birdenv.testing import AgentScript

pytestmark = pytest.mark.slow  # the frameworks take seconds to import


ROOT = Path(__file__).resolve().parents[2]


class _Servers:
    """A server in a thread for each choice of settings."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[uvicorn.Server, threading.Thread]] = {}

    def url(self, game: str, settings: Mapping[str, Any]) -> str:
        key = f"{game} {settings!r}"
        if key not in self._running:
            app = make_app(make_game(game, **settings))
            server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            while not server.started:
                thread.join(0.02)
            self._running[key] = (server, thread)
        port = self._running[key][0].servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def close(self) -> None:
        for server, thread in self._running.values():
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="class", autouse=True)
def servers(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.cls is not None:
        request.cls.servers = _Servers()
    yield
    if request.cls is not None:
        request.cls.servers.close()


class TestOpenEnv(SessionTests):
    framework = "openenv"
    servers: _Servers

    @asynccontextmanager
    async def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AsyncIterator[Step]:
        url = await asyncio.to_thread(self.servers.url, game, settings)
        async with GenericEnvClient(base_url=url) as client:
            told = await client.reset(instance_id=task)
            note(self.seen, vars(told))

            async def step(message: Message) -> tuple[str, float, bool]:
                result = await client.step({"message": message})
                note(self.seen, vars(result))
                return result.observation["text"], result.reward, result.done

            yield step
            note(self.seen, await client.state())

    def test_a_cancelled_step_is_played_to_its_end(self) -> None:
        """OpenEnv's client drops the session of a cancelled step; the server takes the next one."""
        settings = {"user": "dialogues:slow_user"}

        async def play() -> str:
            async with self.session("c-interact", "library_1", settings) as step:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(step(ASK), 0.2)
            async with self.session("c-interact", "library_1", settings) as step:
                return (await step(WRONG))[0]

        script = AgentScript("", "c-interact", "library_1", (WRONG,), settings)
        assert asyncio.run(play()) == golden(script)[0].text


def test_the_command_serves_validates_and_keeps_records(tmp_path: Path) -> None:
    record = tmp_path / "rollouts.jsonl"
    command = [str(Path(sys.executable).with_name("openenv")), "validate", "--url"]
    with served("birdenv.adapters.openenv", "c-interact", "limit=2", "--record", str(record)) as url:
        done = subprocess.run([*command, url], capture_output=True, text=True)
        assert done.returncode == 0 and "Verdict: PASS" in done.stdout, done.stdout + done.stderr
        with GenericEnvClient(base_url=url).sync() as client:
            told = client.reset(markup=True).observation["text"]
            assert "<s>" in told
            asked = client.step({"message": "<s>What do you mean by 'roomy branches'?</s>"})
            assert "40 seats" in asked.observation["text"] and asked.observation["tools"]
    [line] = record.read_text().splitlines()
    assert json.loads(line)["runs"]["status"] == "left"


def test_the_manifest_is_valid() -> None:
    command = [str(Path(sys.executable).with_name("openenv")), "validate", str(ROOT / "examples" / "openenv")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "PASS  static.manifest" in done.stdout, done.stdout + done.stderr


def test_the_example_plays_an_episode(tmp_path: Path) -> None:
    said = example("openenv_client.py", tmp_path)
    assert (
        "Request: Which roomy branches" in said
        and "40 seats" in said
        and "SELECT" not in said.split("<t>")[0]
    )
