"""How an episode of BIRD is shown to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from birdenv.dialogue.display import GameDisplay, JudgedSubmission, Phase, Section
from birdenv.dialogue.measures import Record


def _phases(record: Record) -> Sequence[Phase]:
    result = record.get("result", {})
    return [Phase("Submission", str(result.get("verdict") or record["status"]), record["reward"])]


def _submissions(record: Record, private: Record) -> Sequence[JudgedSubmission]:
    result = record.get("result", {})
    golds = tuple(map(str, private.get("gold_sql", ())))
    return [
        JudgedSubmission(
            place, event["data"], str(result.get("db_id", "")), golds, str(result.get("verdict"))
        )
        for place, event in enumerate(record["example"]["events"])
        if event["action"] == "submit_sql" and event["data"] == result.get("predicted_sql")
    ]


def _secrets(record: Record, private: Record) -> Sequence[Section]:
    golds = [str(sql) for sql in private.get("gold_sql", ())]
    made = [Section("Gold SQL", "sql", ";\n\n".join(golds))] if golds else []
    reason = str(private.get("reason") or private.get("gold_error") or "")
    return [*made, Section("Why it was judged so", text=reason)] if reason else made


DISPLAY: Final = GameDisplay(phases=_phases, submissions=_submissions, secrets=_secrets)
