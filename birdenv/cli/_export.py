"""`birdenv export`: export episodes from runs as training data, or in the formats of third-party tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from birdenv.cli.options._metrics import one_of
from birdenv.errors import InputError
from birdenv.files import write_records
from birdenv.plugins import load_plugin, plugins
from birdenv.runs import run_folder
from birdenv.statistics import counted

if TYPE_CHECKING:
    from birdenv.runs.export import ExportedEpisode, ExportFormat

FORMATS: Final = "birdenv.export_formats"
"""The entry-point group for additional formats. The functions take the file to write, the folders and the
minimum reward, and return a line that says what was written."""


def export(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders, or folders of studies. Episodes of one task form a group."),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            help="sft, preference, rl; cocoa, openai, potato; inspect, atif; ratings, pairs, people.",
        ),
    ] = "sft",
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The JSONL file to write; for cocoa and inspect a JSON file, for ratings and people JSONL "
            "or CSV, for atif a folder.",
        ),
    ] = Path("train.jsonl"),
    min_reward: Annotated[
        float | None, typer.Option("--min-reward", help="Leave out episodes that earned less than this.")
    ] = None,
) -> None:
    """Export episodes for training or for other tools.

    sft: whole dialogues with a reward above 0. preference: pairs of episodes of one task with different
    rewards (play with --repeats). rl: all episodes, with the reward of every turn.

    Each row contains only what the agent saw and wrote.

    cocoa: whole dialogues in the format of CoCoA's examples.json. openai: the agent's messages and tools in
    the format of OpenAI fine-tuning. potato: items to annotate, with the messages of both seats. These three
    also export the dialogues of a study (`birdenv web`).

    inspect: a log for `inspect view`, with rewards as scores. atif: a folder of trajectories in the Agent
    Trajectory Interchange Format. Both export one run.

    ratings, pairs: people's ratings of single dialogues, and their comparisons of two dialogues (`birdenv web
    --rate`). people: the participants, with their platform id, how their session ended, and their completion
    code.

    Example: birdenv export results/my-model-c-interact --format preference -o pairs.jsonl
    """
    from birdenv.runs.export import (
        DIALOGUE_FORMATS,
        EXPORT_FORMATS,
        VIEWER_FORMATS,
        export_rows,
        exported_episodes,
        whole_dialogues,
        write_viewer_log,
    )

    further = plugins(FORMATS)
    if form in further:
        print(load_plugin(further[form])(output, runs, min_reward))
        return
    if form in VIEWER_FORMATS:
        if len(runs) != 1:
            raise InputError(f"--format {form} accepts only one run")
        print(write_viewer_log(form, runs[0], output, min_reward))
        return
    known = one_of("--format", form, (*EXPORT_FORMATS, *DIALOGUE_FORMATS, *VIEWER_FORMATS, *sorted(further)))
    if known in DIALOGUE_FORMATS:
        dialogues = [row for run in runs for row in whole_dialogues(run, known, min_reward)]
        if not dialogues:
            raise InputError(
                "there is nothing to export: no dialogue has finished, or no dialogue earned --min-reward"
            )
        write_records(output, dialogues)
        seats = {str(row.get("uuid", place)) for place, row in enumerate(dialogues)}
        told = f"{counted(len(dialogues), 'row')} of " if form == "openai" else ""
        print(f"{told}{counted(len(seats), 'dialogue')}: {output}")
        return
    episodes = [episode for run in runs for episode in exported_episodes(run_folder(run))]
    rows = list(export_rows(episodes, cast("ExportFormat", known), min_reward))
    if not rows:
        raise InputError(f"{counted(len(episodes), 'episode')} yield no rows: {_why_none(episodes, form)}")
    write_records(output, rows)
    print(f"{counted(len(rows), 'row')} of {counted(len(episodes), 'episode')}: {output}")


def _why_none(episodes: Sequence[ExportedEpisode], form: str) -> str:
    """Return the reason why no rows were made from episodes, and what to do about it."""
    if not episodes:
        return "no episodes were graded"
    if form != "preference":
        return "no episode earned enough; --format rl exports all episodes"
    rewards: dict[str, list[float]] = {}
    for episode in episodes:
        rewards.setdefault(episode.task, []).append(episode.reward)
    if all(len(earned) == 1 for earned in rewards.values()):
        return "a pair needs two episodes of one task: play with --repeats, or specify more runs"
    if all(len(set(earned)) == 1 for earned in rewards.values()):
        return "all episodes of each task earned the same reward, and a pair needs different rewards"
    return "no pair earned enough and has episodes that differ after the same prompt"
