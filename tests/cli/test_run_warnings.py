"""A run whose agent never really played says so, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from birdenv.dialogue import Move
from birdenv.errors import BirdenvError
from birdenv.runs import run_episodes
from birdenv.runs._episode_status import failure

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("This model's maximum context length is 8192 tokens"), "agent context limit"),
        (BirdenvError("400: prompt is too long: 210000 tokens > 200000 maximum"), "agent context limit"),
        (ValueError("the request exceeds the available context size"), "agent context limit"),
        (type("Full", (Exception,), {"code": "context_length_exceeded"})("no"), "agent context limit"),
        (ValueError("rate limit: 30000 tokens per minute"), "task error"),
        (ValueError("boom"), "task error"),
    ],
)
def test_a_full_context_has_its_own_status(error: Exception, status: str) -> None:
    assert failure(error).status == status


def test_moves_of_no_known_name_are_counted_with_the_names_that_exist() -> None:
    with pytest.warns(UserWarning) as told:
        run_episodes("c-interact", lambda view: Move("submit", "SELECT 1"), limit=1)
    text = str(told[0].message)
    assert "unknown moves; the first: 'submit' in " in text
    assert "The moves of c-interact are clarify, execute_sql, submit_sql." in text
    assert "never answered (submit_sql)" in str(told[1].message)


@pytest.mark.slow
def test_a_run_that_says_nothing_of_the_agent_does_not_exit_0(birdenv: Command, agents: str) -> None:
    for agent, said in (("broken", "3 episodes ended early"), ("silent", "never answered (submit_sql) in 3")):
        ran = birdenv("bird", "--agent", f"{agents}:{agent}", "-n", 3)
        assert (ran.code, said in ran.err) == (1, True), ran.err
    assert birdenv("bird", "--agent", f"{agents}:once", "-n", 3).code == 0


@pytest.fixture
def agents(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "some_agents.py").write_text(
        "import birdenv\n"
        "def broken(view): raise ValueError('boom')\n"
        "def silent(view): return birdenv.execute_sql('SELECT 1')\n"
        "def once(view): return birdenv.submit_sql('SELECT 1')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "some_agents"
