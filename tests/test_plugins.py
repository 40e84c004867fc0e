"""What other packages add through entry points: it is found, and what is broken costs one clear line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parent / "dialogue"
"""The toy game and its players are the other package's game."""
ENTRY_POINTS = """
[birdenv.commands]
greet = stranger_commands:GREET
lost = stranger_without_module:LOST
odd = stranger_commands:greet
empty = stranger_commands:EMPTY

[birdenv.games]
guess = toy_game:GAME
Odd Name = stranger_commands:GAME
lost-game = stranger_without_module:GAME
"""
MODULE = """
from birdenv.cli.command import Command

GREET = Command("stranger_commands:greet", "Greet somebody.")
EMPTY = Command("stranger_without_commands:empty", "Do nothing.")


def greet(name: str) -> None:
    \"""Greet somebody.\"""
    print("Hello", name)
"""


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder on the path with an installed distribution, two of whose modules are missing."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "stranger_commands.py").write_text(MODULE)
    return tmp_path


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "birdenv", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{TOY}", "COLUMNS": "300"},
    )


@pytest.mark.slow
def test_a_command_of_another_package_is_listed_and_runs(stranger: Path) -> None:
    listed = ran(stranger, "--help")
    assert "  greet           Greet somebody.\n" in listed.stdout and not listed.stderr
    assert ran(stranger, "greet", "you").stdout == "Hello you\n"
    assert "Did you mean 'greet'" in ran(stranger, "gret").stderr


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["lost"],
            "Error: lost (birdenv.commands: stranger_without_module:LOST) cannot be imported: "
            "No module named 'stranger_without_module'",
        ),
        (["odd"], "Error: the entry point 'odd' of birdenv.commands is not a birdenv.cli.command.Command"),
        (
            ["empty"],
            "Error: the command empty cannot be loaded: No module named 'stranger_without_commands'",
        ),
        (
            ["play", "lost-game"],
            "Error: lost-game (birdenv.games: stranger_without_module:GAME) cannot be imported: "
            "No module named 'stranger_without_module'",
        ),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_an_entry_point_whose_module_is_missing_is_one_line(
    stranger: Path, command: list[str], said: str
) -> None:
    done = ran(stranger, *command)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == said + "\n"


def test_the_lists_of_commands_and_games_survive_a_missing_module(stranger: Path) -> None:
    listed = ran(stranger, "--help")
    assert listed.returncode == 0 and not listed.stderr
    [line] = [line for line in listed.stdout.splitlines() if line.startswith("  lost ")]
    assert line.endswith("  Not available: No module named 'stranger_without_module'")
    unknown = ran(stranger, "play", "nonsense")
    assert "lost-game" in unknown.stderr and len(unknown.stderr.splitlines()) == 1


def test_an_installed_game_has_an_id_in_gymnasium(stranger: Path) -> None:
    program = "import birdenv, gymnasium; print(*(id for id in gymnasium.registry if id[:7] == 'birdenv'))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(stranger)},
    )
    ids = set(done.stdout.split())
    assert {"birdenv/Guess-v0", "birdenv/LostGame-v0", "birdenv/MutualFriends-v0"} <= ids
    assert len(ids) == 9 and not done.stderr


@pytest.mark.slow
def test_the_summary_of_another_packages_game_shows_its_own_figures(stranger: Path, tmp_path: Path) -> None:
    players = ("--agent", "toy_players:Bisection", "--keeper", "toy_players:keeper")
    played = ran(stranger, "play", "guess", *players, "-o", str(tmp_path / "results"))
    assert played.returncode == 0, played.stderr
    shown = ran(stranger, "summary", str(tmp_path / "results")).stdout
    assert "Numbers found" in shown and "Guesses" in shown and "Mean reward" not in shown
