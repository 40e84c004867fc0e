"""`birdenv runs`: the runs of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.dialogue.games import find_game, game_names
from birdenv.errors import InputError
from birdenv.files import file_errors
from birdenv.runs.summaries import read_run, report


def runs(
    root: Annotated[Path, typer.Argument(help="Where run folders are looked for.")] = Path("results"),
) -> None:
    """List the runs of a folder, oldest first.

    A line has the folder, the game, who played, settings that are not the default ones, how many episodes are
    finished, and the first figure.

    Example: birdenv runs results
    """
    with file_errors(root):
        found = {path.resolve() for path in root.glob("**/run-*/config.json")}
    if not found:
        raise InputError(f"{root} holds no run; commands that play make them in results/, or in --output")
    for path in sorted((path.parent for path in found), key=lambda path: (path.name, path)):
        print(_run_line(path))


def _run_line(path: Path) -> str:
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    try:
        run = read_run(path)
        made = report(run)
    except InputError as error:
        return f"{shown}: {error}"
    figure = made.figures[0]
    first = "" if figure.value is None else f"{figure.measure.title} {100 * figure.value:.1f} %"
    players = " + ".join(str(run.config[name]) for name in ("agent", "user") if name in run.config)
    parts = [str(shown), run.game, players, *_settings_changed(run.game, run.config)]
    return "  ".join([*parts, f"{len(run.outcomes)}/{run.expected} episodes", first]).rstrip()


_NOT_OF_THE_GAME = {
    "image",
    "data",
    "data_dir",
    "data_file",
    "db_dir",
    "limit",
    "offset",
    "databases",
    "instances",
}


def _settings_changed(game: str, config: Mapping[str, Any]) -> list[str]:
    """The game's settings that are not the default ones as `name=value`, and data that are not the demo's."""
    if game not in game_names():
        return []
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in find_game(game).settings.model_fields.items()
        if name not in _NOT_OF_THE_GAME
    }
    changed = [
        f"{name}={config[name]}" for name, value in defaults.items() if config.get(name, value) != value
    ]
    data = Path(str(config.get("data_file") or ""))
    return [*changed, str(data)] if data.name and not data.parent.name.startswith("demo-") else changed
