"""Shared code for commands that train and test players: options, a dialogue reader and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birdenv.cli.command import progress
from birdenv.cli.options.settings_command import choices
from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv.cocoa.files import ExampleRecord
    from birdenv.dialogue import Game

GameName = Annotated[str, typer.Argument(help="A registered game, such as mutual-friends or c-interact.")]
Data = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        help="Dialogues: a file written by `export --format cocoa`, a run or a study; may be repeated.",
    ),
]
Scenarios = Annotated[
    Path | None,
    typer.Option("--scenarios", help="Scenario file, for dialogues that contain only scenario ids."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed for random choices.")]


def given_settings(context: typer.Context) -> dict[str, Any]:
    """Return the game and player settings given on the command line."""
    chosen = choices(context)
    return chosen.settings | chosen.players


def read_dialogues(
    game: Game, paths: Sequence[Path] | None, scenarios: Path | None, further: dict[str, Any]
) -> tuple[list[ExampleRecord], dict[str, Any]]:
    """Read dialogues from files, runs and studies, and return them with the settings for replaying them.

    Args:
        game: the game that the dialogues belong to.
        paths: dialogue files, and the folders of runs and studies; at least one is required.
        scenarios: a scenario file, for dialogues that contain only scenario ids; None if there is none.
        further: additional settings, which override the settings of a run or a study.

    Raises:
        InputError: no path was given, a path cannot be read or belongs to a different game, or there are no
            finished dialogues.
    """
    from birdenv.cocoa.files import as_examples, read_examples, read_scenarios
    from birdenv.cocoa.files._dialogue_files import exact
    from birdenv.runs.export import whole_dialogues

    if not paths:
        raise InputError(
            "no dialogues are given: name a file, a run or a study with --data. `birdenv selfplay` makes "
            "runs, and `birdenv web` makes studies"
        )
    settings: dict[str, Any] = {}
    known = [] if scenarios is None else read_scenarios(scenarios)
    found: list[ExampleRecord] = []
    for path in paths:
        if path.is_dir():
            found += as_examples(map(exact, whole_dialogues(path, "cocoa")), str(path))
            settings = settings or _settings_of(game, path)
        else:
            found += read_examples(path, known)
    if not found:
        raise InputError(f"{paths[0]} contains no finished dialogues")
    return found, settings | further


def _settings_of(game: Game, folder: Path) -> dict[str, Any]:
    """Return the settings of a run or a study, if the game's dialogues do not contain their tasks."""
    from birdenv.runs.export import played_game

    if "scenarios" in game.settings.model_fields:
        return {}
    name, settings = played_game(folder)
    if name != game.name:
        raise InputError(f"{folder} contains dialogues of {name}, not of {game.name}")
    return settings


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar, and yield a function that sets the completed share of the work, from 0 to 1."""
    with progress(title, total=100) as move:
        yield lambda share: move(completed=100 * share)
