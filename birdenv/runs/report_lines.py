"""Lines that several reports have."""

from __future__ import annotations

from collections.abc import Mapping

_WIDTH = 55


def rule(character: str) -> str:
    return character * _WIDTH


def engine_line(engine: str) -> str:
    """Return `Engine                  SQLite 3.40.1`: what ran the SQL, as `config.json` has it."""
    return f"{'Engine':<24}{engine:>13}"


def status_notes(status: Mapping[str, int]) -> list[str]:
    """Return what the rates leave out, and why; `status` counts episodes."""
    notes = {
        "ungraded": "task(s) without gold were played, not graded or counted.",
        "skipped": "task(s) without gold were skipped.",
        "infra_error": "episode(s) could not be played or graded (task, database, endpoint); not counted.",
        "partner error": "episode(s) broke off with an error of another seat's player; not counted.",
        "test_error": "task(s) have test cases that do not run, or none; not counted.",
        "agent context limit": "episode(s) ended because the model's context was full; counted as failed.",
        "task_error": "episode(s) broke off with an error of the agent; counted as failed.",
        "task error": "episode(s) broke off with an error of the agent; counted as failed.",
    }
    return [f"{status[name]} {note}" for name, note in notes.items() if status.get(name)]
