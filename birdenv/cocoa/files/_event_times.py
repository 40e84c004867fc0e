"""Times of events as CoCoA's reader needs them: each has its own, and judgements that of their message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nextafter
from typing import Any, Final

JUDGED: Final = "eval"
"""The action of a judgement: its time is that of the message that is judged."""

_TICK: Final = 0.001  # seconds between events that a file gives the same time


def with_own_times(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return events with times of their own, in their order; a judgement has the time of what it judges.

    A judgement of nothing in the file is left out: CoCoA's reader breaks on it.
    """
    times: dict[int, int | float] = {}
    last: int | float = -inf
    for place, event in enumerate(events):
        if event["action"] != JUDGED:
            time = event["time"]
            last = time if time > last else max(round(last + _TICK, 3), nextafter(last, inf))
            times[place] = last
    judged: set[tuple[int, int]] = set()
    made = []
    for place, event in enumerate(events):
        if event["action"] != JUDGED:
            made.append({"start_time": None, "metadata": None, "data": None, **event, "time": times[place]})
            continue
        about = _judged(event, events, times, judged)
        if about is not None:
            judged.add((about, event["agent"]))
            made.append({**event, "time": times[about]})
    return made


def _judged(
    judgement: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    places: Mapping[int, Any],
    judged: set[tuple[int, int]],
) -> int | None:
    """The place of what a judgement is about; None if there is no such event.

    Of several events of its time it is the one with its words (`utterance`), then the partner's, then the
    first that this seat has not judged yet. Where no event has its time, the words alone tell, if they stand
    there once.
    """
    words = _words(judgement["data"].get("utterance")) if isinstance(judgement.get("data"), Mapping) else None
    at = [place for place in places if events[place]["time"] == judgement["time"]]
    if not at:
        said = [place for place in places if words and _words(events[place].get("data")) == words]
        return said[0] if len(said) == 1 else None

    def distance(place: int) -> tuple[bool, bool, bool]:
        is_own = events[place]["agent"] == judgement["agent"]
        is_judged = (place, judgement["agent"]) in judged
        return _words(events[place].get("data")) != words, is_own, is_judged

    return min(at, key=distance)


def _words(data: Any) -> str | None:
    """A text as people read it: spaces and case do not count; None where there are no words."""
    return " ".join(data.split()).casefold() if isinstance(data, str) else None
