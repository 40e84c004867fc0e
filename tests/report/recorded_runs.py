"""Runs for tests of pages, and what agents may write to break them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOSTILE = {
    "script": "</script><script>document.title = 'owned'</script><img src=x onerror=document.title='owned'>",
    "comment": "<!--<script>",
    "commands": "\x00\x1b[2J\x07\u2028\u2029",
    "right to left": "\u202eevil\u202c שלום عالم",
    "long": "y" * 65_536,
    "no text": "\ud800 lone",
}


def played(birdenv: Callable[..., Any], folder: Path, *arguments: str) -> Path:
    """Play a run with the command line; return its folder."""
    assert birdenv(*arguments, "-o", folder).code == 0
    return (folder / "latest").resolve()


def records(run: Path, stream: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / f"{stream}.jsonl").read_text().splitlines()]


def write(run: Path, stream: str, lines: list[dict[str, Any]]) -> None:
    (run / f"{stream}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def say_everywhere(run: Path, text: str) -> None:
    """Make the agent of every episode say this, and nothing else."""
    lines = records(run, "runs")
    for line in lines:
        for event in line["example"]["events"]:
            if event["agent"] == 0:
                event["data"] = text
        line["example"]["agents"]["0"] = text[:50]
    write(run, "runs", lines)


def secrets_of(run: Path) -> set[str]:
    """All private texts of a run that are not public, too."""
    public = {record["instance_id"]: json.dumps(record) for record in records(run, "runs")}
    found: set[str] = set()
    for record in records(run, "private"):
        own = {*record["gold_sql"], *record.get("follow_up_gold_sql", ()), record.get("clear_query", "")}
        own |= {str(entry["reason"]) for entry in record.get("log", ()) if entry.get("reason")}
        own |= {sql for entry in record.get("log", ()) for sql in entry.get("granted", ())}
        found |= {
            text for text in own if text and json.dumps(text)[1:-1] not in public[record["instance_id"]]
        }
    return found
