"""Run a game from the command line: choose the run folder, show progress, and print the summary."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from birdenv.cli.command import visible
from birdenv.cli.options._models import check_models
from birdenv.cli.options._run_options import RunOptions, command_given
from birdenv.cli.options.settings_command import Choices, option_names
from birdenv.dialogue import Arena, Game
from birdenv.dialogue.games import checked_settings, find_game, read_settings
from birdenv.dialogue.players import PlayerSpec
from birdenv.errors import InputError, RunEndedError, SettingError
from birdenv.llm import ModelSettings, ReplayMissError
from birdenv.run_settings import RunSettings
from birdenv.runs import (
    OpenRun,
    RunDirectory,
    RunPlan,
    Summary,
    data_name,
    episode_name,
    folder_name,
    planned_jobs,
    prepare,
    run,
    run_warnings,
)

_SHOWN = 3  # episodes of a small run, each on a line

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended."""

LOST = 3
"""Exit code of a run in which the machine, a server or an endpoint ended an episode."""

VOID = 1
"""Exit code of a run that says nothing about the agent: all episodes broke off, or it never answered."""


def load_game(name: str, settings: Mapping[str, Any], agent: str) -> Arena:
    """Load a game for a run, and print the notes about its tasks on standard error.

    Args:
        name: the game.
        settings: its settings.
        agent: the agent's spec.

    Raises:
        InputError: a setting cannot be used; the message names its option.
    """
    game = find_game(name)
    PlayerSpec(agent, game=game.name).check()
    logging.getLogger("birdenv").addHandler(_ToStandardError())
    logging.getLogger("birdenv").setLevel(logging.INFO)
    try:
        arena = Arena(game, read_settings(game, settings))
    except SettingError as error:
        raise InputError(error.under(option_names(game.settings).get(error.name, error.name))) from None
    for note in arena._tasks.notes:
        print(f"Warning: {visible(note)}", file=sys.stderr)
    return arena


