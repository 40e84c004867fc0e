"""verifiers v1: the adapter's own logic with a model that says what it is told to, and the real `vf-eval`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dialogues import (
    ASK,
    all_files,
    as_script,
    as_tags,
    assert_nothing_private,
    breakdown,
    demo_messages,
    golden,
    wrong_messages,
)
from servers import example

pytest.importorskip("verifiers.v1", reason="the extra `verifiers` is not installed")

from birdenv import InfrastructureError
from birdenv.adapters.verifiers import BirdenvConfig, BirdenvEnvConfig
from birdenv.testing import SCRIPTS, AgentScript
from birdenv.testing.openai_server import serve
from birdenv_verifiers import BirdenvEnv, BirdenvTaskset

pytestmark = pytest.mark.slow  # the frameworks take seconds to import


class Interaction:
    """An interaction of verifiers, whose model says what it is told to; it ends when nothing is left."""

    def __init__(self, messages: Any) -> None:
        self.trace = SimpleNamespace(info={})
        self.told: list[str] = []
        self._left = [as_tags(message) for message in messages]

    async def turn(self, text: str | None = None) -> Any:
        self.told += [] if text is None else [text]
        if not self._left:
            return SimpleNamespace(terminated=True, last_reply="")
        return SimpleNamespace(terminated=False, last_reply=self._left.pop(0))


async def play(game: str, task: str, messages: Any, settings: Mapping[str, Any]) -> Any:
    """Play through the environment, and return what the model was told and what the trace holds."""
    taskset = BirdenvConfig(id="birdenv-verifiers", game=game, settings=dict(settings))
    env = BirdenvEnv(BirdenvEnvConfig(taskset=taskset))
    interaction = Interaction(messages)

    @asynccontextmanager
    async def opened(task: Any) -> AsyncIterator[Interaction]:
        yield interaction

    row = next(each for each in env.taskset if each.data.id == task)
    agents: Any = SimpleNamespace(agent=SimpleNamespace(interaction=opened))
    await env.run(row, agents)
    earned = await row.reward(interaction.trace), await row.phases(interaction.trace)
    return interaction.told, earned, row.data.prompt


class TestVerifiers:
    framework = "verifiers"

    def test_a_golden_dialogue_is_the_same(self, script: AgentScript) -> None:
        playing = play(script.game, script.instance_id, script.messages, script.settings)
        if "fault" in script.name:
            with pytest.raises(InfrastructureError, match="partner error"):
                asyncio.run(playing)
            return
        told, (reward, phases), _ = asyncio.run(playing)
        earned = breakdown(script, tags=True)
        assert told == [line.text for line in golden(script, tags=True) if not line.done]
        assert reward == pytest.approx(sum(earned.values()))
        assert phases == {f"phase_{phase}": each for phase, each in earned.items()}

    def test_all_demo_tasks_are_played_to_the_end(self) -> None:
        async def play_all() -> list[Any]:
            return [(await play("c-interact", *each, {}))[1] for each in demo_messages().items()]

        assert asyncio.run(play_all()) == [(1.0, {"phase_1": 0.7, "phase_2": 0.3})] * 38

    def test_fifty_episodes_at_once_are_the_same(self) -> None:
        messages = demo_messages()["library_1"]

        async def play_all() -> list[Any]:
            return await asyncio.gather(*(play("c-interact", "library_1", messages, {}) for _ in range(50)))

        assert len({json.dumps(each) for each in asyncio.run(play_all())}) == 1

    def test_a_dead_endpoint_of_the_user_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with pytest.raises(InfrastructureError, match="infra_error"):
            asyncio.run(play("c-interact", "library_1", [ASK], {"user": "llm:nobody"}))

    def test_a_cancelled_rollout_ends_at_once(self) -> None:
        settings = {"user": "dialogues:slow_user"}

        async def cancel() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(play("c-interact", "library_1", [ASK] * 9, settings), 0.3)

        asyncio.run(cancel())

    def test_nothing_private_is_handed_over(self) -> None:
        async def play_all() -> list[Any]:
            return [await play("c-interact", *each, {}) for each in wrong_messages().items()]

        assert_nothing_private(json.dumps(asyncio.run(play_all()), ensure_ascii=False))

    def test_tasks_have_the_ids_of_the_game(self) -> None:
        taskset = BirdenvTaskset(BirdenvConfig(id="birdenv-verifiers", settings={"limit": 3}))
        assert [task.key for task in taskset] == ["library_1", "library_2", "library_3"]


def vf_eval(
    tmp_path: Path, url: str, instances: Sequence[str], model: str = "scripted-markup"
) -> tuple[str, dict[str, dict[str, Any]]]:
    """Run the command as a user does, and return what it says and its traces by task."""
    folder = Path(sys.executable).parent
    command = [str(folder / "vf-eval"), "birdenv-verifiers", "-n", str(len(instances)), "-m", model]
    command += ["--no-push", "--env.agent.runtime.type", "subprocess", "-o", str(tmp_path)]
    command += ["--client.base-url", url, "--client.api-key-var", "SCRIPTED_KEY"]
    command += ["--env.taskset.settings", json.dumps({"instances": instances})]
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"  # of `uv`, with which its harness runs
    environment = {**os.environ, "SCRIPTED_KEY": "none", "PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    [traces] = tmp_path.rglob("traces.jsonl")
    found = [json.loads(line) for line in traces.read_text().splitlines()]
    return done.stdout + done.stderr, {each["task"]["data"]["id"]: each for each in found}


def test_the_command_plays_golden_dialogues(tmp_path: Path) -> None:
    names = "a question and two wrong answers", "an empty answer", "right after a debug attempt, twice"
    scripts = {script.instance_id: script for script in SCRIPTS if script.name in names}
    with serve(as_script({task: each.messages for task, each in scripts.items()}, tags=True)) as server:
        said, traces = vf_eval(tmp_path, server.url, list(scripts))
    for task, script in scripts.items():
        [trace] = traces[task]["traces"]
        messages = [node["message"] for node in trace["nodes"]]
        told = [each["content"] for each in messages if each["role"] == "user"]
        assert told[1:] == [line.text for line in golden(script, tags=True) if not line.done], said
        earned = breakdown(script, tags=True)
        assert trace["metrics"] == {f"phase_{phase}": each for phase, each in earned.items()}
        assert trace["rewards"]["reward"]["score"] == pytest.approx(sum(earned.values()))


def test_the_files_of_the_command_hold_nothing_private(tmp_path: Path) -> None:
    wrong = {task: each for task, each in wrong_messages().items() if task.endswith("_1")}
    with serve(as_script(wrong, tags=True)) as server:
        said, traces = vf_eval(tmp_path, server.url, list(wrong))
    assert len(traces) == len(wrong) > 3
    assert_nothing_private(said + all_files(tmp_path))


def test_a_dead_endpoint_of_the_model_is_an_error(tmp_path: Path) -> None:
    said, _ = vf_eval(tmp_path, "http://127.0.0.1:9/v1", ["library_1"])
    assert "err 1.00" in said, said


def test_the_example_evaluates(tmp_path: Path) -> None:
    assert "reward 1.00" in example("verifiers_eval.py", tmp_path)
