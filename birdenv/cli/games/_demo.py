"""`birdenv demo`: play two games with three agents and print a table."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from birdenv.cli.games._running import INTERRUPTED
from birdenv.cli.options import _run_options as options
from birdenv.dialogue import make_game
from birdenv.run_settings import RunSettings
from birdenv.runs import RunDirectory, RunPlan, Summary, prepare, run

AGENTS = {
    "oracle": "knows the reference SQL, which proves that every task can be solved",
    "asks-first": "asks about unclear words and picks the candidate SQL that fits the answers",
    "never-asks": "picks the candidate SQL that fits the wording of the request",
}

_EXPLANATION = """\
c-Interact: a request is ambiguous. The agent may ask the simulated user, then
submits SQL (with one debug attempt), then answers a follow-up request (with one more).
Reward: 0.7 + 0.3; after a debug attempt 0.5 and 0.2. Mean over all tasks.
BIRD: one question with a hint. EX (execution accuracy): tasks with the right rows.
asks-first and never-asks do not write SQL: each demo task offers four candidates
(`candidates`), one of which is right. Real benchmarks have no candidates."""

_NEXT = """\
Next
  read the dialogues      birdenv demo -o R, then birdenv show R/asks-first-c-interact
  play a task yourself    birdenv c-interact --agent human -n 1
  score on real data      birdenv bird mini_dev_sqlite.json dev_databases --agent oracle
  everything else         birdenv --help"""


def demo(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Keep the run folders here.")] = None,
    parallel: options.Parallel = 2,
    seed: options.Seed = 0,
) -> None:
    """Play the built-in benchmark.

    Plays two games with three agents and prints one table. It takes seconds and needs no network.
    """
    console = Console()
    scratch = tempfile.TemporaryDirectory(prefix="birdenv-demo-", ignore_cleanup_errors=True)
    with scratch as folder, Console(stderr=True).status("playing"):
        try:
            table = _table(output or Path(folder), parallel, seed)
        except KeyboardInterrupt:
            print("Stopped.", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
    console.print(table)
    for name, what in AGENTS.items():
        print(f"{name:<12}{what}")
    print(f"\n{_EXPLANATION}\n")
    if output is not None:
        print(f"Transcripts: {output} (birdenv show {output / 'asks-first-c-interact'} library_1)\n")
    print(_NEXT)


def _table(output: Path, parallel: int, seed: int) -> Table:
    table = Table(title="birdenv demo benchmark", box=box.SIMPLE_HEAD, title_style="bold")
    table.add_column("agent")
    for name in (
        "c-Interact\nreward",
        "request\nsolved",
        "follow-up\nsolved",
        "questions\nasked",
        "BIRD\nEX",
    ):
        table.add_column(name, justify="right")
    for name in AGENTS:
        dialogue = _play("c-interact", name, output, parallel, seed).overall
        single = _play("bird", name, output, parallel, seed).overall
        solved = dialogue["figures"]
        table.add_row(
            name,
            f"{solved['reward']['value']:.3f}",
            _share(solved["phase_1"]),
            _share(solved["phase_2"]),
            f"{dialogue['questions_asked']:.1f} of {dialogue['questions_allowed']:.1f}",
            _share(single["figures"]["ex"]),
        )
    return table


def _play(game: str, name: str, output: Path, parallel: int, seed: int) -> Summary:
    directory = RunDirectory.create(output / f"{name}-{game}")
    with make_game(game) as arena:
        plan = RunPlan(
            arena, {**arena.players, arena.game.evaluated: name}, RunSettings(seed=seed, parallel=parallel)
        )
        prepare(directory, plan.config(), resume=False)
        return run(plan, directory)


def _share(rate: dict[str, float]) -> str:
    return f"{rate['passed']:.0f}/{rate['total']:.0f}"
