"""Convert the episodes of a stored run to chat messages with tool calls, and to training data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from birdenv.dialogue import Arena, Event, make_game, seen_by
from birdenv.dialogue.chat import chat_messages, tool_schemas
from birdenv.dialogue.games import find_game
from birdenv.dialogue.measures import UNRATED
from birdenv.llm import RecordedDialogue, recorded_dialogues
from birdenv.runs.regrade._data import place_of
from birdenv.runs.summaries.recorded_run import read_run

ExportFormat: TypeAlias = Literal["sft", "preference", "rl"]
EXPORT_FORMATS: Final[tuple[ExportFormat, ...]] = ("sft", "preference", "rl")


def export_rows(
    episodes: Iterable[ExportedEpisode], form: ExportFormat, min_reward: float | None = None
) -> Iterator[dict[str, Any]]:
    """Yield rows of training data in the chosen format, in task order.

    Args:
        episodes: the episodes of one or more runs.
        form: `sft` yields whole dialogues, by default those with a reward above 0. `preference` yields pairs
            of a better and a worse episode of the same task, from the message where they differ. `rl` yields
            all episodes, with the reward of every turn.
        min_reward: the minimum reward of an episode, or of the better episode in a pair. Episodes and pairs
            below the minimum are left out. None to use the format's default.
    """
    if form == "preference":
        yield from _pairs(list(episodes), -inf if min_reward is None else min_reward)
        return
    least = min_reward if min_reward is not None else (1e-9 if form == "sft" else -inf)
    for episode in episodes:
        if episode.reward >= least:
            yield _dialogue(episode) if form == "sft" else _rollout(episode)


def _dialogue(episode: ExportedEpisode) -> dict[str, Any]:
    return {
        "messages": _uniform(episode.messages),
        "tools": json.dumps(episode.tools),
        "train": [message["role"] == "assistant" for message in episode.messages],
        **_about(episode),
    }


def _rollout(episode: ExportedEpisode) -> dict[str, Any]:
    first = episode.first
    completion = episode.messages[first:]
    return {
        "prompt": _uniform(episode.messages[:first]),
        "completion": _uniform(completion),
        "tools": json.dumps(episode.tools),
        "train": [message["role"] == "assistant" for message in completion],
        "turn_rewards": episode.turn_rewards[first:],
        **_about(episode),
    }


def _pairs(episodes: list[ExportedEpisode], min_reward: float) -> Iterator[dict[str, Any]]:
    by_task: dict[str, list[ExportedEpisode]] = {}
    for episode in episodes:
        by_task.setdefault(episode.task, []).append(episode)
    for task, group in by_task.items():
        for better in group:
            for worse in group:
                if better.reward <= worse.reward or better.reward < min_reward:
                    continue
                parting = _parting(better, worse)
                if parting is not None:
                    yield {
                        "prompt": _uniform(better.messages[:parting]),
                        "chosen": _uniform(better.messages[parting:]),
                        "rejected": _uniform(worse.messages[parting:]),
                        "tools": json.dumps(better.tools),
                        "task": task,
                        "chosen_reward": better.reward,
                        "rejected_reward": worse.reward,
                    }


def _parting(one: ExportedEpisode, other: ExportedEpisode) -> int | None:
    """Return the index of the first agent message that differs, or None if the prompts differ before it.

    Ids of calls are ignored, because they are new in every episode.
    """
    pairs = zip(map(_said, one.messages), map(_said, other.messages), strict=False)
    differs = next((place for place, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
    if differs is None or differs < max(one.first, other.first):
        return None
    while one.messages[differs]["role"] != "assistant" or other.messages[differs]["role"] != "assistant":
        differs -= 1
    return differs


def _said(message: Mapping[str, Any]) -> tuple[Any, ...]:
    calls = tuple(str(call.get("function")) for call in message.get("tool_calls") or ())
    return message["role"], message.get("content") or "", calls


def _about(episode: ExportedEpisode) -> dict[str, Any]:
    return {"task": episode.task, "repeat": episode.repeat, "reward": episode.reward}


def _uniform(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with the same keys everywhere, as Arrow tables need them."""
    return [
        {
            "role": message["role"],
            "content": message.get("content") or "",
            "tool_calls": message.get("tool_calls") or [],
            "tool_call_id": message.get("tool_call_id") or "",
        }
        for message in messages
    ]


