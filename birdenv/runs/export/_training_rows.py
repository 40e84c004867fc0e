"""Rows of training data: supervised, preference pairs, and rollouts with rewards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any, Final, Literal, TypeAlias

from birdenv.runs.export._episodes import ExportedEpisode

ExportFormat: TypeAlias = Literal["sft", "preference", "rl"]
EXPORT_FORMATS: Final[tuple[ExportFormat, ...]] = ("sft", "preference", "rl")


def export_rows(
    episodes: Iterable[ExportedEpisode], form: ExportFormat, min_reward: float | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one format, in the order of the tasks.

    Args:
        episodes: of one run or of several.
        form: `sft`: whole dialogues that earned something; `preference`: pairs of episodes of one task, of
            which the first earned more, from where they differ; `rl`: all episodes, with the reward of every
            turn.
        min_reward: leaves out episodes that earned less; of pairs, those whose better one did.
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
    """The place of the first message of the agent that is another one; None if the prompts are no more equal.

    What both share before it says nothing about which is better. Ids of calls are new in every episode.
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
    """The messages with the same keys everywhere, which tables of Arrow need."""
    return [
        {
            "role": message["role"],
            "content": message.get("content") or "",
            "tool_calls": message.get("tool_calls") or [],
            "tool_call_id": message.get("tool_call_id") or "",
        }
        for message in messages
    ]
