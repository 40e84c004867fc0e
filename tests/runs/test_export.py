"""Data for training: what a row holds, and that it holds nothing private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.dialogue import make_game
from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes
from birdenv.runs.export import export_rows, exported_episodes
from birdenv.testing.openai_server import Server


@pytest.fixture
def model_run(demo_server: Server, tmp_path: Path) -> Path:
    models = ModelSettings(base_url=demo_server.url)
    found = run_episodes("c-interact", "llm:scripted", limit=2, models=models, output=tmp_path / "model")
    assert found.folder is not None
    return found.folder


def test_a_dialogue_is_what_the_model_was_sent_and_wrote(model_run: Path, demo_server: Server) -> None:
    rows = list(export_rows(exported_episodes(model_run), "sft"))
    assert [row["reward"] for row in rows] == [1.0, 1.0]
    sent = [request.body["messages"] for request in demo_server.requests]
    messages = rows[0]["messages"]
    last = next(each for n, each in enumerate(sent) if n + 1 == len(sent) or len(sent[n + 1]) < len(each))
    assert [m["content"] for m in messages[:-1]] == [m["content"] or "" for m in last]
    assert messages[-1]["tool_calls"][0]["function"]["name"] == "submit_sql"
    assert rows[0]["train"] == [message["role"] == "assistant" for message in messages]
    assert {tool["function"]["name"] for tool in json.loads(rows[0]["tools"])} == {"clarify", "submit_sql"}
    assert len({tuple(message) for row in rows for message in row["messages"]}) == 1


def test_rewards_stand_at_the_turns_that_earned_them(model_run: Path) -> None:
    row = next(export_rows(exported_episodes(model_run), "rl"))
    earned = [
        (m["tool_calls"][0]["function"]["name"], r)
        for m, r in zip(row["completion"], row["turn_rewards"], strict=True)
        if r
    ]
    assert earned == [("submit_sql", 0.7), ("submit_sql", 0.3)]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]


def test_pairs_come_from_repeats_of_one_task(tmp_path: Path) -> None:
    found = run_episodes("c-interact", "random", limit=4, repeats=4, output=tmp_path)
    assert found.folder is not None
    episodes = list(exported_episodes(found.folder))
    rows = list(export_rows(episodes, "preference"))
    assert len(episodes) == 16 and rows
    assert all(row["chosen_reward"] > row["rejected_reward"] for row in rows)
    assert all(row["prompt"] and row["chosen"][-1]["role"] == "assistant" for row in rows)
    assert len(rows) > len(list(export_rows(episodes, "preference", 1.0)))


@pytest.mark.parametrize("game", ["bird", "a-interact"])
def test_every_game_and_agent_can_be_exported(tmp_path: Path, game: str) -> None:
    found = run_episodes(game, "asks-first", limit=3, output=tmp_path)
    assert found.folder is not None
    rows = list(export_rows(exported_episodes(found.folder), "rl"))
    assert len(rows) == 3
    for row, record in zip(rows, found.records, strict=True):
        assert round(sum(row["turn_rewards"]), 6) == row["reward"] == record["reward"]


def test_nothing_private_is_in_a_row(tmp_path: Path) -> None:
    found = run_episodes("c-interact", "never-asks", output=tmp_path)
    assert found.folder is not None
    with make_game("c-interact") as arena:
        clear = {name: arena._tasks.private(name).brief.clear_query for name in arena.ids}
    for row in export_rows(exported_episodes(found.folder), "rl"):
        assert clear[row["task"]] not in json.dumps(row, ensure_ascii=False)


def test_the_files_load_as_they_are(model_run: Path, tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets", reason="needs `datasets`")
    for form in ("sft", "rl"):
        file = tmp_path / f"{form}.jsonl"
        rows = list(export_rows(exported_episodes(model_run), form))  # type: ignore[arg-type]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        loaded = datasets.load_dataset("json", data_files=str(file), cache_dir=str(tmp_path))["train"]
        assert len(loaded) == len(rows) and loaded[0]["tools"] == rows[0]["tools"]
