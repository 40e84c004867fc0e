"""Whole dialogues of a run in other tools' formats: CoCoA, OpenAI's chat messages, Potato."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from birdenv.dialogue.games import find_game
from birdenv.dialogue.transcript import Example
from birdenv.runs.export._episodes import exported_episodes
from birdenv.runs.summaries.recorded_run import read_run

DialogueFormat: TypeAlias = Literal["cocoa", "openai", "potato"]
DIALOGUE_FORMATS: Final[tuple[DialogueFormat, ...]] = ("openai", "potato")
"""Those that `birdenv export` writes itself."""


def dialogue_rows(
    folder: Path, form: DialogueFormat, min_reward: float | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the dialogues of a run, in the order of its tasks.

    Args:
        folder: the run's folder.
        form: `cocoa`: the dialogue as it was recorded, with the keys of CoCoA's `examples.json`; `openai`:
            the messages and tools of the evaluated seat, as fine-tuning takes them; `potato`: an item to
            annotate, with both seats' words.
        min_reward: leaves out dialogues in which the evaluated seat earned less.

    Raises:
        InputError: the run cannot be read.
    """
    least = -inf if min_reward is None else min_reward
    if form == "openai":
        for episode in exported_episodes(folder):
            if episode.reward < least:
                continue
            yield {"messages": episode.messages, "tools": episode.tools}
        return
    run = read_run(folder)
    seats = find_game(str(run.config.get("game"))).seat_names
    for record in run.records:
        if "example" in record and record["reward"] >= least:
            if form == "cocoa":
                yield record["example"]
                continue
            example = Example.from_json(record["example"])
            repeat = f"/{record['repeat']}" if "repeat" in record else ""
            yield example.annotation_item(seats, f"{example.uuid}{repeat}")
