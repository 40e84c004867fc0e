"""Recruiting platforms (Prolific, Mechanical Turk): their parameters, and the links back to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

PLATFORM_FIELDS: Final = (
    "PROLIFIC_PID",
    "STUDY_ID",
    "SESSION_ID",
    "workerId",
    "assignmentId",
    "hitId",
    "turkSubmitTo",
)
"""The query parameters with which Prolific and Mechanical Turk send people."""

TAKEN: Final = (
    "Somebody is already taking part with your platform id. If it is you, close the page in your other "
    "browser and try again, or open the link that it shows for continuing in another browser. The study team "
    "can send you this link, too."
)
"""The message for a person who comes with somebody else's id, or from a second browser."""

MTURK_HOSTS: Final = ("https://www.mturk.com", "https://workersandbox.mturk.com")
_VISITS: Final = ("SESSION_ID", "assignmentId")
_PREVIEW: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"
_PROLIFIC: Final = "https://app.prolific.com/submissions/complete?cc="
_MOST_FIELD: Final = 200


def platform_of(given: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that a platform sent, each cut to a reasonable length."""
    return {name: given[name][:_MOST_FIELD] for name in PLATFORM_FIELDS if given.get(name)}


def external_of(platform: Mapping[str, str]) -> str | None:
    """Return a person's id on their platform, or None if no platform sent them."""
    if "PROLIFIC_PID" in platform:
        return f"prolific:{platform['PROLIFIC_PID']}"
    return f"mturk:{platform['workerId']}" if "workerId" in platform else None


def is_preview(platform: Mapping[str, str]) -> bool:
    """Return True if the page is shown as a platform's preview, in which no data may be collected."""
    return platform.get("assignmentId") == _PREVIEW


def is_same_visit(began: Mapping[str, str], comes: Mapping[str, str]) -> bool:
    """Return True if two sets of parameters contain the same id of a visit (a submission or an assignment).

    Other people may know a person's id on the platform, but only the person knows the id of the visit.
    """
    return any(comes.get(name) and comes[name] == began.get(name) for name in _VISITS)


def is_other_visit(began: Mapping[str, str], comes: Mapping[str, str]) -> bool:
    """Return True if the ids of the visits differ: the person has accepted the task again."""
    return any(comes.get(name) and comes[name] != began.get(name) for name in _VISITS)


def way_back(platform: Mapping[str, str], code: str | None) -> dict[str, Any]:
    """Return what the page `finished` needs so that a person can take their code back to the platform."""
    if code and "PROLIFIC_PID" in platform:
        return {"platform_link": _PROLIFIC + quote(code, safe="")}
    if code and platform.get("turkSubmitTo") in MTURK_HOSTS:
        return {
            "submit_to": f"{platform['turkSubmitTo']}/mturk/externalSubmit",
            "assignment": platform.get("assignmentId", ""),
        }
    return {}
