"""Whole dialogues of a run in other tools' formats: CoCoA, OpenAI's chat messages, Potato."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from birdenv.dialogue._dialogue import spoken
from birdenv.dialogue._event import HOUSE
from birdenv.dialogue.cocoa._examples import exact
from birdenv.dialogue.example import Example
from birdenv.dialogue.games import find_game
from birdenv.runs.analysis._recorded_run import read_run
from birdenv.runs.export._episodes import exported_episodes

DialogueFormat: TypeAlias = Literal["cocoa", "openai", "potato"]
DIALOGUE_FORMATS: Final[tuple[DialogueFormat, ...]] = ("cocoa", "openai", "potato")


def dialogue_rows(folder: Path, form: DialogueFormat) -> Iterator[dict[str, Any]]:
    """Yield the dialogues of a run, in the order of its tasks.

    Args:
        folder: the run's folder.
        form: `cocoa`: a line of CoCoA's `examples.json`; `openai`: the messages and tools of the evaluated
            seat, as fine-tuning takes them; `potato`: an item to annotate, with both seats' words.

    Raises:
        InputError: the run cannot be read.
    """
    if form == "openai":
        for episode in exported_episodes(folder):
            yield {"messages": episode.messages, "tools": episode.tools}
        return
    run = read_run(folder)
    seats = find_game(str(run.config.get("game"))).seat_names
    for record in run.records:
        if "example" in record:
            made = exact(record["example"])
            yield made if form == "cocoa" else _item(record["example"], seats, record)


def _item(example: Mapping[str, Any], seats: tuple[str, ...], record: Mapping[str, Any]) -> dict[str, Any]:
    """An item with its dialogue both as turns and as one text, which is what Potato shows."""
    turns = []
    for event in Example.from_json(example).events:
        if event.agent == HOUSE or (event.metadata or {}).get("refused"):
            continue
        turns.append({"speaker": seats[event.agent], "text": spoken(event)})
        if event.metadata is not None and "reply" in event.metadata:
            turns.append({"speaker": event.metadata["sender"], "text": event.metadata["reply"]})
    repeat = f"/{record['repeat']}" if "repeat" in record else ""
    return {
        "id": f"{example['uuid']}{repeat}",
        "text": "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns),
        "dialogue": turns,
        "scenario": example["scenario_uuid"],
        "agents": example["agents"],
    }
