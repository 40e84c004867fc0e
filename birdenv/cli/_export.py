"""`birdenv export`: episodes of runs as data for training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.errors import InputError
from birdenv.files import write_records
from birdenv.runs import run_folder
from birdenv.runs.export import EXPORT_FORMATS, export_rows, exported_episodes


def export(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; episodes of one task form a group.")],
    form: Annotated[str, typer.Option("--format", "-f", help="sft, preference or rl.")] = "sft",
    output: Annotated[Path, typer.Option("--output", "-o", help="The JSONL file.")] = Path("train.jsonl"),
    min_reward: Annotated[
        float | None, typer.Option("--min-reward", help="Leave out episodes that earned less.")
    ] = None,
) -> None:
    """Write episodes as JSONL for training: messages with tool calls, rewards, and what to train on.

    sft: whole dialogues that earned something. preference: pairs of episodes of one task, of which one earned
    more (play with --repeats). rl: all episodes, with the reward of every turn.

    A row holds what the agent saw and wrote, and nothing private.

    Example: birdenv export results/my-model-c-interact --format preference -o pairs.jsonl
    """
    for known in EXPORT_FORMATS:
        if form == known:
            break
    else:
        raise InputError(f"--format {form!r} is unknown; known: {', '.join(EXPORT_FORMATS)}")
    episodes = [episode for run in runs for episode in exported_episodes(run_folder(run))]
    rows = list(export_rows(episodes, known, min_reward))
    write_records(output, rows)
    print(f"{len(rows)} rows of {len(episodes)} episodes: {output}")
