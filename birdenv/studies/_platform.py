"""Read the parameters that Prolific and Mechanical Turk send, and return people to these platforms."""

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
"""The message for a person who uses somebody else's id or a second browser."""

MTURK_HOSTS: Final = ("https://www.mturk.com", "https://workersandbox.mturk.com")
_VISITS: Final = ("SESSION_ID", "assignmentId")
_PREVIEW: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"
_PROLIFIC: Final = "https://app.prolific.com/submissions/complete?cc="
_MOST_FIELD: Final = 200


def platform_of(given: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that a recruiting platform sent, each truncated to 200 characters."""
    return {name: given[name][:_MOST_FIELD] for name in PLATFORM_FIELDS if given.get(name)}


def external_of(platform: Mapping[str, str]) -> str | None:
    """Return a person's id on a recruiting platform, such as `prolific:ID`, or None without a platform."""
    if "PROLIFIC_PID" in platform:
        return f"prolific:{platform['PROLIFIC_PID']}"
    return f"mturk:{platform['workerId']}" if "workerId" in platform else None


def is_preview(platform: Mapping[str, str]) -> bool:
    """Return True if a platform shows the page as a preview, in which no data may be collected."""
    return platform.get("assignmentId") == _PREVIEW


def is_same_visit(began: Mapping[str, str], comes: Mapping[str, str]) -> bool:
    """Return True if a request has the stored visit id, that is, the platform's session or assignment id.

    Other people may know a person's id on the platform, but only the person knows the visit id.

    Args:
        began: the platform parameters that are stored for the person.
        comes: the platform parameters in the current request.
    """
    return any(comes.get(name) and comes[name] == began.get(name) for name in _VISITS)


def is_other_visit(began: Mapping[str, str], comes: Mapping[str, str]) -> bool:
    """Return True if a request has a new visit id, because the person has accepted the task again.

    Args:
        began: the platform parameters that are stored for the person.
        comes: the platform parameters in the current request.
    """
    return any(comes.get(name) and comes[name] != began.get(name) for name in _VISITS)


def way_back(platform: Mapping[str, str], code: str | None) -> dict[str, Any]:
    """Return the values that the page `finished` needs to send a completion code to the platform.

    For Prolific, the result contains a link. For Mechanical Turk, it contains the assignment id, and the URL
    to which the page posts a form. If there is no platform or no code, the result is empty.
    """
    if code and "PROLIFIC_PID" in platform:
        return {"platform_link": _PROLIFIC + quote(code, safe="")}
    if code and platform.get("turkSubmitTo") in MTURK_HOSTS:
        return {
            "submit_to": f"{platform['turkSubmitTo']}/mturk/externalSubmit",
            "assignment": platform.get("assignmentId", ""),
        }
    return {}
