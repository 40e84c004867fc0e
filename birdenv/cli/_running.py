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

from birdenv.cli._options import command_given
from birdenv.dialogue import Arena, Game, PlayerSpec, find_game, read_settings
from birdenv.errors import InputError
from birdenv.runs import RunDirectory, RunPlan, Seating, Summary, episode_name, folder_name, prepare, run

_SHOWN = 3  # episodes of a small run, each on a line

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended."""


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
        config = plan.config() | command_given()
        if options.resume is not None:
            directory = RunDirectory.existing(options.resume)
        else:
            place = Path("results") / folder_name(plan.names(), game.name)
            directory = RunDirectory.create(options.output or place)
        for warning in prepare(directory, config, resume=options.resume is not None):
            print(f"Warning: {warning}", file=sys.stderr)
        summary = _with_progress(plan, directory, options, seating)
    except KeyboardInterrupt:
        print(
            f"Evaluation aborted. Finished episodes are saved; to go on: {_resume_command(game, directory)}",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
    finally:
        seating.close()
    print(summary.text, end="")
    records = list(directory.read("runs").values())
    if len(records) <= _SHOWN and not options.verbose:
        print("\n".join(map(episode_line, records)))
    print(f"Results: {directory.path}")
    _tell_broken(arena, directory)
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


def _resume_command(game: Game, directory: RunDirectory) -> str:
    name = directory.read_config().get("command", {}).get("name", f"play {game.name}")
    return f"birdenv {name} --resume {directory.path}"


def _tell_broken(arena: Arena, directory: RunDirectory) -> None:
    """Episodes that broke off count as failures; nobody should find that out from the score."""
    broken = [record for record in directory.read("runs").values() if "error" in record]
    if broken:
        first = broken[0]
        print(
            f"Warning: {len(broken)} episode(s) broke off and count as failed. The first, "
            f"{_name(first)}: {first['error']}\n"
            f"To play them again: {_resume_command(arena.game, directory)}",
            file=sys.stderr,
        )


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
