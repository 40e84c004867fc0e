"""Render the pages that a study shows to its participants."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Final

from birdenv.dialogue import seen_by
from birdenv.errors import BirdenvError
from birdenv.report.access import Doors
from birdenv.report.page_templates import page_templates
from birdenv.studies._platform import is_preview, way_back
from birdenv.studies.study._records import Person
from birdenv.studies.study._shown import ended, line
from birdenv.studies.study._study import BROKEN, TRIES, Study
from birdenv.studies.study._study_game import seats_of_people

_TEMPLATES: Final = page_templates("birdenv.studies")

_STEPS: Final = {
    "consent": "Agreement",
    "instructions": "Instructions",
    "waiting": "Waiting",
    "chat": "Conversation",
    "survey": "Questions",
    "finished": "End",
}
"""The steps of a study with their names on pages."""


def render(name: str, **facts: Any) -> str:
    """Render an HTML template with values, which are escaped."""
    return _TEMPLATES.get_template(f"{name}.html").render(status=name, **facts)


def clock_time(seconds: float) -> str:
    """Format a time in seconds since 1970 as a UTC date and time, for the administrator's page."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def in_minutes(seconds: float) -> str:
    """Format a duration in seconds as minutes, for the administrator's page."""
    return f"{max(seconds, 0) / 60:.1f}"


class Pages:
    """Renders the page for each stage of a study."""

    def __init__(self, study: Study, doors: Doors) -> None:
        self._study = study
        self._doors = doors

    def consent(self, visitor: str, platform: Mapping[str, str]) -> str:
        """Return the consent page. In a recruiting platform's preview, the page has no form.

        Args:
            visitor: the id of the visitor for whom the form is valid.
            platform: the parameters that the platform sent.
        """
        return self._render(
            "consent",
            visitor,
            text=self._study.config.consent,
            platform=platform,
            preview=is_preview(platform),
        )

    def of(self, person: Person, problem: str = "", told: str = "") -> str:
        """Return the page for a person's current stage.

        Args:
            person: the person.
            problem: an error message about the form that the person sent; empty if there is none.
            told: a confirmation that the form was received; empty if there is none.
        """
        own = {"problem": problem, "told": told, "link": self._doors.link(person.id)}
        return self._render(person.status, person.id, **own, **self._facts(person))

    def _facts(self, person: Person) -> dict[str, Any]:
        study = self._study
        if person.status == "instructions":
            guides = self._guides()
            return {
                "text": study.config.instructions,
                "guides": guides,
                "check": study.config.check,
                "tries": person.tries,
                "tries_left": TRIES - person.tries,
            }
        if person.status == "survey":
            return {"questions": study.questions, "end": self._end(person) | self._verdict(person)}
        if person.status == "alone":
            return {"end": self._end(person)}
        if person.status == "finished":
            return {"ending": person.ending, "code": person.code, **way_back(person.platform, person.code)}
        return {}

    def _guides(self) -> dict[str, str]:
        """Return the word that partners use for each seat that people may have, by the seat's guide."""
        game = self._study.arena.game
        names = seats_of_people(game, self._study.config)
        seats = {name: game.seats[game.seat_index(name)] for name in names}
        called = {voice: name for seat in game.seats for voice, name in seat.words.voices.items()}
        return {seat.guide: called.get(name, name) for name, seat in seats.items() if seat.guide}

    def _end(self, person: Person) -> dict[str, Any]:
        if person.dialogue is None or person.seat is None:
            return {}
        stored = self._study.store.dialogue(person.dialogue)
        seat = self._study.arena.game.seats[person.seat]
        made: dict[str, Any] = {"is_broken": stored.status in (*BROKEN, None)}  # None: it is about to end
        made["words"] = ended(stored.status or "", seat)
        if stored.rewards is not None and seat.words.points:
            made["points"] = seat.words.points.format(points=f"{round(stored.rewards[person.seat], 2):g}")
        return made

    def _verdict(self, person: Person) -> dict[str, Any]:
        """Return the reply to a person's last move if this move ended the conversation.

        The page of the conversation closes at once, so the person cannot read the reply there.
        """
        store, arena = self._study.store, self._study.arena
        if person.dialogue is None or person.seat is None:
            return {}
        events = [move.event for move in store.moves(person.dialogue)]
        if not events or events[-1].agent != person.seat:
            return {}
        try:
            rules = arena.start(store.dialogue(person.dialogue).task).rules
        except BirdenvError:  # without its database, the survey can still be answered
            return {}
        with closing(rules):
            seen = [event for _, event in seen_by(rules, person.seat, events)]
        if not seen or seen[-1].agent != person.seat:
            return {}
        shown = line(seen[-1], person.seat, arena.game.seats)
        code = shown["data"] if shown.get("is_code") else ""
        return {"verdict": shown["reply"], "voice": shown["voice"], "sql": code}

    def _render(self, name: str, visitor: str, **facts: Any) -> str:
        study = self._study
        steps = [step for status, step in _STEPS.items() if status != "survey" or study.questions]
        common = {
            "title": study.title,
            "form": self._doors.form(visitor) if visitor else "",
            "steps": steps if visitor else (),
            "step": _STEPS.get(name, _STEPS["chat"]),
            "contact": study.config.contact,
            "leave_code": "left" in study.config.codes,
            "can_tell": True,
            "waits_for_person": len(study.arena.game.seats) > 1
            and any(partner.player is None for partner in study.config.partners.values()),
        }
        return render(name, **common, **facts)
