"""Running a game from the command line: where results go, progress, what is printed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from birdenv.dialogue import Arena, PlayerSpec, find_game, read_settings
from birdenv.errors import InputError
from birdenv.runs import RunDirectory, RunPlan, Seating, Summary, episode_name, mishaps, prepare, run

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended."""

VOID = 1
"""Exit code after a run that says nothing about the agent: every episode broke off, or it never answered."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of every command that plays."""

    agent: str
    seed: int
    parallel: int
    output: Path | None
    resume: Path | None
    verbose: bool
    repeats: int = 1


def load_game(name: str, settings: Mapping[str, Any], agent: str) -> Arena:
    """Load a game for a run, and say on standard error what people should know of its tasks."""
    PlayerSpec(agent).check()
    logging.getLogger("birdenv").addHandler(_ToStandardError())
    logging.getLogger("birdenv").setLevel(logging.INFO)
    game = find_game(name)
    explained = {"explain": True} if "explain" in game.settings.model_fields else {}
    arena = Arena(game, read_settings(game, {**explained, **settings}))
    for note in arena.tasks.notes:
        print(f"Warning: {note}", file=sys.stderr)
    return arena


class _ToStandardError(logging.Handler):
    """Prints what is loaded on the way."""

    def emit(self, record: logging.LogRecord) -> None:
        print(record.getMessage(), file=sys.stderr)


def run_game(
    arena: Arena,
    options: RunOptions,
    players: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> RunDirectory:
    """Make or reopen the run folder, play, print the summary and where everything is; return the folder.

    Args:
        arena: the game.
        options: the command's options.
        players: specs of the other seats' players, by the seats' names.
        settings: settings for players.
        extra: further fields of `config.json`.

    Raises:
        typer.Exit: Ctrl-C came, or the run says nothing about the agent.
    """
    if options.agent == "human" and options.parallel > 1:
        raise InputError("one person cannot play several episodes at once: leave out --parallel")
    game = arena.game
    seats: dict[int, Any] = dict(arena.players)
    seats |= {game.seat_index(name): spec for name, spec in (players or {}).items()}
    seats[game.evaluated] = options.agent
    plan = RunPlan(
        arena, seats, options.seed, options.parallel, options.repeats, dict(settings or {}), dict(extra or {})
    )
    seating = plan.seating()  # before anything is written
    try:
        config = plan.config()
        if options.resume is not None:
            directory = RunDirectory.existing(options.resume)
        else:
            name = options.agent.partition(":")[0].replace("/", "-")
            directory = RunDirectory.create(options.output or Path("results") / f"{name}-{game.name}")
        for warning in prepare(directory, config, resume=options.resume is not None):
            print(f"Warning: {warning}", file=sys.stderr)
        summary = _with_progress(plan, directory, options, seating)
    except KeyboardInterrupt:
        print(
            "Evaluation aborted. Finished episodes are saved; to go on: the same command with "
            f"--resume {directory.path}",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
    finally:
        seating.close()
    print(summary.text, end="")
    print(f"Results: {directory.path}")
    found = mishaps(arena, directory.read("runs").values())
    for line in found.lines:
        print(f"Warning: {line}", file=sys.stderr)
    if any("error" in record for record in directory.read("runs").values()):
        again = f"the same command with --resume {directory.path}"
        print(f"To play episodes that broke off again: {again}", file=sys.stderr)
    if found.is_void:
        raise typer.Exit(VOID)
    return directory


def episode_line(record: Mapping[str, Any]) -> str:
    """One episode in a line: id, what became of it, and what it earned."""
    result = record.get("result", {})
    attempts = ", ".join(f"{a['phase']} {a['attempt']}: {a['status']}" for a in record.get("attempts", ()))
    earned = record["reward"] if "reward" in record else result.get("ex", 0)
    what = record.get("error") or attempts or result.get("verdict") or ""
    return f"{_name(record):<16} {earned:<4} {record['status']}  {what}".rstrip()


def _name(record: Mapping[str, Any]) -> str:
    return episode_name(record["instance_id"], record.get("repeat"))


def _with_progress(plan: RunPlan, directory: RunDirectory, options: RunOptions, seating: Seating) -> Summary:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = options.agent == "human" or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as bar:
        total = len(plan.arena.ids) * plan.repeats
        line = bar.add_task(f"{plan.arena.game.name} {options.agent}", total=total)

        def advance(record: Mapping[str, Any]) -> None:
            bar.advance(line)
            if options.verbose:
                console.print(episode_line(record), highlight=False, markup=False, soft_wrap=True)

        return run(plan, directory, progress=advance, seating=seating)
