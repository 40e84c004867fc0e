"""What an agent reports of its calls and tokens, and what the figures make of it (BIRD-Interact §5.2)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from arenas import a_interact, bird, c_interact, play, tasks_of
from chat_endpoint import COMPLETION_TOKENS, PROMPT_TOKENS, chat_endpoint
from written_runs import bird_record, dialogue_record, write_run

from birdenv.cli import main
from birdenv.dialogue import Arena, Usage
from birdenv.errors import InputError
from birdenv.report.plots import forest_rows, plot
from birdenv.runs import RunDirectory
from birdenv.runs.summaries import compare, read_run, report
from birdenv.runs.summaries import comparison_text as as_text

HERE = Path(__file__).parent
PATIENCE = 6
"""Enough for every tool once, beside the two submissions."""


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


def played(arena: Arena, agent: str, folder: Path, parallel: int = 1) -> tuple[RunDirectory, dict[str, Any]]:
    directory = play(arena, agent, folder, parallel=parallel)
    return directory, json.loads((directory.path / "overall.json").read_text())


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("parallel", [2, 1, 3])
def test_a_model_behind_http_plays_a_interact_with_every_tool(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    game = a_interact(demo, 5, patience=PATIENCE)
    with chat_endpoint(tasks_of(game)) as url:
        monkeypatch.setenv("CHAT_URL", url)
        directory, found = played(game, "chat_agent:Chat", tmp_path, parallel)
    assert (found["figures"]["reward"]["value"], found["malformed"]) == (1.0, 0)
    assert set(found["calls"].values()) == {1, 2} and found["calls"]["submit_sql"] == 2
    for record in directory.read("runs").values():
        assert record["usage"] == {
            "calls": 10,
            "prompt_tokens": 10 * PROMPT_TOKENS,
            "completion_tokens": 10 * COMPLETION_TOKENS,
        }
    assert found["usage"] == {
        "calls": {"episodes": 5, "total": 50, "mean": 10},
        "prompt_tokens": {"episodes": 5, "total": 5000, "mean": 1000},
        "completion_tokens": {"episodes": 5, "total": 350, "mean": 70},
        "cost_usd": None,
    }
    lines = (directory.path / "summary.txt").read_text().splitlines()
    [tokens] = [line.split() for line in lines if "Prompt tokens" in line]
    assert tokens[:4] == ["Prompt", "tokens", "1000.0", "5000"]


@pytest.mark.slow
def test_the_same_agent_plays_c_interact_from_the_command_line(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = c_interact(demo, 3)
    with chat_endpoint(tasks_of(game)) as url:
        monkeypatch.setenv("CHAT_URL", url)
        arguments = ["birdenv", "c-interact", "--agent", "chat_agent:Chat", "-n", "3", "-o", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code
    found = json.loads((tmp_path / "latest" / "overall.json").read_text())
    assert found["figures"]["reward"]["value"] == 1.0
    assert (found["questions_asked"], found["answers"]["unclear"]) == (0, 3)  # asked back, for nothing
    assert found["usage"]["calls"]["mean"] == 3  # a question and two submissions
    assert "completion tokens" in capsys.readouterr().out


def test_agents_that_report_nothing_have_no_figures(demo: Path, tmp_path: Path) -> None:
    directory, found = played(c_interact(demo, 2), "asks-first", tmp_path)
    assert "usage" not in found
    assert "usage" not in directory.file("runs").read_text()
    assert "tokens" not in (directory.path / "summary.txt").read_text()
    assert not [name for name in report(read_run(directory.path)).to_json()["figures"] if "tokens" in name]


@pytest.mark.slow
def test_what_is_no_report_breaks_the_episode_and_what_was_paid_counts(demo: Path, tmp_path: Path) -> None:
    directory, found = played(c_interact(demo, 4), "chat_agent:miscounting", tmp_path)
    guessing, breaking, paying, silent = directory.read("runs").values()
    assert guessing["status"] == "task error" and "expected a birdenv.dialogue.Usage" in guessing["error"]
    assert guessing["attempts"] and "usage" not in guessing
    assert breaking["status"] == "task error" and "endpoint is gone" in breaking["error"]
    assert breaking["usage"] == {"calls": 2}
    assert paying["usage"] == {"cost_usd": 0.0125} and paying["status"] == "completed"
    assert silent["status"] == "completed" and "usage" not in silent
    assert found["usage"] == {
        "calls": {"episodes": 1, "total": 2, "mean": 2},
        "prompt_tokens": None,
        "completion_tokens": None,
        "cost_usd": {"episodes": 1, "total": 0.0125, "mean": 0.0125},
    }
    summary = (directory.path / "summary.txt").read_text()
    assert "(1 of 4 episodes)" in summary and "0.012500" in summary


def test_bird_has_the_same_figures(demo: Path, tmp_path: Path) -> None:
    _, found = played(bird(demo, 4), "chat_agent:miscounting", tmp_path)
    assert found["usage"]["cost_usd"]["total"] == 0.0125
    assert found["tasks"] == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"calls": -1},
        {"calls": 1.5},
        {"calls": True},
        {"cost_usd": float("nan")},
        {"prompt_tokens": "5"},
        {"calls": 10**400},
    ],
)
def test_usage_is_numbers(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Usage(**wrong)


def test_a_sum_of_usage_is_one_that_records_can_hold() -> None:
    assert Usage(calls=2**53) + Usage(calls=2**53, cost_usd=1.5) == Usage(calls=2**53, cost_usd=1.5)


def records(tokens: int) -> list[dict[str, Any]]:
    usage = {"calls": 2, "prompt_tokens": tokens, "cost_usd": tokens / 1e6}
    made = [dialogue_record(str(n), (1, "first", 0.7), usage=usage) for n in range(4)]
    return [*made, dialogue_record("4")]


def test_summary_and_compare_show_it(tmp_path: Path) -> None:
    cheap, dear = (
        read_run(write_run(tmp_path / str(tokens), records(tokens), game="c-interact"))
        for tokens in (12_000, 20_000)
    )
    made = report(cheap)
    figures = made.to_json()["figures"]
    assert (figures["prompt_tokens"]["value"], figures["prompt_tokens"]["total"]) == (12_000, 4)
    assert figures["cost_usd"]["value"] == 0.012
    assert "completion_tokens" not in figures
    text = made.text()
    assert "12000 " in text and "leaves out 1 episode whose agent does not report it" in text
    comparison = compare([cheap, dear])
    [tokens] = [d for d in comparison.differences if d.measure.name == "prompt_tokens"]
    assert tokens.value == 8_000 and tokens.worse == ("0", "1", "2", "3") and not tokens.better
    assert "+8000" in as_text(comparison)


@pytest.mark.slow
def test_what_an_episode_took_is_not_in_the_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    made = report(read_run(write_run(tmp_path / "run", records(500), game="c-interact")))
    assert not {of.measure.name for _, of in forest_rows(made) if of} & {"calls", "prompt_tokens", "cost_usd"}
    assert plot(made).startswith(b"\x89PNG")


def test_a_damaged_report_is_named(tmp_path: Path) -> None:
    for usage, says in (
        ({"calls": "many"}, "not a number"),
        ({"calls": 10**400}, "is not a number"),
        ({"calls": -3}, "not between 0"),
        (7, "usage"),
    ):
        folder = tmp_path / says.replace(" ", "_")
        write_run(folder, [bird_record("a", True, usage=usage), bird_record("b", True)])
        with pytest.raises(InputError, match=says):
            read_run(folder)
