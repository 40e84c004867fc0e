"""Which options commands have, and that those of games are made of the games' settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from birdenv.cli import _main
from birdenv.cli.options.settings_command import option_names
from birdenv.dialogue.games import find_game

Command = Callable[..., Any]

GAMES = ("bird", "c-interact", "a-interact")


def options(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, list[str]]]:
    """Give the options and arguments of a command, and of those below it."""
    context = command.context_class(command, info_name=name, parent=parent)
    found = [word for each in command.get_params(context) for word in (*each.opts, *each.secondary_opts)]
    yield name, found
    if hasattr(command, "list_commands"):
        for below in command.list_commands(context):
            made = command.get_command(context, below)
            yield from options(made, f"{name} {below}" if parent else below, context)


@pytest.fixture(scope="module")
def there() -> dict[str, list[str]]:
    return dict(options(typer.main.get_command(_main.app), "birdenv"))


def test_no_option_is_lost(there: dict[str, list[str]]) -> None:
    """The list is a record of names that people use: what goes from it is named in the changelog."""
    for line in (Path(__file__).parent / "options_of_commands.txt").read_text().splitlines():
        name, _, words = line.partition(": ")
        assert not set(words.split()) - set(there[name]), name


@pytest.mark.parametrize("name", GAMES)
def test_every_setting_of_a_game_is_an_option_of_its_command(name: str, there: dict[str, list[str]]) -> None:
    for setting, option in option_names(find_game(name).settings).items():
        assert (option if option.startswith("--") else setting) in there[name]


@pytest.mark.parametrize("name", ["play", "selfplay", "scenarios", "web"])
def test_the_help_of_a_command_that_takes_a_game_lists_its_settings(birdenv: Command, name: str) -> None:
    of_game = {"--cross-talk", "--max-events"}
    shown = set(birdenv(name, "bargain", "--help").out.replace(",", " ").split())
    assert of_game <= shown and ("--seller" in shown) == (name != "selfplay")
    assert not of_game & set(birdenv(name, "--help").out.split())


def test_settings_have_the_names_that_they_have_in_python_too(birdenv: Command, tmp_path: Path) -> None:
    runs = []
    for place, words in enumerate((("--instance", "1"), ("--instances", "1,2"))):
        folder = tmp_path / str(place)
        assert birdenv("play", "bird", "--agent", "oracle", *words, "-o", folder, "--no-evidence").code == 0
        runs.append(json.loads((folder / "latest" / "config.json").read_text()))
    assert [run["instances"] for run in runs] == [["1"], ["1", "2"]]
    assert all(run["no_evidence"] for run in runs)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--parallel", "0", "--parallel must be at least 1, got 0"),
        ("--repeats", "0", "--repeats must be at least 1, got 0"),
        ("--shard", "4/3", "--shard: must be I/N"),
        ("--engine", "trains", "unknown engine 'trains'; known engines: processes, ray, threads"),
        ("--max-cost", "-1", "--max-cost must be at least 0, got -1.0"),
        ("--prompts", "long", "--prompts 'long' is unknown; choose from full, compact"),
    ],
)
def test_options_of_a_run_are_checked_before_data_are_loaded(
    birdenv: Command, option: str, value: str, says: str
) -> None:
    ran = birdenv("bird", "nowhere.json", "nowhere", option, value)
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith(f"Error: {says}")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("bird", "--ungraded", "maybe"), "--ungraded 'maybe' is unknown; choose from skip, include"),
        (
            ("c-interact", "--user-style", "loud"),
            "--user-style 'loud' is unknown; choose from plain, terse, chatty",
        ),
        (("a-interact", "--patience", "-1"), "--patience must be from 0 to 100, got -1"),
        (("bird", "--limit", "0"), "--limit must be at least 1, got 0"),
        (("bird", "--sql-timeout", "-2"), "--sql-timeout must be more than 0, got -2.0"),
        (("c-interact", "--database", "nowhere"), "the task file has no database 'nowhere'"),
        (("play", "c-interact", "--patience", "200"), "--patience must be from 0 to 100, got 200"),
    ],
)
def test_a_wrong_value_is_told_in_one_line_by_its_option(
    birdenv: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    ran = birdenv(*arguments, "--agent", "random", "-o", tmp_path / "none")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"Error: {says}") and ran.err.count("\n") == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("c-interact", "for each ambiguity. From 0 to 100."),
        ("c-interact", "Budget in tokens, for the whole run. At least 1."),
        ("bird", "Temperature of the agent's model (the user's is 0). At least 0."),
    ],
)
def test_help_states_the_bounds_of_numbers(birdenv: Any, command: str, told: str) -> None:
    assert told in " ".join(birdenv(command, "--help").out.split())
