"""Pictures of runs: points with intervals, a curve over the only setting that differs, PNG and SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import played

from birdenv.report.plots import curve_setting, plot
from birdenv.runs.summaries import compare, read_run, report

Command = Callable[..., Any]
pytest.importorskip("matplotlib")


@pytest.fixture
def by_patience(birdenv: Command, tmp_path: Path) -> list[Path]:
    common = ("c-interact", "--agent", "asks-first", "-n", "3", "--patience")
    return [played(birdenv, tmp_path / f"patience-{number}", *common, str(number)) for number in (6, 0, 3)]


def texts(picture: bytes) -> str:
    """The comments of an SVG file: matplotlib names each text that it draws as curves."""
    ElementTree.fromstring(picture)
    return picture.decode()


@pytest.mark.slow
def test_runs_that_differ_in_one_number_are_a_curve_over_it(by_patience: list[Path]) -> None:
    made = compare([read_run(path) for path in by_patience], allow_different=True)
    assert curve_setting(made) == "patience"
    assert "patience; bands are 95 % intervals" in texts(plot(made, "svg"))
    two = compare([read_run(path) for path in by_patience[:2]], allow_different=True)
    assert curve_setting(two) is None and "thick over tasks" in texts(plot(two, "svg"))


@pytest.mark.slow
def test_runs_of_other_agents_are_no_curve(birdenv: Command, by_patience: list[Path], tmp_path: Path) -> None:
    other = played(
        birdenv, tmp_path / "o", "c-interact", "--agent", "never-asks", "-n", "3", "--patience", "9"
    )
    assert (
        curve_setting(compare([read_run(path) for path in (*by_patience, other)], allow_different=True))
        is None
    )


@pytest.mark.slow
def test_the_title_names_game_agent_data_and_day(by_patience: list[Path]) -> None:
    run = by_patience[0]
    year, month, day = run.name[4:8], run.name[8:10], run.name[10:12]
    picture = texts(plot(report(read_run(run)), "svg"))
    assert f"c-interact: asks-first · demo · {year}-{month}-{day}" in picture
    assert plot(report(read_run(run)), "svg") == picture.encode()


def test_the_command_writes_png_and_svg(birdenv: Command, by_patience: list[Path], tmp_path: Path) -> None:
    for name, begins in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        assert birdenv("summary", by_patience[0], "--plot", tmp_path / name).code == 0
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert "must end in .png or .svg" in birdenv("summary", by_patience[0], "--plot", tmp_path / "a.gif").err
