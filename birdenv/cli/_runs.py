"""`birdenv runs`: the runs of a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer

from birdenv.dialogue.games import find_game, game_names
from birdenv.errors import InputError
from birdenv.files import file_errors
from birdenv.runs.summaries import read_run, report


def runs(
    root: Annotated[Path, typer.Argument(help="Folder in which to look for runs.")] = Path("results"),
) -> None:
    """List the runs of a folder, oldest first.

    A line has the folder, the game, who played, settings that are not the default ones, how many episodes are
    finished, and the first figure.

    Example: birdenv runs results
    """
    with file_errors(root):
        found = {path.resolve() for path in root.glob("**/run-*/config.json")}
    if not found:
        raise InputError(f"{root} contains no run; commands that play write runs to results/, or to --output")
    lines = [_run_line(path) for path in sorted((p.parent for p in found), key=lambda p: (p.name, p))]
    short = [list(line[:-1]) for line in lines if len(line) > 2]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    for line in lines:
        print("\n".join(_in_columns(line, widths)))


_WIDTH = 100


def _in_columns(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return a run in one line; what does not fit goes to further lines, indented."""
    *columns, rest = cells
    padded = [f"{cell:<{width}}" for cell, width in zip(columns, widths, strict=False)]
    line = "  ".join([*padded, rest]).rstrip()
    if len(line) <= _WIDTH:
        return [line]
    folder, *others = "  ".join(padded).rstrip(), rest
    if len(folder) > _WIDTH:
        folder, others = columns[0], ["  ".join([*columns[1:], rest])]
    return [
        folder,
        *(
            part
            for text in others
            for part in wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        ),
    ]


def _run_line(path: Path) -> list[str]:
    """Return folder, game, players, episodes, first figure, and settings; of a broken run why it is
    broken.
    """
    shown = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    try:
        run = read_run(path)
        figure = report(run).figures[0]
    except InputError as error:
        return [shown, str(error)]
    players = " + ".join(str(run.config[name]) for name in ("agent", "user") if name in run.config)
    value = figure.value
    if value is None:
        first = ""
    else:
        said = f"{100 * value:.1f} %" if figure.measure.is_rate else f"{value:.3f}"
        first = f"{figure.measure.title} {said}"
    counts = f"{len(run.outcomes)}/{run.expected} episodes"
    return [shown, run.game, players, counts, first, "  ".join(_settings_changed(run.game, run.config))]


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
    """Return the game's settings that are not the default ones as `name=value`, and data that are not the
    demo's.
    """
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