@dataclass(frozen=True, slots=True)
class ExportedEpisode:
    """An episode from the perspective of the evaluated seat.

    Attributes:
        task: the task's id.
        repeat: the zero-based index of the repeat.
        messages: the chat messages, from the instruction to the agent's last message.
        tools: the schemas of the tools that the agent could call.
        turn_rewards: the reward for each message of the agent, in order.
        reward: the total reward.
        status: the status with which the episode ended, such as `completed`.
        usage: the tokens and the cost of the agent's model, as far as they are known.
    """

    task: str
    repeat: int
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    turn_rewards: list[float]
    reward: float
    status: str = "completed"
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The index of the agent's first message."""
        return next(n for n, message in enumerate(self.messages) if message["role"] == "assistant")


def exported_episodes(folder: Path) -> Iterator[ExportedEpisode]:
    """Yield the rated episodes of a run.

    If the agent is a language model with tools, the messages are exactly as the model received and wrote
    them. For other agents, they are derived from the transcript.

    Raises:
        InputError: the run or its data cannot be read.
    """
    run = read_run(folder)
    calls = recorded_dialogues(run.path / "private_calls.jsonl")
    with arena_of(run.config) as arena:
        seat = arena.game.seats[arena.game.evaluated].name
        for record in run.records:
            if "example" not in record or record["status"] in UNRATED:
                continue
            task, repeat = record["instance_id"], record.get("repeat", 0)
            found = calls.get(f"{task}/{repeat}/{seat}")
            if found is None or not found.tools:
                found = _of_transcript(arena, task, record)
            if found is None:
                continue
            rewards = _turn_rewards(found.messages, record)
            status, usage = str(record["status"]), record.get("usage") or {}
            yield ExportedEpisode(
                task, repeat, found.messages, found.tools, rewards, record["reward"], status, usage
            )


def arena_of(config: Mapping[str, Any]) -> Arena:
    """Rebuild the arena of a run from the content of `config.json`.

    Raises:
        InputError: the run's data no longer exist.
    """
    return make_game(str(config.get("game")), **played_settings(config))


def played_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a run's `config.json` that affect what the seats saw.

    Raises:
        InputError: the run's data no longer exist.
    """
    fields = find_game(str(config.get("game"))).settings.model_fields
    if "db_dir" not in fields and "data_dir" not in fields:
        stored = {name: config[name] for name in fields if config.get(name) is not None}
        return stored | ({"scenarios": config.get("data_file")} if "scenarios" in fields else {})
    data = str(place_of(config, "data_file", None, None))
    databases = str(place_of(config, "db_dir", None, None))
    places = {"data": data, "data_dir": databases, "data_file": data, "db_dir": databases}
    told = ("profile", "patience", "execute_sql", "evidence", "max_turns", "dialect", "today")
    settings = {name: config[name] for name in told if name in fields and config.get(name) is not None}
    return settings | {name: path for name, path in places.items() if name in fields}


def _of_transcript(arena: Arena, task: str, record: Mapping[str, Any]) -> RecordedDialogue | None:
    index = arena.game.evaluated
    rules = arena.start(task).rules
    events = [event for _, event in seen_by(rules, index, map(Event.from_json, record["example"]["events"]))]
    rules.close()
    seat = arena.game.seats[index]
    messages = chat_messages(arena.instruction(task), events, seat, index)
    while messages and messages[-1]["role"] != "assistant":
        messages.pop()
    used = {event.action for event in events if event.agent == index} | {"clarify", "submit_sql"}
    names = [name for name in seat.kinds if name in used]
    return RecordedDialogue(messages, tool_schemas(seat, names)) if messages else None


def _turn_rewards(messages: list[dict[str, Any]], record: Mapping[str, Any]) -> list[float]:
    """Return the reward for each message. Rewards that no attempt earned go to the last message."""
    rewards = [0.0] * len(messages)
    earned = [attempt["reward"] for attempt in record.get("attempts", ()) if attempt["status"] != "malformed"]
    submitted = [n for n, message in enumerate(messages) if _submits(message)]
    for place, reward in zip(submitted, earned, strict=False):
        rewards[place] = reward
    rewards[-1] = round(rewards[-1] + record["reward"] - sum(rewards), 10)
    return rewards


def _submits(message: Mapping[str, Any]) -> bool:
    calls = message.get("tool_calls") or []
    return len(calls) == 1 and calls[0]["function"]["name"] == "submit_sql"
