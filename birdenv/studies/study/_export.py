"""Export a study's dialogues as transcripts, including the players' names and the survey answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from birdenv.dialogue import Arena, make_game, replay
from birdenv.dialogue.chat import chat_messages, tool_schemas
from birdenv.dialogue.record import Example
from birdenv.errors import InputError
from birdenv.files import exists
from birdenv.studies.study._config import HUMAN
from birdenv.studies.study._store import FILE, Store


def is_study(folder: Path) -> bool:
    """Return True if a folder contains a study."""
    return exists(folder / FILE)


def study_game(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the name and the settings of a study's game.

    Raises:
        InputError: the study cannot be read, or nobody has taken part yet.
    """
    with closing(Store(folder / FILE, for_reading=True)) as store:
        told = store.game()
    return str(told["game"]), dict(told["settings"])


def study_rows(folder: Path, form: str, min_reward: float | None = None) -> list[dict[str, Any]]:
    """Return the finished dialogues of a study, in the order in which they began.

    Args:
        folder: the folder of the study, which may be running.
        form: `cocoa` for dialogues as in CoCoA's `transcripts.json`; `openai` for the messages and tools of
            every seat that a person sat in; `potato` for items to annotate, with the words of all seats.
        min_reward: the minimum reward of every seat; dialogues with a lower reward are left out. None to keep
            all dialogues.

    Raises:
        InputError: the study cannot be read, or the format is unknown.
    """
    if form not in ("cocoa", "openai", "potato"):
        raise InputError(f"a study can be exported as cocoa, openai or potato, not as {form!r}")
    with closing(Store(folder / FILE, for_reading=True)) as store:
        told = store.game()
        with make_game(told["game"], **told["settings"]) as arena:
            made = [each for each in examples(store, arena) if _earned(each, min_reward)]
            if form == "cocoa":
                return [each.to_json() for each in made]
            if form == "potato":
                return [each.annotation_item(arena.game.seat_names) for each in made]
            return [row for example in made for row in chat_rows(example, store, arena)]


def _earned(example: Example, least: float | None) -> bool:
    reward = (example.outcome or {}).get("reward", 0)
    return least is None or min(reward.values() if isinstance(reward, dict) else [reward]) >= least


def examples(store: Store, arena: Arena) -> Iterator[Example]:
    """Yield the finished dialogues. Survey answers are keyed by the seat of the partner that they rate."""
    for stored in store.finished():
        surveys = {str(1 - seat): answers for seat, answers in store.surveys(stored.id).items()}
        yield Example(
            stored.id,
            stored.task,
            arena._tasks.scenario(stored.task),
            {str(seat): name for seat, name in enumerate(stored.seats)},
            {**(stored.outcome or {}), "status": stored.status},
            tuple(move.event for move in store.moves(stored.id)),
            {"partner": stored.partner, "seed": stored.seed, "surveys": surveys},
        )


def chat_rows(example: Example, store: Store, arena: Arena) -> Iterator[dict[str, Any]]:
    """Yield a row of messages and tools, in OpenAI's format, for each seat that a person sat in."""
    noted = [move.noted for move in store.moves(example.uuid)]
    dialogue = replay(arena.start(example.scenario_uuid).rules, example.events, noted=noted)
    for place, name in example.agents.items():
        if name != HUMAN:
            continue
        seat = arena.game.seats[int(place)]
        instruction = dialogue.view(int(place)).instruction
        messages = chat_messages(instruction, dialogue.heard(int(place)), seat, int(place))
        yield {"uuid": example.uuid, "seat": seat.name, "messages": messages, "tools": tool_schemas(seat)}
    dialogue.close()
