"""Shards of a run, merged: the folder that one machine would have made, or an error that says why not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from birdenv import run_episodes
from birdenv.errors import InputError
from birdenv.llm import ModelSettings
from birdenv.runs import RunDirectory, _merge, merge_runs
from birdenv.runs.summaries.recorded_run import write_speeds
from birdenv.testing.openai_server import Server

FILES = ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt")
OWN = ("parallel", "run_engine", "workers", "command")
"""What `config.json` may say otherwise."""


def part(folder: Path, shard: str | None, **more: Any) -> Path:
    settings = {"agent": "random", "game": "bird", "limit": 5, "seed": 2, "parallel": 2} | more
    found = run_episodes(output=folder / (shard or "whole").replace("/", "-"), shard=shard, **settings).folder
    assert found is not None
    return found


def parts(folder: Path, count: int = 3, **more: Any) -> list[Path]:
    return [part(folder, f"{number}/{count}", **more) for number in range(1, count + 1)]


def files(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name not in ("timings.jsonl",)}


def check_same(merged: Path, whole: Path) -> None:
    ours, theirs = files(merged), files(whole)
    one, other = (json.loads(found.pop("config.json")) for found in (ours, theirs))
    assert ours == theirs
    assert {k: v for k, v in one.items() if k not in OWN} == {k: v for k, v in other.items() if k not in OWN}


def test_merged_shards_are_the_run_of_one_machine(tmp_path: Path) -> None:
    merged, _ = merge_runs(list(reversed(parts(tmp_path))), tmp_path / "merged")
    check_same(merged.path, part(tmp_path, None))
    names = [json.loads(line)["instance_id"] for line in (merged.path / "timings.jsonl").open()]
    assert names == merged.read_config()["tasks"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        {"game": "c-interact", "agent": "never-asks", "repeats": 2, "limit": 4},
        {"game": "a-interact", "agent": "asks-first", "limit": 4},
        {"game": "mutual-friends", "agent": "rulebased", "limit": 4, "repeats": 2, "episodes": 7},
        {"game": "bird", "agent": "foreign_agents:First"},
    ],
)
def test_merged_shards_of_other_games(tmp_path: Path, run: dict[str, Any]) -> None:
    check_same(merge_runs(parts(tmp_path, **run), tmp_path / "merged")[0].path, part(tmp_path, None, **run))


@pytest.mark.slow
def test_merged_calls_of_language_models(demo_server: Server, tmp_path: Path) -> None:
    run = {"game": "c-interact", "agent": "llm:scripted", "models": ModelSettings(base_url=demo_server.url)}
    merged, _ = merge_runs(parts(tmp_path, 2, **run), tmp_path / "merged")
    check_same(merged.path, part(tmp_path, None, **run))
    assert (merged.path / "private_calls.jsonl").stat().st_size


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    first, second = parts(tmp_path, 2)
    target = tmp_path / "merged"
    with pytest.raises(InputError, match=r"the parts lack 2 episodes: 2, 4; specify all parts"):
        merge_runs([first], target)
    with pytest.raises(InputError, match="is specified 2 times: specify each part once"):
        merge_runs([first, first], target)
    copy = shutil.copytree(first, tmp_path / "copy")
    with pytest.raises(InputError, match=r"several parts have 3 episodes in common: 1, 3, 5"):
        merge_runs([first, second, copy], target)
    with pytest.raises(InputError, match="they differ in seed: 2 then, 7 now"):
        merge_runs([first, part(tmp_path / "seed", "2/2", seed=7)], target)
    config = json.loads((second / "config.json").read_text())
    for changed in ("databases_sha256", "code_sha256"):
        (second / "config.json").write_text(json.dumps(config | {changed: "0"}))
        with pytest.raises(InputError, match=f"they differ in {changed}"):
            merge_runs([first, second], target)
    assert not target.exists()
    (second / "config.json").write_text(json.dumps(config))
    merge_runs([first, second], target)
    with pytest.raises(InputError, match="merged already exists"):
        merge_runs([first, second], target)


def test_a_part_is_finished_when_its_own_episodes_are(tmp_path: Path) -> None:
    run = part(tmp_path, "2/3")
    overall = json.loads((run / "overall.json").read_text())
    assert overall["finished"] and overall["episodes"]["expected"] == 2


def test_a_part_without_episodes_is_a_part(tmp_path: Path) -> None:
    run = {"limit": 1, "repeats": 2}
    check_same(merge_runs(parts(tmp_path, **run), tmp_path / "merged")[0].path, part(tmp_path, None, **run))


def test_measured_speeds_are_merged_in_the_order_of_the_run(tmp_path: Path) -> None:
    folders = parts(tmp_path, 2)
    for folder in folders:
        played = RunDirectory(folder).read("runs").values()
        write_speeds(folder, [{"instance_id": run["instance_id"], "r_ves": 0.75} for run in played])
    merged, _ = merge_runs(folders, tmp_path / "merged")
    speeds = [json.loads(line) for line in (merged.path / "r_ves.jsonl").open()]
    assert [each["instance_id"] for each in speeds] == merged.read_config()["tasks"]
    assert {each["r_ves"] for each in speeds} == {0.75}


def test_a_merge_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = parts(tmp_path, 2)
    target = tmp_path / "merged"
    (second / "private.jsonl").rename(second / "kept")
    with pytest.raises(InputError, match=r"the parts lack 2 episodes: 2, 4"):
        merge_runs([first, second], target)
    (second / "kept").rename(second / "private.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(_merge, "summarise", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            merge_runs([first, second], target)
    assert not target.exists()


@pytest.mark.slow
def test_the_commands_of_shards(birdenv: Any, tmp_path: Path) -> None:
    for number in (1, 2):
        shard = ("--shard", f"{number}/2", "-n", "4", "-o", tmp_path / str(number))
        assert birdenv("bird", "--agent", "never-asks", *shard).code == 0
    folders = [tmp_path / "1", tmp_path / "2" / "latest"]
    merged = birdenv("merge", *folders, "-o", tmp_path / "merged")
    assert merged.code == 0 and f"Results: {tmp_path / 'merged'}" in merged.out
    resumed = birdenv("bird", "--resume", tmp_path / "merged")
    assert resumed.code == 0, resumed.err
    refused = birdenv("bird", "--shard", "3/2", "-o", tmp_path / "no")
    assert refused.code == 2 and "such as 3/16, got '3/2'\n" in refused.err
