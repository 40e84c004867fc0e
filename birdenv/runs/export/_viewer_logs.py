"""Export episodes as Inspect logs or ATIF trajectories, which third-party viewers can open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import is_directory, write_text
from birdenv.runs._run_folder import RunDirectory, run_folder
from birdenv.runs.export._episodes import ExportedEpisode, exported_episodes
from birdenv.runs.summaries._run_report import report
from birdenv.runs.summaries.recorded_run import RecordedRun, read_run
from birdenv.version import __version__

VIEWER_FORMATS: Final = ("inspect", "atif")
"""The formats for viewers, which are not JSONL files."""

ATIF_VERSION: Final = "ATIF-v1.7"
_INSPECT_VERSION: Final = 2
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def write_viewer_log(form: str, run: Path, output: Path, min_reward: float | None = None) -> str:
    """Write the episodes of a run in a viewer's format. Return a line that says what was written.

    Args:
        form: `inspect` writes one JSON file; `atif` writes a folder with a JSON file for each episode.
        run: the run's folder.
        output: the file or the folder to write.
        min_reward: the minimum reward; episodes with a lower reward are left out. None to keep all episodes.

    Raises:
        InputError: the run or its data cannot be read, or the output cannot be written.
    """
    recorded = read_run(run_folder(run))
    kept = [
        episode
        for episode in exported_episodes(recorded.path)
        if min_reward is None or episode.reward >= min_reward
    ]
    if form == "inspect":
        write_text(output, json.dumps(inspect_log(recorded, kept), ensure_ascii=False, indent=1) + "\n")
        return f"{len(kept)} samples: {output} (inspect view start --log-dir {output.absolute().parent})"
    if output.exists() and not is_directory(output):
        raise InputError(f"{output} is a file, but --format atif writes a folder of files")
    for number, trajectory in enumerate(atif_trajectories(recorded, kept)):
        name = _UNSAFE.sub("-", trajectory["trajectory_id"])[-100:]
        text = json.dumps(trajectory, ensure_ascii=False, indent=1) + "\n"
        write_text(output / f"{number:05}-{name}.json", text)
    return f"{len(kept)} trajectories: {output}"


def atif_trajectories(run: RecordedRun, episodes: Iterable[ExportedEpisode]) -> Iterator[dict[str, Any]]:
    """Yield each episode as a trajectory of the evaluated seat.

    The format is the Agent Trajectory Interchange Format (ATIF), v1.7.
    """
    models = run.config.get("models")
    model = models.get("model") if isinstance(models, Mapping) else None
    for episode in episodes:
        steps = list(_steps(episode.messages))
        used = episode.usage
        totals = {
            "total_prompt_tokens": used.get("prompt_tokens"),
            "total_completion_tokens": used.get("completion_tokens"),
            "total_cost_usd": used.get("cost_usd"),
            "total_steps": len(steps),
        }
        name = f"{episode.task}/{episode.repeat}"
        yield {
            "schema_version": ATIF_VERSION,
            "session_id": f"{run.game}/{run.path.name}",
            "trajectory_id": name,
            "agent": {
                "name": run.agent,
                "version": __version__,
                **({"model_name": model} if isinstance(model, str) else {}),
                "tool_definitions": episode.tools,
            },
            "steps": steps,
            "final_metrics": {key: value for key, value in totals.items() if value is not None},
            "extra": {
                "game": run.game,
                "task": episode.task,
                "status": episode.status,
                "reward": episode.reward,
            },
        }


def _steps(messages: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the messages as steps, numbered from 1. Tool results belong to the step that called the tool."""
    made: list[dict[str, Any]] = []
    for message in messages:
        text = message.get("content") or ""
        if message["role"] == "tool":
            result = {"source_call_id": message.get("tool_call_id"), "content": text}
            made[-1].setdefault("observation", {"results": []})["results"].append(result)
            continue
        source = {"assistant": "agent", "system": "system"}.get(message["role"], "user")
        step: dict[str, Any] = {"step_id": len(made) + 1, "source": source, "message": text}
        if message.get("tool_calls"):
            step["tool_calls"] = [
                {
                    "tool_call_id": call["id"],
                    "function_name": call["function"]["name"],
                    "arguments": _arguments(call["function"]["arguments"]),
                }
                for call in message["tool_calls"]
            ]
        made.append(step)
    yield from made


def _arguments(text: Any) -> dict[str, Any]:
    """Return the arguments of a call as an object. Other text is wrapped in an object."""
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"arguments": text}


def inspect_log(run: RecordedRun, episodes: Iterable[ExportedEpisode]) -> dict[str, Any]:
    """Return the episodes as an evaluation log for `inspect view` and `inspect_ai.log.read_eval_log`.

    Each sample has the messages of the evaluated seat. Its scores are the reward and the game's metrics. Its
    target is empty, because the gold SQL is private.
    """
    values = {(each.instance_id, each.repeat): each.values for each in run.outcomes}
    names = [measure.name for measure in run.measures if isfinite(measure.most)]
    samples = []
    for episode in episodes:
        own = values[episode.task, episode.repeat]
        scores = {name: own[name] for name in names if own[name] is not None} | {"reward": episode.reward}
        samples.append(
            {
                "id": episode.task,
                "epoch": episode.repeat + 1,
                "input": [_inspect_message(message) for message in episode.messages[: episode.first]],
                "target": "",
                "messages": [_inspect_message(message) for message in episode.messages],
                "scores": {name: {"value": value} for name, value in scores.items()},
                "metadata": {"status": episode.status, "turn_rewards": episode.turn_rewards},
            }
        )
    ids = list(dict.fromkeys(sample["id"] for sample in samples))
    figures = [of for of in report(run).figures if of.measure.name in names and of.value is not None]
    return {
        "version": _INSPECT_VERSION,
        "status": "success" if run.finished else "cancelled",
        "eval": {
            "created": _created(run.path),
            "task": f"birdenv/{run.game}",
            "dataset": {"name": run.game, "samples": len(ids), "sample_ids": ids},
            "model": f"birdenv/{run.agent}",
            "config": {"epochs": run.repeats},
            "packages": {"birdenv": __version__},
            "metadata": {"run": run.path.name, "seed": run.config.get("seed")},
        },
        "results": {
            "total_samples": run.expected,
            "completed_samples": len(run.outcomes),
            "scores": [
                {
                    "name": of.measure.name,
                    "scorer": of.measure.name,
                    "metrics": {"mean": {"name": "mean", "value": of.value}},
                }
                for of in figures
            ],
        },
        "samples": samples,
    }


def _created(folder: Path) -> str:
    """Return when the first episode began, or the epoch for a run without times."""
    times = [
        record.get("time", {}).get("timestamp", 0) for record in RunDirectory(folder).read("timings").values()
    ]
    return datetime.fromtimestamp(min(times, default=0) / 1000, UTC).isoformat()


def _inspect_message(message: Mapping[str, Any]) -> dict[str, Any]:
    made = {"role": message["role"], "content": message.get("content") or ""}
    if message["role"] == "tool":
        return made | {"tool_call_id": message.get("tool_call_id")}
    if message.get("tool_calls"):
        made["tool_calls"] = [
            {
                "id": call["id"],
                "function": call["function"]["name"],
                "arguments": _arguments(call["function"]["arguments"]),
                "type": "function",
            }
            for call in message["tool_calls"]
        ]
    return made
