"""Run a game from the command line: choose the run folder, show progress and print the summary."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from birdenv.cli.command import progress, visible
from birdenv.cli.options._run_options import RunFolder, check_models, command_given
from birdenv.cli.options.settings_command import Choices, named_options
from birdenv.dialogue import Arena, Game
from birdenv.dialogue.games import find_game, read_settings
from birdenv.dialogue.players import PlayerSpec
from birdenv.errors import InputError, RunEndedError
from birdenv.llm import ModelSettings, ReplayMissError
from birdenv.runs import (
    OpenRun,
    RunDirectory,
    RunPlan,
    Summary,
    data_name,
    find_engine,
    folder_name,
    name_of,
    planned_jobs,
    prepare,
    run,
    run_warnings,
)
from birdenv.statistics import counted

_SHOWN = 3  # episodes of a small run, each on a line

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended."""

LOST = 3
"""Exit code of a run in which the machine, a server or an endpoint ended an episode."""

VOID = 1
"""Exit code of a run that says nothing about the agent: no episode was completed, or it never answered."""


def load_game(name: str, chosen: Choices, agent: str | None = None) -> Arena:
    """Load a game for a run, and print warnings about the game's tasks on standard error.

    Args:
        name: the name of the game.
        chosen: the options on the command line.
        agent: the agent's spec; None to use the option `--agent`.

    Raises:
        InputError: the agent, the engine or a setting cannot be used; the message names the option.
    """
    game = find_game(name)
    PlayerSpec(chosen.agent if agent is None else agent, game=game.name).check()
    find_engine(chosen.run.engine)
    logging.getLogger("birdenv").addHandler(_ToStandardError())
    logging.getLogger("birdenv").setLevel(logging.INFO)
    with named_options(game.settings):
        arena = Arena(game, read_settings(game, chosen.settings))
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
    agent: str | None = None,
    changes: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> RunDirectory:
    """Play or resume a run, print the summary and the path of the run folder, and return the folder.

    Args:
        arena: the game.
        chosen: the options on the command line.
        players: the specs of the other seats' players, keyed by seat name.
        agent: the agent's spec; None to use the option `--agent`.
        changes: fields of `RunSettings` that override the options.
        extra: additional fields for `config.json`.

    Raises:
        InputError: an option cannot be used for this game, or together with another option.
        RunEndedError: the run cannot continue, for example because a budget is spent.
        typer.Exit: the run was interrupted, an episode ended because of the machine or a server, no episode
            was completed, or the agent never answered.
    """
    game, folder, settings = arena.game, chosen.group(RunFolder), chosen.run
    settings = settings.model_copy(update=dict(changes or {}))
    if folder.resume is not None and settings.engine in ("threads", "processes"):
        settings = settings.model_copy(update={"address": None})  # of the cluster on which the run was begun
    seats: dict[int, Any] = dict(arena.players)
    seats |= {game.seat_index(name): spec for name, spec in (players or {}).items()}
    seats.pop(game.evaluated, None)
    agent = chosen.agent if agent is None else agent
    check_models(settings.models, agent, seats.values())
    seats[game.evaluated] = agent
    if "human" in seats.values() and settings.parallel > 1:
        raise InputError("one person cannot play several episodes at the same time: leave out --parallel")
    plan = RunPlan(arena, seats, settings, dict(extra or {}))
    llm = plan.models
    opened = plan.open()  # before anything is written
    try:
        config = plan.config() | command_given(chosen.command, chosen.given)
        if folder.resume is not None:
            directory = RunDirectory.existing(folder.resume)
        else:
            place = Path("results") / folder_name(
                [_with_model(n, llm.settings) for n in plan.names()], game.name, data_name(arena.settings)
            )
            directory = RunDirectory.create(folder.output or place)
        for warning in prepare(directory, config, resume=folder.resume is not None):
            print(f"Warning: {visible(str(warning))}", file=sys.stderr)
        print(f"Run folder: {directory.path}", flush=True)
        summary = _with_progress(plan, directory, opened, verbose=folder.verbose)
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
    _print_places(game, directory, each_episode=not folder.verbose)
    if line := llm.ledger.line():
        print(f"Models: {line}")
    found = run_warnings(arena, directory.read("runs").values())
    for line in found.lines:
        print(f"Warning: {visible(line)}", file=sys.stderr)
    if found.retried:
        print(f"To play them again: {_resume_command(game, directory)}", file=sys.stderr)
    if found.lost:
        raise typer.Exit(LOST)
    if found.is_void:
        raise typer.Exit(VOID)
    return directory


def _print_places(game: Game, directory: RunDirectory, *, each_episode: bool) -> None:
    """Print where the results are and how to show an episode, and list the episodes of a small run."""
    records = list(directory.read("runs").values())
    if len(records) <= _SHOWN and each_episode:
        print("\n".join(episode_line(game, record) for record in records))
    print(f"Results: {directory.path}")
    if records:
        first = visible(shlex.quote(name_of(records[0])))
        print(f"To read a dialogue: birdenv show {directory.path} {first}")


def _saved(game: Game, directory: RunDirectory) -> str:
    """Return how many episodes of an unfinished run are saved, and the command that continues the run."""
    count = len(directory.finished())
    left = f"{counted(count, 'finished episode')} saved" if count else "No episode has finished"
    return f"{left}; to continue: {_resume_command(game, directory)}"


def _with_model(player: str, models: ModelSettings) -> str:
    """Return the name of a player for the run folder, with the model that `--model` names."""
    name, _, model = player.partition(":")
    if name in ("llm", "llm-markup"):
        model = model or models.model or ""
    return model if name == "llm" and model else f"{name}:{model}" if model else name


def episode_line(game: Game, record: Mapping[str, Any]) -> str:
    """Describe an episode in one line, with the task id, reward, status, and the verdicts or the error.

    Args:
        game: the game of the episode.
        record: the episode's line in runs.jsonl.
    """
    phases = game.display.phases(record) if "example" in record else ()
    verdicts = "; ".join(f"{phase.title}: {phase.verdict.replace('_', ' ')}" for phase in phases)
    earned = record["reward"] if "reward" in record else record.get("result", {}).get("ex", 0)
    what = record.get("error") or verdicts
    return visible(f"{name_of(record):<16} {earned:<4} {record['status']}  {what}".rstrip())


def _resume_command(game: Game, directory: RunDirectory) -> str:
    name = directory.read_config().get("command", {}).get("name", f"play {game.name}")
    return f"birdenv {name} --resume {directory.path}"


def _with_progress(plan: RunPlan, directory: RunDirectory, opened: OpenRun, *, verbose: bool) -> Summary:
    console = Console(stderr=True)
    title = f"{plan.arena.game.name} {plan.names()[plan.arena.game.evaluated]}"
    with progress(title, len(planned_jobs(plan)), hidden="human" in plan.players.values()) as move:

        def advance(record: Mapping[str, Any]) -> None:
            spent = plan.models.ledger.line()
            move(advance=1, note=spent)
            if verbose:
                text = episode_line(plan.arena.game, record) + (f"  [{spent}]" if spent else "")
                console.print(text, highlight=False, markup=False, soft_wrap=True)

        return run(plan, directory, progress=advance, opened=opened)
