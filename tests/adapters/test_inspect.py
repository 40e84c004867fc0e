"""Inspect: `inspect eval`, its log and its model roles, against the scripted server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from dialogues import (
    all_files,
    as_script,
    as_turns,
    assert_nothing_private,
    breakdown,
    golden,
    wrong_messages,
)
from servers import example

pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import GenerateConfig, get_model

from birdenv.adapters import inspect as adapter
from birdenv.dialogue import make_game
from birdenv.testing import AgentScript
from birdenv.testing.openai_server import (
    ScriptedDialogue,
    ScriptedTurn,
    Server,
    ServerScript,
    demo_script,
    serve,
)

pytestmark = pytest.mark.slow  # the frameworks take seconds to import


DEAD = "http://127.0.0.1:9/v1"
MODEL = "openai-api/scripted/scripted"
TASKS = {"c-interact": adapter.c_interact, "a-interact": adapter.a_interact, "bird": adapter.bird}


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    """One server for all tests, as Inspect keeps a model with its address."""
    with serve(demo_script()) as found, pytest.MonkeyPatch.context() as environment:
        for name, url in (("SCRIPTED", found.url), ("DEAD", DEAD), ("OPENAI", DEAD)):
            environment.setenv(f"{name}_BASE_URL", url)
            environment.setenv(f"{name}_API_KEY", "none")
        yield found


@pytest.fixture(autouse=True)
def server(running: Server) -> Server:
    """Return the server, which plays the demo until a test replaces its script."""
    running.script = demo_script()
    return running


def play(tmp_path: Path, game: str, settings: Mapping[str, Any], **how: Any) -> EvalLog:
    how = {"model": MODEL, "log_dir": str(tmp_path), "display": "none", **how}
    [log] = inspect_eval(TASKS[game](**settings), **how)
    return log


def replies(sample: EvalSample) -> list[str]:
    """Return what the model was told after each of its messages; all calls of a message get the same."""
    found: list[str] = []
    for before, message in zip(sample.messages, sample.messages[1:], strict=False):
        if before.role == "assistant":
            found.append(message.text)
    return found


class TestInspect:
    framework = "inspect"

    def test_a_golden_dialogue_is_the_same(self, tmp_path: Path, server: Server, script: AgentScript) -> None:
        lines = golden(script)
        messages = script.messages if lines[-1].done else (*script.messages, *[script.messages[-1]] * 8)
        settings = {**script.settings, "instances": [script.instance_id]}
        server.script = ServerScript(dialogues=(ScriptedDialogue(turns=as_turns(messages)),))
        log = play(tmp_path, script.game, settings, fail_on_error=False)
        [sample] = log.samples or []
        told = [line.text for line in lines]
        if "fault" in script.name:
            assert "partner error" in sample.error.message and not sample.scores
            return
        assert replies(sample)[: len(told)] == told
        whole = AgentScript("", script.game, script.instance_id, tuple(messages), script.settings)
        earned = breakdown(whole)
        phases = {f"phase_{phase}": earned.get(phase, 0.0) for phase in (1, 2)[: 1 + (script.game != "bird")]}
        [score] = sample.scores.values()
        assert score.value == {"reward": pytest.approx(sum(earned.values())), **phases}

    def test_all_demo_tasks_are_played_to_the_end(self, tmp_path: Path) -> None:
        log = play(tmp_path, "c-interact", {})
        assert {(s.id, *s.scores["reward"].value.values()) for s in log.samples} == {
            (name, 1.0, 0.7, 0.3) for name in make_game("c-interact").ids
        }

    def test_fifty_episodes_at_once_are_the_same(self, tmp_path: Path) -> None:
        log = play(tmp_path, "c-interact", {"limit": 1}, epochs=50, max_samples=50, max_connections=50)
        assert len({json.dumps(replies(sample)) for sample in log.samples}) == 1 and len(log.samples) == 50

    @pytest.mark.parametrize("who", ["model", "user", "role"])
    def test_a_dead_endpoint_is_an_error_of_the_sample_and_no_score(self, tmp_path: Path, who: str) -> None:
        user = {"user": "llm:nobody", "role": "role"}.get(who, "rule")
        dead = get_model("openai-api/dead/nobody", config=GenerateConfig(max_retries=0))
        how = {"model_roles": {"user": dead}, **({"model": dead} if who == "model" else {})}
        log = play(tmp_path, "c-interact", {"limit": 1, "user": user}, fail_on_error=False, **how)
        [sample] = log.samples
        assert sample.error and not sample.scores

    def test_a_sample_that_is_cancelled_ends_alone(self, tmp_path: Path) -> None:
        slow = {"limit": 2, "user": "dialogues:slow_user"}
        log = play(tmp_path, "c-interact", slow, time_limit=1)
        assert log.status == "success" and {sample.limit.type for sample in log.samples} == {"time"}

    def test_a_model_role_plays_the_user(self, tmp_path: Path) -> None:
        log = play(tmp_path, "c-interact", {"limit": 3, "user": "role"}, model_roles={"user": MODEL})
        assert [sample.scores["reward"].value["reward"] for sample in log.samples] == [1.0] * 3
        assert all(sample.role_usage["user"].total_tokens for sample in log.samples)

    def test_nothing_private_is_handed_over(self, tmp_path: Path, server: Server) -> None:
        server.script = as_script(wrong_messages())
        log = play(tmp_path, "c-interact", {}, log_format="json")
        assert len(log.samples) == 38
        assert_nothing_private(log.model_dump_json() + all_files(tmp_path))


def test_the_command_finds_the_tasks(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("inspect")), "eval", "birdenv/a_interact"]
    options = ["--model", MODEL, "-T", "instances=library_1,coop_2", "--display", "none"]
    whole = [*command, *options, "--log-dir", str(tmp_path)]
    done = subprocess.run(whole, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = tmp_path.iterdir()
    log = read_eval_log(str(path))
    assert log.eval.task == "birdenv/a_interact" and len(log.samples) == 2
    assert log.results.scores[0].metrics["mean"].value == 1.0


def test_the_viewer_has_a_column_for_each_score() -> None:
    columns = {
        game: [column.id for column in task(limit=1).viewer.task_samples_view.columns]
        for game, task in TASKS.items()
    }
    names = {game: [each.split("__")[-1] for each in columns[game]] for game in columns}
    both = ["sampleId", "reward", "phase_1", "phase_2"]
    assert names == {"c-interact": both, "a-interact": both, "bird": both[:3]}


def test_a_model_that_says_nothing_is_a_sample_like_any_other(tmp_path: Path, server: Server) -> None:
    server.script = ServerScript(dialogues=(ScriptedDialogue(turns=(ScriptedTurn(content=""),)),))
    log = play(tmp_path, "c-interact", {"limit": 1})
    assert log.samples[0].scores["reward"].value["reward"] == 0.0


def test_the_example_evaluates(tmp_path: Path) -> None:
    said = example("inspect_eval.py", tmp_path)
    assert "reward {'mean': 1.0, 'stderr': 0.0}" in said
