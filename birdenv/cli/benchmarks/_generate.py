"""`birdenv data generate`: a benchmark made from descriptions of concepts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from birdenv.benchmarks.generator import NEW_FORMS_FILE, read_concepts
from birdenv.benchmarks.generator import generate as make


def generate(
    out: Annotated[Path, typer.Argument(help="The folder to write; it must not exist yet.")],
    tasks: Annotated[int, typer.Option("-n", "--tasks", min=1, help="Make at least so many tasks.")] = 2500,
    seed: Annotated[int, typer.Option("--seed", help="The same seed makes the same files.")] = 0,
    concepts: Annotated[
        list[Path] | None,
        typer.Option("--concepts", help="A description of a database; default: the demo's."),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Folder of the <db>/ folders; default: the demo's.")
    ] = None,
) -> None:
    """Make a c-Interact benchmark of families: one request, and a task for each thing that it may mean.

    Each task is checked by playing it: the gold earns 1.0, each wrong candidate fails, and the rule user
    answers a question about each open point. OUT is written when all is done; it holds the task file, the
    same families in other sentence forms, the databases, and splits by database and by family.
    """
    described = None if not concepts else tuple(map(read_concepts, concepts))
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        step = bar.add_task("generating", total=tasks)
        made = make(
            out,
            tasks=tasks,
            seed=seed,
            folder=directory,
            concepts=described,
            progress=lambda done: bar.update(step, completed=min(done, tasks)),
        )
    print(f"Written: {out} ({len(made.records)} tasks in {len(made.families)} families)")
    for why, count in sorted(made.dropped.items()):
        print(f"  left out: {count} families: {why}")
    print(f"Next: birdenv c-interact {out}")
    print(f"The same in other sentence forms: birdenv c-interact {out} --data {out / NEW_FORMS_FILE}")
