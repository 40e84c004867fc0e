"""The figures of CoCoA's games in a run's summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from birdenv.runs import run_episodes
from birdenv.runs.summaries import read_run, report


@pytest.mark.parametrize(
    ("game", "figures"),
    [
        ("mutual-friends", ("Success", "Selections", "Events in a dialogue", "Success per selection: 0.")),
        ("bargain", ("Deals", "Margin of the agent", "Events in a dialogue")),
        ("deal-or-no-deal", ("Valid deals", "Points of the agent", "Events in a dialogue")),
    ],
)
def test_what_a_summary_shows(game: str, figures: tuple[str, ...], tmp_path: Path) -> None:
    found = run_episodes(game, "rulebased", limit=6, output=tmp_path)
    assert found.folder is not None
    text = report(read_run(found.folder)).text()
    assert all(figure in text for figure in figures) and "None" not in text
