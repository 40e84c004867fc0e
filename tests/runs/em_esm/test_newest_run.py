"""Which run is the newest: real dates by name, then the others by their time; only what is complete."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from birdenv.errors import InputError
from birdenv.runs.em_esm import holds_pairs, newest_run


def make(root: Path, name: str, *, modified: int = 1_000, complete: bool = True) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file in ("gold.txt", "preds.txt") if complete else ("gold.txt",):
        (folder / file).write_text("SELECT 1\n")
    os.utime(folder, (modified, modified))
    return folder


def newest(root: Path) -> str:
    return newest_run(root, holds_pairs).folder.name


def test_the_greatest_date_in_a_name(tmp_path: Path) -> None:
    make(tmp_path, "run_20250908_001148", modified=9_000)
    make(tmp_path, "run_20251231_235959")
    make(tmp_path, "run_20251231_235958", modified=9_999)
    make(tmp_path, "run_best", modified=99_999)
    make(tmp_path, "other_20260101_000000")
    make(tmp_path, "latest")
    assert newest(tmp_path) == "run_20251231_235959"


def test_what_is_no_date_counts_by_its_time(tmp_path: Path) -> None:
    make(tmp_path, "run_99999999_999999", modified=2_000)
    make(tmp_path, "run_20250230_000000", modified=3_000)
    make(tmp_path, "run_b", modified=3_000)
    make(tmp_path, "run_a", modified=3_000)
    assert newest(tmp_path) == "run_b"
    make(tmp_path, "run_19990101_000000", modified=1)
    assert newest(tmp_path) == "run_19990101_000000"


def test_incomplete_runs_are_passed_over_and_said(tmp_path: Path) -> None:
    make(tmp_path, "run_20260102_000000", complete=False)
    make(tmp_path, "run_20260101_000000")
    found = newest_run(tmp_path, holds_pairs)
    assert found.folder.name == "run_20260101_000000"
    assert len(found.skipped) == 1
    assert "run_20260102_000000: not complete" in found.skipped[0]


def test_links(tmp_path: Path) -> None:
    root = tmp_path / "run"
    inside = make(root, "run_20260101_000000")
    outside = make(tmp_path, "elsewhere")
    (root / "run_20260103_000000").symlink_to(outside)
    (root / "run_20260102_000000").symlink_to(inside.name)
    (root / "run_20260104_000000").symlink_to("nowhere")
    found = newest_run(root, holds_pairs)
    assert found.folder.name == "run_20260102_000000"
    assert "leads out of" in found.skipped[0]


@pytest.mark.parametrize("name", ["", "latest", "runs", "run_20260101_000000"])
def test_none(tmp_path: Path, name: str) -> None:
    root = tmp_path / "run"
    if name:
        make(root, name, complete=not name.startswith("run_"))
    with pytest.raises(InputError, match=r"--run-dir .*--runs-root"):
        newest_run(root, holds_pairs)


def test_a_root_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="no run found"):
        newest_run(tmp_path / "run", holds_pairs)
