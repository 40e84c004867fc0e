"""Options, dialogues and progress of the commands that train and test players."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
        help="Dialogues: a file as `export --format cocoa` writes it, a run or a study; may be repeated.",
    ),
]
Scenarios = Annotated[
    Path | None, typer.Option("--scenarios", help="Scenarios of dialogues that have only their ids.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed for drawing.")]


def given_settings(context: typer.Context) -> dict[str, Any]:
    """Return the settings and the players that were chosen on the command line."""
    chosen = choices(context)
    return chosen.settings | chosen.players


def read_dialogues(
    game: Game, paths: Sequence[Path] | None, scenarios: Path | None, further: dict[str, Any]
) -> tuple[list[ExampleRecord], dict[str, Any]]:
    """Return the dialogues of files, runs and studies, and the settings under which they can be played
    again.
    """
    from birdenv.cocoa.files import as_examples, read_examples, read_scenarios
    from birdenv.cocoa.files._dialogue_files import exact
    from birdenv.runs.export import whole_dialogues

    if not paths:
        raise InputError(
            "no dialogues: name a file, a run or a study with --data. birdenv selfplay and birdenv web make "
            "runs and studies"
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
        raise InputError(f"{paths[0]} holds no finished dialogue")
    return found, settings | further


def _settings_of(game: Game, folder: Path) -> dict[str, Any]:
    """Return the settings of a run or a study of a game whose tasks are not in its dialogues."""
    from birdenv.runs.export import played_game

    if "scenarios" in game.settings.model_fields:
        return {}
    name, settings = played_game(folder)
    if name != game.name:
        raise InputError(f"{folder}: these are dialogues of {name}, not of {game.name}")
    return settings


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a bar on standard error that is told the share of the work that is done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        line = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(line, completed=share)
