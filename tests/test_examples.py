"""Every example runs and says what it promises."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

SAYS = {
    "gymnasium_loop.py": ["library_1: Which roomy branches", "reward "],
    "vector_env.py": ["questions:", "EX: ["],
    "evaluate_endpoint.py": ["mean reward 1.000; dialogues"],
    "training_data.py": [" of 15 dialogues are in sft.jsonl", "train assistant"],
    "two_seats.py": ["heard: Those with 40 seats or more.", "heard: Sorry"],
}


OF_ADAPTERS = (
    "grpo_trl.py",
    "inspect_eval.py",
    "mcp_agent.py",
    "openenv_client.py",
    "skyrl_rollout.py",
    "verifiers_eval.py",
)
"""Their tests are in `tests/adapters`, as they need the frameworks."""

WITH_TESTS_OF_THEIR_OWN = ("own_agent.py", "text_reinforce.py", "minari_dataset.py", *OF_ADAPTERS)


def test_no_example_is_forgotten() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SAYS, *WITH_TESTS_OF_THEIR_OWN}


@pytest.mark.every(5)
@pytest.mark.parametrize("name", SAYS)
def test_example(name: str, tmp_path: Path) -> None:
    command = [sys.executable, EXAMPLES / name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout


@pytest.mark.slow
def test_own_agent(tmp_path: Path) -> None:
    code = "from birdenv.cli import main; main()"
    arguments = ["c-interact", "--agent", "own_agent:Patient", "-n", "3", "-o", str(tmp_path)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ended early" not in done.stderr
    assert "completed" in done.stdout


def _words_learned(episodes: int) -> list[tuple[float, int]]:
    """Return and share of well-formed calls (in percent) in each tenth of the episodes."""
    command = [sys.executable, str(EXAMPLES / "text_reinforce.py"), str(episodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"return ([+-][\d.]+), well-formed tool calls (\d+)%", done.stdout)
    return [(float(earned), int(formed)) for earned, formed in found]


@pytest.mark.slow
def test_the_language_model_begins_with_nothing() -> None:
    assert len(learned := _words_learned(50)) == 10 and learned[0][1] < 20


@pytest.mark.slow
def test_the_language_model_learns_form_and_answers() -> None:
    learned = _words_learned(2500)
    assert learned[0][1] < 20 and learned[-1][1] > 85 and learned[-1][0] > learned[0][0] + 0.3


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("minari", "h5py", "jax")),
    reason="minari, h5py or jax is not installed: the extra `minari`",
)
def test_trajectories_to_minari_and_back(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "minari_dataset.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"return ([\d.]+) as played: ([\d.]+); first: What do you mean", done.stdout)
    assert len(found) == 2 and all(stored == played for stored, played in found)
    assert any(float(stored) > 0 for stored, _ in found)
