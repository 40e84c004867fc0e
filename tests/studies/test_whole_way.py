"""Two people go the whole way of a study, from consent to the code, in every game that a study can host.

One has a mouse, a wide screen, and light pages; the other a keyboard alone, a phone, and dark ones. Each page
is looked at on both screens, light and dark.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from people_in_chromium import PHONE, KeyboardPerson, Person
from test_dialogues import golds
from web_browser import served

from birdenv.dialogue.games import find_game, game_names
from birdenv.studies.study._config import StudyConfig
from birdenv.studies.study._study import Study

pytestmark = pytest.mark.slow
CHECK = [{"question": "Who wins?", "options": ["I", "Both of us"], "answer": 1}]


def greet(game: str, one: Person, two: Person) -> None:
    one.say("Hello!")
    two.sees("Hello!")
    two.say("Hello to you!")
    one.sees("Hello to you!")
    two.look(f"{game}-talk")


def friends(study: Study, one: Person, two: Person) -> None:
    greet("friends", one, two)
    rows = "#side input[type=radio]"
    lists = [
        {row.get_attribute("aria-label") for row in each.page.locator(rows).all()} for each in (one, two)
    ]
    (friend,) = lists[0] & lists[1]
    for each in (one, two):
        each.open("Your friends")
        each.pick(each.page.get_by_label(friend, exact=True))
        each.press("Choose this friend")
        if each is one:
            two.sees(f"chose {friend}")
            two.open("Your friends")
            two.look("friends-list")


def bargain(study: Study, one: Person, two: Person) -> None:
    greet("bargain", one, two)
    one.press("Make an offer", "summary")
    one.write(one.page.locator("input[name=price]"), "10")
    one.look("bargain-offer")
    one.press("Make an offer")
    one.look("bargain-asks-once")
    one.press("Yes")
    two.sees("offered 10 dollars")
    two.look("bargain-offered")
    two.press("Accept the offer")
    two.press("Yes")


def divide(study: Study, one: Person, two: Person) -> None:
    greet("deal", one, two)
    counts = study.arena.start(study.arena.ids[0]).rules.kbs[0]
    for person, share in ((one, {item["Name"]: item["Count"] for item in counts}), (two, {})):
        person.press("Say what you take", "summary")
        for thing in ("book", "hat", "ball"):
            person.write(person.page.locator(f"input[name={thing}]"), str(share.get(thing, 0)))
        if person is one:
            one.look("deal-share")
        person.press("Say what you take")
        person.press("Yes")
        if person is one:
            two.sees("chose what to take")
            two.look("deal-said")


def ask_and_submit(study: Study, *people: Person) -> None:
    game = study.arena.game.name
    price = {"a-interact": (" (costs 2)", " (costs 1)", " (costs 3)")}.get(game, ("", "", ""))
    analyst, customer = sorted(people, key=lambda each: each.page.locator("#editor button").count() == 0)
    analyst.say("What do you mean by roomy?")
    customer.sees("What do you mean by roomy?")
    customer.look(f"{game}-customer")
    customer.say("At least 40 seats, please.")
    analyst.sees("At least 40 seats, please.")
    if game == "a-interact":
        analyst.open("Data")
        analyst.press("Read the tables (costs 1)")
        analyst.sees("CREATE TABLE")
        analyst.open("Data")
        analyst.press("Read all knowledge entries (costs 1)")
        analyst.page.wait_for_selector("#events table td >> text=Overdue Days")
        analyst.look("a-interact-read")
    else:
        analyst.open("Tables")
        analyst.write(analyst.page.get_by_label("Search in: Tables"), "seats")
        analyst.look(f"{game}-tables")
    analyst.play_sql("SELECT name, seats FROM branches ORDER BY name LIMIT 2", f"Run{price[1]}")
    analyst.page.wait_for_selector("#events table td >> text=Harbour")
    analyst.open("SQL")
    analyst.look(f"{game}-result")
    right, follow_up = golds(study)
    analyst.play_sql(right, f"Submit{price[2]}")
    analyst.page.wait_for_selector("#standing >> text=second request")
    analyst.look(f"{game}-second")
    analyst.play_sql(follow_up, f"Submit{price[2]}")


def answer_alone(study: Study, *people: Person) -> None:
    for person in people:
        person.play_sql("SELECT 1 AS one", "Run")
        person.page.wait_for_selector("#events table")
        if person is people[0]:
            person.look("bird-result")
        person.play_sql("SELECT 1 AS one", "Submit")


PLAYS: dict[str, Callable[..., None]] = {
    "c-interact": ask_and_submit,
    "a-interact": ask_and_submit,
    "bird": answer_alone,
    "mutual-friends": friends,
    "bargain": bargain,
    "deal-or-no-deal": divide,
}


def test_every_game_is_played() -> None:
    assert set(PLAYS) == {name for name in game_names() if len(find_game(name).seats) <= 2}


@pytest.mark.parametrize("game", PLAYS)
def test_two_people_come_from_consent_to_the_code(chromium: Any, tmp_path: Path, game: str) -> None:
    config = StudyConfig(check=CHECK, contact="study@example.org")
    settings = {"execute_sql": True} if game == "c-interact" else {}
    with served(tmp_path, game, config, rng=Random(3), limit=1, **settings) as (study, port):
        one = Person(chromium, port)
        two = KeyboardPerson(chromium, port, size=PHONE, scheme="dark")
        seats = study.arena.game.seats
        has_partner = len(seats) == 2
        differ = len({seat.kinds for seat in seats}) > 1  # where they do not, one pair of eyes is enough
        for person in (one, two):
            person.press("I agree and take part")
            person.pick(person.page.get_by_label("Both of us"))
            if person is one:
                one.look(f"{game}-instructions")
            person.press("Start")
            if person is one and has_partner:
                one.page.wait_for_selector("#left:not(:empty)")
        for person in (one, two):
            box = "#message textarea:focus" if has_partner else "#editor .cm-content"
            person.page.wait_for_selector(box)  # nobody has to look for the text box
            if person is one or differ:
                person.look(f"{game}-begin-{'one' if person is one else 'two'}")
        PLAYS[game](study, one, two)
        codes = set()
        for person in (one, two):
            person.page.wait_for_selector("#end")
            if person is one or differ:
                person.look(f"{game}-survey-{'one' if person is one else 'two'}", whole=True)
            if has_partner:
                person.answer()
            person.press("Send")
            codes.add(person.page.inner_text("#code"))
        one.look("finished")
        assert len(codes) == 2 and one.errors == two.errors == []
        assert {each.status for each in study.store.dialogues()} == {"completed"}
        seated = [seat for each in study.store.dialogues() for seat in each.seats]
        assert seated == ["human", "human"]
