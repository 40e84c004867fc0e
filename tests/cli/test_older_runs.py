"""Runs of commit 5bcae79, whose config.json says where SQL ran (`isolation`): that is ignored today.

`older_runs` holds config.json as that commit wrote it, for `birdenv play c-interact --agent never-asks
--limit 3 --isolation inline` and `birdenv bird --agent never-asks -n 3 --isolation process`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.runs import RunDirectory

Command = Callable[..., Any]

KEPT = Path(__file__).parent / "older_runs"
COMMANDS = {
    "play": ("play", "c-interact", "--agent", "never-asks", "--limit", "3"),
    "bird": ("bird", "--agent", "never-asks", "-n", "3"),
}
OF_TODAY = (
    "data_file",
    "db_dir",
    "engine",
    "data_sha256",
    "databases_sha256",
    "notes_sha256",
    "grader",
)


@pytest.fixture(params=COMMANDS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new(birdenv: Command, tmp_path: Path, name: str) -> Path:
    assert birdenv(*COMMANDS[name], "-o", tmp_path / "new").code == 0
    return (tmp_path / "new" / "latest").resolve()


@pytest.fixture
def older(new: Path, tmp_path: Path, name: str) -> Path:
    """The same run as the older commit left it; paths, engine, digests and grader are those of today."""
    config = json.loads((KEPT / f"{name}.json").read_text())
    today = json.loads((new / "config.json").read_text())
    assert config.keys() - today.keys() == {"isolation"}
    config |= {key: today[key] for key in OF_TODAY if key in config}
    folder = tmp_path / "older" / "run-20260101-000000"
    shutil.copytree(new, folder)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_it_is_not_among_the_settings(older: Path) -> None:
    assert "isolation" in (older / "config.json").read_text()
    config = RunDirectory(older).read_config()
    assert "isolation" not in config
    assert "--isolation" not in config["command"]["options"].get("further", [])


def test_a_run_goes_on_with_its_options(birdenv: Command, older: Path, new: Path, name: str) -> None:
    for stream in ("runs", "private", "timings"):
        file = older / f"{stream}.jsonl"
        file.write_text(file.read_text().splitlines(keepends=True)[0])
    again = birdenv(*COMMANDS[name][: 2 if name == "play" else 1], "--resume", older)
    assert (again.code, again.err) == (0, "Warning: birdenv's code has changed since the run was started\n")
    assert (older / "runs.jsonl").read_bytes() == (new / "runs.jsonl").read_bytes()


def test_it_is_summed_up_listed_and_compared(
    birdenv: Command, older: Path, new: Path, tmp_path: Path
) -> None:
    def said(command: str, folder: Path) -> str:
        ran = birdenv(command, folder)
        assert (ran.code, ran.err) == (0, "")
        return str(ran.out)

    assert said("summary", older).replace(str(older), "") == said("summary", new).replace(str(new), "")
    words = said("runs", tmp_path).split()
    half = len(words) // 2
    assert words[half] != words[0] and words[1:half] == words[half + 1 :]
    ran = birdenv("compare", older, new)
    assert ran.code == 0 and "isolation" not in ran.out + ran.err


def test_it_is_graded_again(birdenv: Command, older: Path, new: Path) -> None:
    found = []
    for folder in (older, new):
        ran = birdenv("regrade", folder)
        assert (ran.code, ran.err) == (0, "")
        found.append((ran.out, (folder / "regraded.json").read_bytes()))
    assert found[0] == found[1]
