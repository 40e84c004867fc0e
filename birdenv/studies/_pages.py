"""The pages of a person, by what they are at: what each shows, and where forms may lead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.report.access import Doors
from birdenv.report.page_templates import page_templates
from birdenv.studies._platform import is_preview, way_back
from birdenv.studies.study._records import Person
from birdenv.studies.study._study import BROKEN, TRIES, Study
from birdenv.studies.study._study_game import seats_of_people

_TEMPLATES: Final = page_templates("birdenv.studies")


def render(name: str, **facts: Any) -> str:
    """Return the page of a template. Everything that is shown is escaped."""
    return _TEMPLATES.get_template(f"{name}.html").render(status=name, **facts)


class Pages:
    """The pages of a study."""

    def __init__(self, study: Study, doors: Doors) -> None:
        self._study = study
        self._doors = doors

    def consent(self, visitor: str, platform: Mapping[str, str]) -> str:
        """Return the first page; on the preview of a platform nothing can be sent."""
        return self._render(
            "consent",
            visitor,
            text=self._study.config.consent,
            platform=platform,
            preview=is_preview(platform),
        )

    def of(self, person: Person, problem: str = "") -> str:
        """Return the page of a person."""
        link = self._doors.link(person.id)
        return self._render(person.status, person.id, problem=problem, link=link, **self._facts(person))

    def admin(self, signed_in: bool, told: str = "") -> str:
        """Return the admin page, or its sign-in; `told` answers the question for a person's link."""
        store = self._study.store
        facts: dict[str, Any] = {"signed_in": signed_in, "told": told}
        if signed_in:
            now = self._study.clock()
            facts |= {
                "counts": store.counts(),
                "running": [
                    {
                        "id": each.id,
                        "task": each.task,
                        "partner": each.partner,
                        "minutes": round((now - each.started) / 60, 1),
                        "moves": len(store.moves(each.id)),
                    }
                    for each in store.running()
                ],
                "quotas": self._quotas(),
                "reports": store.reports(),
            }
        return self._render("admin", "", **facts)

    def _quotas(self) -> list[tuple[str, int, int | None]]:
        """Dialogues held with each kind of partner, and how many there may be."""
        study = self._study
        held: dict[str, int] = {}
        for (_, partner), count in study.used().items():
            held[partner] = held.get(partner, 0) + count
        tasks = len(study.arena.ids)
        return [
            (name, held.get(name, 0), None if each.chats is None else each.chats * tasks)
            for name, each in study.config.partners.items()
        ]

    def _facts(self, person: Person) -> dict[str, Any]:
        study = self._study
        if person.status == "instructions":
            return {
                "text": study.config.instructions,
                "guides": self._guides(),
                "check": study.config.check,
                "tries": person.tries,
                "tries_left": TRIES - person.tries,
            }
        if person.status == "survey":
            return {"questions": study.questions, "end": self._end(person)}
        if person.status == "alone":
            return {"end": self._end(person)}
        if person.status == "finished":
            return {"ending": person.ending, "code": person.code, **way_back(person.platform, person.code)}
        return {}

    def _guides(self) -> list[str]:
        """What people are told before they know their seat: the guide of the only seat they may have."""
        game = self._study.arena.game
        seats = [game.seats[game.seat_index(name)] for name in seats_of_people(game, self._study.config)]
        guides = {seat.guide for seat in seats}
        return sorted(guides) if len(guides) == 1 else []

    def _end(self, person: Person) -> dict[str, Any]:
        if person.dialogue is None or person.seat is None:
            return {}
        stored = self._study.store.dialogue(person.dialogue)
        reward = None if stored.rewards is None else stored.rewards[person.seat]
        broken = stored.status in (*BROKEN, None)  # None: it is about to end
        return {"status": stored.status, "reward": reward, "is_broken": broken}

    def _render(self, name: str, visitor: str, **facts: Any) -> str:
        form = self._doors.form(visitor) if visitor else ""
        return render(name, title=self._study.title, form=form, **facts)