class _ToStandardError(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print(visible(record.getMessage()), file=sys.stderr)


def run_game(
    arena: Arena,
    chosen: Choices,
    players: Mapping[str, str] | None = None,
    *,
    run_options: RunOptions | None = None,
    settings: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    episodes: int | None = None,
) -> RunDirectory:
    """Create or reopen the run folder, play, print the summary and the paths, and return the folder.

    Args:
        arena: the game.
        chosen: what was chosen on the command line.
        players: specs of the other seats' players, by the seats' names.
        run_options: how the run is played, if not as it was chosen.
        settings: settings for players.
        extra: further fields of `config.json`.
        episodes: the total number of episodes, if the last round of repeats is not whole.

    Raises:
        InputError: the options cannot be used, for this game or together.
        typer.Exit: the run was interrupted, lost episodes, or says nothing about the agent.
    """
    game, options, models = arena.game, run_options or chosen.run, chosen.models
    seats: dict[int, Any] = dict(arena.players)
    seats |= {game.seat_index(name): spec for name, spec in (players or {}).items()}
    seats.pop(game.evaluated, None)
    check_models(models, options.agent, seats.values())
    seats[game.evaluated] = options.agent
    if "human" in seats.values() and options.parallel > 1:
        raise InputError("one person cannot play several episodes at the same time: leave out --parallel")
    how = {"options": dict(settings or {}), "models": models, "episodes": episodes}
    plan = RunPlan(arena, seats, _run_settings(options, how), dict(extra or {}))
    llm = plan.models
    opened = plan.open()  # before anything is written
    try:
        config = plan.config() | command_given(chosen.command, chosen.given)
        if options.resume is not None:
            directory = RunDirectory.existing(options.resume)
        else:
            place = Path("results") / folder_name(
                [_with_model(n, llm.settings) for n in plan.names()], game.name, data_name(arena.settings)
            )
            directory = RunDirectory.create(options.output or place)
        for warning in prepare(directory, config, resume=options.resume is not None):
            print(f"Warning: {visible(str(warning))}", file=sys.stderr)
        print(f"Run folder: {directory.path}", flush=True)
        summary = _with_progress(plan, directory, options, opened)
    except RunEndedError as error:
        spent = f" ({llm.ledger.line()})" if llm.ledger.totals()[1] else ""
        left = "" if isinstance(error, ReplayMissError) else f" {_saved(game, directory)}"
        raise RunEndedError(f"{error}{spent}. The run has ended before its last task.{left}") from None
    except KeyboardInterrupt:
        print(f"Evaluation aborted. {_saved(game, directory)}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        opened.close()
    print(visible(summary.first_screen), end="")
    _print_places(directory, each_episode=not options.verbose)
    if line := llm.ledger.line():
        print(f"Models: {line}")
    found = run_warnings(arena, directory.read("runs").values())
    for line in found.lines:
        print(f"Warning: {visible(line)}", file=sys.stderr)
    if found.broken:
        print(f"To play them again: {_resume_command(game, directory)}", file=sys.stderr)
    if found.lost:
        raise typer.Exit(LOST)
    if found.is_void:
        raise typer.Exit(VOID)
    return directory


def _run_settings(options: RunOptions, more: Mapping[str, Any]) -> RunSettings:
    """Return how a run is played, by the options of its command and by what else is known of it."""
    how = {name: getattr(options, name) for name in RunSettings.model_fields if hasattr(options, name)}
    if options.resume is not None and options.engine in ("threads", "processes"):
        how["address"] = None  # of the cluster on which the run was begun
    try:
        return checked_settings(RunSettings, "a run", {**how, **more})
    except SettingError as error:
        raise InputError(error.under(f"--{error.name.replace('_', '-')}")) from None


def _print_places(directory: RunDirectory, *, each_episode: bool) -> None:
    """Print where the results are and how to read an episode. List the episodes of a small run."""
    records = list(directory.read("runs").values())
    if len(records) <= _SHOWN and each_episode:
        print("\n".join(map(episode_line, records)))
    print(f"Results: {directory.path}")
    if records:
        first = visible(shlex.quote(_name(records[0])))
        print(f"To read a dialogue: birdenv show {directory.path} {first}")


def _saved(game: Game, directory: RunDirectory) -> str:
    """Return how many episodes a run that ended early has saved, and the command that continues it."""
    count = len(directory.finished())
    left = f"{count} finished episode(s) saved" if count else "No episode has finished"
    return f"{left}; to continue: {_resume_command(game, directory)}"


def _with_model(player: str, models: ModelSettings) -> str:
    """Return a player's spec with the model that `--model` gave it; for `llm:MODEL`, only the model."""
    name, _, model = player.partition(":")
    if name in ("llm", "llm-markup"):
        model = model or models.model or ""
    return model if name == "llm" and model else f"{name}:{model}" if model else name


def episode_line(record: Mapping[str, Any]) -> str:
    """Return a line about an episode: its id, its reward, its status, and its attempts or its error."""
    result = record.get("result", {})
    attempts = ", ".join(f"{a['phase']} {a['attempt']}: {a['status']}" for a in record.get("attempts", ()))
    earned = record["reward"] if "reward" in record else result.get("ex", 0)
    what = record.get("error") or attempts or result.get("verdict") or ""
    return visible(f"{_name(record):<16} {earned:<4} {record['status']}  {what}".rstrip())


def _name(record: Mapping[str, Any]) -> str:
    return episode_name(record["instance_id"], record.get("repeat"))


def _resume_command(game: Game, directory: RunDirectory) -> str:
    name = directory.read_config().get("command", {}).get("name", f"play {game.name}")
    return f"birdenv {name} --resume {directory.path}"


def _with_progress(plan: RunPlan, directory: RunDirectory, options: RunOptions, opened: OpenRun) -> Summary:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[spent]}", markup=False),
    )
    hidden = "human" in plan.players.values() or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as bar:
        total = len(planned_jobs(plan))
        line = bar.add_task(f"{plan.arena.game.name} {options.agent}", total=total, spent="")

        def advance(record: Mapping[str, Any]) -> None:
            spent = plan.models.ledger.line()
            bar.update(line, advance=1, spent=spent)
            if options.verbose:
                text = episode_line(record) + (f"  [{spent}]" if spent else "")
                console.print(text, highlight=False, markup=False, soft_wrap=True)

        return run(plan, directory, progress=advance, opened=opened)
