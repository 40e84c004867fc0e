"""OpenEnv: a server, OpenEnv's own client, and its own validation."""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dialogues import ASK, WRONG, assert_nothing_private, golden
from servers import example, run_page, served, servers_in_threads
from session_tests import Message, SessionTests, Step, note

pytest.importorskip("openenv.core", reason="the extra `openenv` is not installed")

import httpx
from openenv.core.generic_client import GenericEnvClient

from birdenv.adapters.openenv import BirdenvAction, make_app
from birdenv.dialogue import make_game
from birdenv.testing import SCRIPTS, AgentScript, tool_call

pytestmark = pytest.mark.slow  # the frameworks take seconds to import


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="class", autouse=True)
def servers(request: pytest.FixtureRequest) -> Iterator[None]:
    with servers_in_threads(lambda game, settings: make_app(make_game(game, **settings))) as url_of:
        if request.cls is not None:
            request.cls.url_of = staticmethod(url_of)
        yield


class TestOpenEnv(SessionTests):
    framework = "openenv"
    url_of: Callable[..., str]

    @asynccontextmanager
    async def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AsyncIterator[Step]:
        url = await asyncio.to_thread(self.url_of, game, settings)
        async with GenericEnvClient(base_url=url) as client:
            told = await client.reset(instance_id=task)
            note(self.seen, vars(told))

            async def step(message: Message) -> tuple[str, float, bool]:
                result = await client.step({"message": message})
                note(self.seen, vars(result))
                return result.observation["text"], result.reward, result.done

            yield step
            note(self.seen, await client.state())

    def test_the_typed_client_plays_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(ROOT / "examples" / "openenv")
        client_class = importlib.import_module("client").BirdenvClient
        [script] = [each for each in SCRIPTS if each.name == "right after a debug attempt, twice"]
        with client_class(base_url=self.url_of(script.game, {})).sync() as client:
            assert client.reset(instance_id=script.instance_id).observation.tools
            results = [client.step(BirdenvAction(message=message)) for message in script.messages]
            assert client.state().step_count == len(script.messages)
        played = [(each.observation.text, each.reward, each.observation.done) for each in results]
        assert played == [(line.text, line.reward, line.done) for line in golden(script)]

    def test_no_route_tells_what_is_private(self) -> None:
        """Ask all that OpenEnv serves, while an episode is open."""
        app, url = make_app(make_game("c-interact")), self.url_of("c-interact", {})
        seen: list[str] = []
        with GenericEnvClient(base_url=url).sync() as client, httpx.Client(base_url=url) as http:
            client.reset(instance_id="library_1")
            client.step({"message": WRONG})
            bodies: list[Any] = [{}, {"split": "test"}, {"split": "test", "index": 0}]
            bodies += [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
            for route in (each for each in app.routes if hasattr(each, "methods")):
                path = route.path.replace("{env_name}", "birdenv")
                posted = [http.post(path, json=body) for body in bodies if "POST" in route.methods]
                seen += [answer.text for answer in (http.get(path), *posted)]
            seen.append(json.dumps(client.state()))
        assert "roomy branches" in "".join(seen) and "SUPPORTS" not in "".join(seen)
        assert_nothing_private("".join(seen))

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
        assert "40 seats" in run_page("openenv", **{"http://127.0.0.1:8000": url})
        with GenericEnvClient(base_url=url).sync() as client:
            told = client.reset(markup=True).observation["text"]
            assert "<s>" in told
            asked = client.step({"message": "<s>What do you mean by 'roomy branches'?</s>"})
            assert "40 seats" in asked.observation["text"] and asked.observation["tools"]
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["runs"]["status"] for line in lines] == ["left", "left"]


def test_what_the_protocol_has_no_word_for() -> None:
    app = make_app(make_game("bird", max_turns=1), task="1")
    with (
        servers_in_threads(lambda game, settings: app) as url_of,
        GenericEnvClient(base_url=url_of("bird", {})).sync() as client,
    ):
        with pytest.raises(RuntimeError, match="nope"):
            client.reset(instance_id="nope")
        client.reset(seed=2**63)
        ended = client.step({"message": tool_call("execute_sql", sql="SELECT 1")})
    assert ended.done and ended.observation["truncated"] and not ended.observation["void"]


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
