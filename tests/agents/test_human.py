"""A person at the terminal: what is shown, what is heard, and that the end is that of the record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from birdenv_agents.human import readable

Command = Callable[..., Any]


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    left = iter(lines)

    def read(prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)


def record(folder: Path) -> dict[str, Any]:
    [line] = (folder / "latest" / "runs.jsonl").read_text().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_an_offer_needs_no_side_terms_and_the_end_is_that_of_the_record(
    birdenv: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    typed(monkeypatch, "offer 100")
    ran = birdenv("play", "bargain", "--agent", "human", "-n", "1", "-o", tmp_path)
    kept = record(tmp_path)
    assert kept["example"]["events"][0]["data"] == {"price": 100, "sides": ""}
    [end] = [line for line in ran.out.splitlines() if line.startswith("The episode is over: ")]
    assert f"reward {kept['reward']}" in end and kept["status"] in end


def test_the_rules_are_shown_once_and_the_end_without_python_lists(
    birdenv: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    typed(monkeypatch, "quit")
    ran = birdenv("c-interact", "--agent", "human", "-n", "1", "-o", tmp_path)
    assert ran.out.count("ambiguous") == 1 and "beside the conversation" not in ran.out
    [end] = [line for line in ran.out.splitlines() if line.startswith("The episode is over: ")]
    assert "[" not in end and "status" in end


def test_help_and_exit_are_heard_and_the_prompt_is_one_line(
    birdenv: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    typed(monkeypatch, "help", "exit")
    ran = birdenv("c-interact", "--agent", "human", "-n", "1", "-o", tmp_path)
    assert "(5 turns left; ask, submit, show, help, quit)" in ran.out.splitlines()
    assert "Type ask QUESTION, submit SQL" in ran.out
    kept = record(tmp_path)
    assert kept["status"] != "completed" and kept["questions"] == 0
    assert [event["action"] for event in kept["example"]["events"]] in ([], ["quit"])


def test_text_is_wrapped_once_and_tables_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    broken = f"{'word ' * 16}find out what is\nmeant, then write the SQL.\n- a point"
    lines = readable(broken).splitlines()
    assert max(map(len, lines)) <= 60 and "meant," not in lines and lines[-1] == "- a point"
    table = f"name  {'x' * 80}  seats\n----  {'-' * 80}  -----"
    assert readable(table) == table
