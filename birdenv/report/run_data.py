"""Prepare the JSON data for pages about a run: the overview, and the details of each episode."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any, Final

from birdenv.runs import RunDirectory
from birdenv.runs.episodes import RunEpisodes
from birdenv.runs.summaries import Estimate, Outcome, RunReport, recorded_run, report

LONGEST_TEXT: Final = 10_000
"""The maximum length of a string on a page, in characters; the run's files have the complete string."""

_CULPRITS: Final = ("agent", "user", "benchmark")
_UNSAFE: Final = re.compile("[<\u2028\u2029\ud800-\udfff]")


def run_data(episodes: RunEpisodes) -> dict[str, Any]:
    """Return the overview of a run as JSON data, with a row for each episode (`rows`)."""
    run = episodes.run
    made = report(run)
    counts = Counter(outcome.status for outcome in run.outcomes)
    culprits = Counter(str(record["culprit"]) for record in run.records if "culprit" in record)
    return {
        "game": run.game,
        "agent": run.agent,
        "folder": run.path.name,
        "seed": run.config.get("seed"),
        "settings": {
            name: run.config[name]
            for name in ("user", "engine", "grader", *run.measured.settings)
            if run.config.get(name) is not None
        },
        "done": len(run.outcomes),
        "expected": run.expected,
        "private": episodes.private,
        "figures": [_figure(of) for of in made.figures],
        "groups": _groups(made),
        "facts": _facts(made),
        "statuses": dict(sorted(counts.items())),
        "blame": {name: culprits[name] for name in _CULPRITS} if culprits else None,
        "notes": episodes.notes,
        "rows": [
            _row(episodes, name, outcome, record)
            for name, outcome, record in zip(episodes.names, run.outcomes, run.records, strict=True)
        ],
    }


def run_line(path: Path) -> dict[str, Any]:
    """Return a run's entry in a list of runs: the game, agent, progress, first metric and cost so far.

    Raises:
        InputError: the folder is not a run, or a file is damaged.
    """
    run = recorded_run(RunDirectory(path))
    cost = sum(_used(record, "cost_usd") or 0.0 for record in run.records)
    return {
        "game": run.game,
        "agent": run.agent,
        "done": len(run.outcomes),
        "expected": run.expected,
        "figure": _figure(report(run).figures[0]) if run.outcomes else None,
        "cost": cost or None,
    }


def _figure(of: Estimate) -> dict[str, Any]:
    return {
        "title": of.measure.title,
        "rate": of.measure.is_rate,
        "value": of.value,
        "passed": of.passed if of.measure.is_rate else None,
        "count": of.count,
        "tasks": of.over_tasks,
        "databases": of.over_databases,
        "most": of.measure.most if isfinite(of.measure.most) else None,
        "least": of.measure.least if isfinite(of.measure.least) else None,
    }


def _groups(made: RunReport) -> list[dict[str, Any]]:
    return [
        {"title": title, "rows": [{"name": name, **_figure(of)} for name, of in column.items()]}
        for title, column in made.drawn_groups(made.groups)
    ]


def _facts(made: RunReport) -> list[tuple[str, str]]:
    """Return additional facts as (title, text) pairs: questions, events, and the cost per solved task."""
    played = [record for record in made.run.records if "example" in record]
    facts = []
    if played and all("max_questions" in record for record in played):
        asked, allowed = (_mean(played, name) for name in ("questions", "max_questions"))
        free = _mean(played, "free_questions")
        facts.append(("Questions charged, of those allowed", f"{asked:.2f} of {allowed:.2f}"))
        if free:
            facts.append(("Free questions (the user asked back)", f"{free:.2f}"))
    if played:
        turns = sum(len(record["example"]["events"]) for record in played) / len(played)
        facts.append(("Events in a dialogue", f"{turns:.1f}"))
    cost = sum(_used(record, "cost_usd") or 0.0 for record in made.run.records)
    solved = sum(_is_solved(outcome) for outcome in made.run.outcomes)
    if cost and solved:
        facts.append(("Cost of a solved task", f"${cost / solved:.4f}"))
    return facts


def _mean(records: Sequence[Mapping[str, Any]], name: str) -> float:
    return sum(float(record.get(name) or 0) for record in records) / len(records)


def _used(record: Mapping[str, Any], name: str) -> float | None:
    used = record.get("usage")
    value = used.get(name) if isinstance(used, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def _is_solved(outcome: Outcome) -> bool:
    """Return True if an episode succeeded by its strictest measure: `solved`, or `ex` if that is missing."""
    for name in ("solved", "ex"):
        if outcome.values.get(name) is not None:
            return outcome.values[name] == 1
    return False


def _row(episodes: RunEpisodes, name: str, outcome: Outcome, record: Mapping[str, Any]) -> dict[str, Any]:
    verdict, reward = episodes.outcome(name)
    prompt, completion = _used(record, "prompt_tokens"), _used(record, "completion_tokens")
    tokens = None if prompt is None and completion is None else (prompt or 0) + (completion or 0)
    row = {
        "name": name,
        "status": outcome.status,
        "verdict": verdict,
        "reward": reward,
        "database": outcome.database,
        "difficulty": next(iter(outcome.groups.get("difficulty", ())), None),
        "phases": [phase.verdict == "passed" for phase in episodes.phases(name)],
        "questions": record.get("questions"),
        "allowed": record.get("max_questions"),
        "turns": len(record["example"]["events"]) if "example" in record else 0,
        "tokens": tokens,
        "cost": _used(record, "cost_usd"),
        "fault": record.get("culprit"),
        "request": episodes.request(name)[:160],
    }
    return {key: value for key, value in row.items() if value is not None}


def episode_data(episodes: RunEpisodes, name: str) -> dict[str, Any]:
    """Return the data for an episode page. Empty fields are omitted, and long strings are truncated."""
    shown: dict[str, Any] = _compact(asdict(episodes.shown(name)))
    return shown


def _compact(value: Any) -> Any:
    if isinstance(value, str):
        left = len(value) - LONGEST_TEXT
        return value if left <= 0 else f"{value[:LONGEST_TEXT]}… ({left} more characters)"
    if isinstance(value, Mapping):
        return {name: _compact(each) for name, each in value.items() if each not in ("", None, (), [], {})}
    if isinstance(value, list | tuple):
        return [_compact(each) for each in value]
    return value


def script_json(value: Any) -> str:
    """Serialise a value as JSON that is safe inside an HTML script element.

    `<`, line separators and lone surrogates are escaped.

    >>> script_json("</script>")
    '"\\\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
