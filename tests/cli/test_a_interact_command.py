"""`birdenv a-interact` does what its help says."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.benchmarks import merge_files
from birdenv.files import write_records

Command = Callable[..., Any]


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "latest" / "runs.jsonl").read_text().splitlines()]


def overall(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "latest" / "overall.json").read_text())
    return found


def test_help(birdenv: Command) -> None:
    ran = birdenv("a-interact", "--help")
    assert ran.code == 0
    assert "Usage:" in ran.out and "--patience" in ran.out and "--resume" in ran.out
    assert "a-interact" in birdenv("--help").out


@pytest.mark.parametrize("which", [("-n", 10), pytest.param((), marks=pytest.mark.real_tasks)])
def test_the_oracle_on_the_demo(birdenv: Command, tmp_path: Path, which: tuple[object, ...]) -> None:
    ran = birdenv("a-interact", "--agent", "oracle", *which, "-o", tmp_path)
    assert ran.code == 0
    assert [line.split()[2] for line in ran.out.splitlines() if line.startswith("Mean reward  ")] == ["1.000"]
    assert "Budget used per task" in ran.out
    [text] = tmp_path.glob("**/summary.txt")
    assert "get_knowledge_definition" in text.read_text()


def test_the_figure_is_the_mean_of_the_rewards(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("a-interact", "--agent", "random", "-n", 4, "-o", tmp_path)
    assert ran.code == 0
    assert overall(tmp_path)["figures"]["reward"]["value"] == pytest.approx(
        sum(record["reward"] for record in records(tmp_path)) / 4
    )


def test_each_episode_of_a_small_run_has_a_line(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("a-interact", "--agent", "oracle", "-n", 1, "-o", tmp_path)
    assert "  completed  Phase 1, submission 1: passed; Phase 2, submission 1: passed\n" in ran.out


def test_patience_is_a_setting(birdenv: Command, tmp_path: Path) -> None:
    budgets = []
    for patience in (0, 5):
        folder = tmp_path / str(patience)
        birdenv("a-interact", "--agent", "oracle", "-n", 3, "--patience", patience, "-o", folder)
        budgets.append([record["budget"] for record in records(folder)])
    assert [b - a for a, b in zip(*budgets, strict=True)] == [10, 10, 10]


def test_selections_and_a_resumed_run(birdenv: Command, tmp_path: Path) -> None:
    chosen = ("--database", "library", "--offset", 1, "-n", 3)
    assert birdenv("a-interact", *chosen, "-o", tmp_path).code == 0
    folder = (tmp_path / "latest").resolve()
    whole = (folder / "overall.json").read_bytes()
    lines = (folder / "runs.jsonl").read_text().splitlines(keepends=True)
    (folder / "runs.jsonl").write_text("".join(lines[:1]))
    assert birdenv("a-interact", *chosen, "--resume", folder).code == 0
    assert (folder / "overall.json").read_bytes() == whole
    assert [record["database"] for record in records(tmp_path)] == ["library"] * 3
    refused = birdenv("a-interact", *chosen, "--patience", 4, "--resume", folder)
    assert refused.code == 2 and "patience: 3 then, 4 now" in refused.err


def test_a_person_plays_with_every_tool(
    birdenv: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter(
        [
            "schema",
            "columns",
            "column members|name",
            "define",
            "names",
            "define 1",
            "knowledge",
            "run SELECT 1;",
            "ask What do you mean by 'late'?",
            "submit SELECT 1;",
            "quit",
        ]
    )
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    ran = birdenv("a-interact", "--agent", "human", "-n", 1, "-o", tmp_path)
    assert ran.code == 0 and "define needs an argument: define NAME" in ran.out
    [record] = records(tmp_path)
    assert len(record["calls"]) == 9 and set(record["calls"].values()) == {1}
    assert record["budget_used"] == 1 + 1 + 0.5 + 0.5 + 0.5 + 1 + 1 + 2 + 3


def test_recorded_sql(birdenv: Command, tmp_path: Path, demo: Path) -> None:
    task = json.loads((demo / "c_interact.jsonl").read_text().splitlines()[0])
    row = {"instance_id": task["instance_id"], "sql": ["SELECT 1", *task["sol_sql"]]}
    row |= {"follow_up_sql": task["follow_up"]["sol_sql"]}
    (tmp_path / "sql.jsonl").write_text(json.dumps(row))
    arguments = ("--agent", f"predictions:{tmp_path / 'sql.jsonl'}", "-n", 1, "-o", tmp_path / "runs")
    assert birdenv("a-interact", *arguments).code == 0
    [record] = records(tmp_path / "runs")
    assert record["reward"] == 1.0
    assert [attempt["reward"] for attempt in record["attempts"]] == [0.0, 0.7, 0.3]


@pytest.mark.parametrize("layout", ["lite", "full"])
@pytest.mark.parametrize("game", ["a-interact", "c-interact"])
def test_missing_ground_truth_is_named_and_where_it_is_given(
    birdenv: Command, tmp_path: Path, demo: Path, game: str, layout: str
) -> None:
    """The official layouts as they are published: in full the clear query is withheld, too."""
    folder = tmp_path / "data"
    shutil.copytree(demo, folder)
    lines = (folder / "c_interact.jsonl").read_text().splitlines()
    (folder / "c_interact.jsonl").unlink()
    rows = [withheld(json.loads(line), layout) for line in lines]
    write_records(folder / "bird_interact_data.jsonl", rows)
    ran = birdenv(game, folder, "--agent", "never-asks", "-o", tmp_path / "runs")
    assert ran.code == 0
    assert "sol_sql of 38 tasks, test_cases of 11 tasks, follow_up.sol_sql of 38 tasks" in ran.err
    assert "follow_up.test_cases of " in ran.err
    assert "bird.bench25@gmail.com" in ran.err and f"[bird-interact-{layout} GT&Test Cases]" in ran.err
    assert "birdenv data merge" in ran.err
    assert overall(tmp_path / "runs")["status"] == {"ungraded": 38}


def withheld(row: dict[str, Any], layout: str) -> dict[str, Any]:
    """The row without its ground truth."""
    empty: dict[str, Any] = {"sol_sql": [], "external_knowledge": [], "test_cases": []}
    if layout == "full":
        row.pop("query")
    return row | empty | {"follow_up": row["follow_up"] | empty}


@pytest.mark.every(2)
@pytest.mark.parametrize("profile", ["strict", "adk"])
def test_profiles(birdenv: Command, tmp_path: Path, profile: str) -> None:
    ran = birdenv("a-interact", "--agent", "oracle", "-n", 12, "--profile", profile, "-o", tmp_path)
    assert ran.code == 0 and f"profile {profile}, patience 3" in ran.out
    assert (overall(tmp_path)["profile"], overall(tmp_path)["figures"]["reward"]["value"]) == (profile, 1.0)
    folder = (tmp_path / "latest").resolve()
    other = "adk" if profile == "strict" else "strict"
    refused = birdenv("a-interact", "--agent", "oracle", "-n", 12, "--resume", folder, "--profile", other)
    assert refused.code == 2 and f"profile: {profile} then" in refused.err


def test_the_options_are_those_of_c_interact(birdenv: Command) -> None:
    """But for what its protocol has no place for: SQL is a tool here, questions have a
    price in place of a number, and there are no stage files."""
    ours, theirs = (
        set(re.findall(r"--[a-z-]+", birdenv(game, "--help").out)) for game in ("a-interact", "c-interact")
    )
    assert theirs - ours == {"--execute-sql", "--official-files", "--questions"}
    assert not ours - theirs


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--profile", "shell"), "--profile 'shell' is unknown; choose from strict, adk"),
        (("--user", "nobody"), "unknown user 'nobody'; known users of a-interact: human, learned, llm"),
        (("--agent", "nobody"), "unknown agent"),
        (("--agent", "./mine.py:best"), "or use mine:best (the module without .py), from its folder"),
        (("--agent", "gpt-4o"), "or use module:factory, or llm:gpt-4o if this is a language model"),
        (("--agent", "no_such_file:agent"), "module 'no_such_file' is neither installed nor in this folder"),
        (("--user-style", "loud"), "--user-style"),
        (("--user-style", "terse", "--profile", "adk"), "requires the 'strict' profile"),
        (("--instance", "nope"), "the task file has no instance 'nope'; it has library_1, library_2"),
        (("/no/such/folder",), "no such directory"),
    ],
)
def test_bad_arguments_are_one_line(birdenv: Command, arguments: tuple[str, ...], says: str) -> None:
    ran = birdenv("a-interact", *arguments)
    assert ran.code == 2
    assert says in ran.err and ran.err.count("\n") == 1


def test_mini_interact(birdenv: Command, shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "mini_interact"
    merged = merge_files(folder / "mini_interact.jsonl", folder / "published_passing_gt.jsonl", partial=True)
    write_records(tmp_path / "merged.jsonl", merged.records)
    ran = birdenv(
        "a-interact", folder, "--data", tmp_path / "merged.jsonl", "--agent", "oracle", "-o", tmp_path
    )
    assert ran.code == 0
    found = overall(tmp_path)
    figures = found["figures"]
    assert found["episodes"]["rated"] == figures["phase_2"]["passed"] == 2
    assert figures["reward"]["value"] == 1.0


def test_summary_compare_and_repeats(birdenv: Command, tmp_path: Path) -> None:
    for agent in ("oracle", "random"):
        ran = birdenv("a-interact", "--agent", agent, "-n", 6, "--repeats", 2, "-o", tmp_path / agent)
        assert ran.code == 0 and "pass^2 " in ran.out
    shown = birdenv("summary", tmp_path / "oracle")
    assert shown.code == 0 and "a-interact: oracle" in shown.out
    figures = json.loads(birdenv("summary", tmp_path / "random", "--json").out)["figures"]
    assert set(figures) == {"phase_1", "phase_2", "phase_2_of_reached", "solved", "reward"}
    assert birdenv("compare", tmp_path / "oracle", tmp_path / "random").code == 0
