"""Put one question to the user of a game, in an episode of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from birdenv.dialogue import Arena, Move
from birdenv.dialogue.players import advance
from birdenv.dialogue.record import model_faults
from birdenv.llm import Models
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import InteractRules, InteractTasks


def schema_names(arena: Arena, instance_id: str) -> frozenset[str]:
    """Return the names of tables and columns of a task's database."""
    assert isinstance(arena._tasks, InteractTasks)
    return arena._tasks.tasks[instance_id].private.brief.identifiers


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """What the agent hears, and the private log's entry of it: the user's call and the guard's reason.

    `faults` counts what the user's model did wrong.
    """

    text: str
    call: str = ""
    target: str = ""
    guard: str = ""
    faults: Mapping[str, int] = field(default_factory=dict)


def ask(
    arena: Arena, instance_id: str, question: str, times: int = 1, models: Models | None = None
) -> HeardAnswer:
    """Ask the user of `arena` one question at the start of a task.

    Args:
        arena: the game, with the user.
        instance_id: the task.
        question: what is asked.
        times: how often it is asked in a row; the last answer counts.
        models: language models for the user; without them the environment says where they are.

    Raises:
        InputError: there is no such task.
        InfrastructureError: the user's model does not answer.
    """
    dialogue = arena.start(instance_id)
    rules = dialogue.rules
    assert isinstance(rules, InteractRules)
    players = arena.seat_players(dialogue, instance_id, but=SYSTEM, models=models)
    with closing(dialogue):
        for _ in range(times):
            dialogue.apply(SYSTEM, Move("clarify", question))
            advance(dialogue, players, SYSTEM)
        words = next((event.data for event in reversed(dialogue.events) if event.action == "answer"), "")
        answers = [entry for entry in rules.private_log if entry["kind"] == "answer"]
    entry: dict[str, Any] = answers[-1] if answers else {}
    faults = sum((Counter(model_faults(player)) for player in players), Counter[str]())
    return HeardAnswer(
        str(words), entry.get("call", ""), entry.get("target", ""), entry.get("guard", ""), faults
    )


def noted(heard: Iterable[HeardAnswer]) -> str:
    """Return a line on what the user's model did wrong; empty if nothing."""
    faults = sum((Counter(one.faults) for one in heard), Counter[str]())
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.items()))
    return f"Noted of the user's model: {listed}" if faults else ""
