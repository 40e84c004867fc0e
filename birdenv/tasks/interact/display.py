"""The parts of a report page that show a c-Interact or a-Interact episode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from birdenv.dialogue import Event
from birdenv.dialogue.measures import GameDisplay, JudgedSubmission, Phase, Record, Section

_SUBJECT: Final = re.compile(r"By '([^']{1,200})' I mean\b")
_USER: Final = 1
_NEVER_SUBMITTED: Final = "malformed"


def _phases(record: Record) -> Sequence[Phase]:
    return [
        Phase(f"Phase {each['phase']}, {each['attempt']} attempt", str(each["status"]), each["reward"])
        for each in record.get("attempts", ())
    ]


def _subject(event: Event) -> str:
    """Return the words of the request that the rule-based user quotes in an answer."""
    if event.agent != _USER or not isinstance(event.data, str):
        return ""
    return "; ".join(_SUBJECT.findall(event.data))


def _attempts(record: Record) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Yield the index of the event, the SQL and the attempt of each submission."""
    attempts = (each for each in record.get("attempts", ()) if each["status"] != _NEVER_SUBMITTED)
    texts = (
        (place, event["data"])
        for place, event in enumerate(record["example"]["events"])
        if event["action"] == "submit_sql" and isinstance(event["data"], str)
    )
    for (place, sql), attempt in zip(texts, attempts, strict=False):
        yield place, sql, attempt


def _submissions(record: Record, private: Record) -> Sequence[JudgedSubmission]:
    made = []
    for place, sql, attempt in _attempts(record):
        golds = private.get("gold_sql" if attempt["phase"] == 1 else "follow_up_gold_sql", ())
        is_query = record.get("category") == "Query" and len(golds) == 1
        compared = (str(golds[0]),) if is_query else ()
        made.append(
            JudgedSubmission(place, sql, str(record.get("database", "")), compared, str(attempt["status"]))
        )
    return made


def _notes(record: Record, private: Record) -> Mapping[int, str]:
    """Return notes on how the user understood each question, and why each submission got its verdict."""
    log = private.get("log", ())
    answers = (entry for entry in log if entry["kind"] == "answer")
    events = enumerate(record["example"]["events"])
    notes = {
        place: _answer_note(entry)
        for (place, _), entry in zip(
            ((place, event) for place, event in events if event["agent"] == _USER), answers, strict=False
        )
    }
    judged = (entry for entry in log if entry["kind"] == "submission" and entry["status"] != _NEVER_SUBMITTED)
    for (place, _, _), entry in zip(_attempts(record), judged, strict=False):
        if entry.get("reason"):
            notes[place] = str(entry["reason"])
    return notes


def _answer_note(entry: Mapping[str, Any]) -> str:
    about = f"taken to be about {entry['target']!r}" if entry.get("target") else "taken to be about nothing"
    granted = "; ".join(map(str, entry.get("granted", ())))
    parts = [f"{entry['call']}, {about}", f"told: {granted}" if granted else ""]
    parts.append(f"stopped by the leak guard: {entry['guard']}" if entry.get("guard") else "")
    return ". ".join(filter(None, parts))


def _secrets(record: Record, private: Record) -> Sequence[Section]:
    made = []
    if private.get("clear_query"):
        made.append(Section("The request as it was meant", text=str(private["clear_query"])))
    for title, name in (("Gold SQL", "gold_sql"), ("Gold SQL of the follow-up", "follow_up_gold_sql")):
        if private.get(name):
            made.append(Section(title, "sql", ";\n\n".join(map(str, private[name]))))
    return made


DISPLAY: Final = GameDisplay(
    phases=_phases, subject=_subject, submissions=_submissions, notes=_notes, secrets=_secrets
)
