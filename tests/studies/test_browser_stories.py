"""Stories in a real browser, from consent to code. An error on a page's console fails the story."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from people_in_chromium import Person
from test_dialogues import golds
from test_killed_server import Server
from test_ratings import Round, compared
from web_browser import listening, served

from birdenv.dialogue import Action, Field, Game, Move, Reply, Rules, Seat
from birdenv.dialogue.games import Settings, TaskList
from birdenv.report.access import Doors
from birdenv.studies.rating_round._export import rating_rows
from birdenv.studies.rating_round._pages import make_rating_app
from birdenv.studies.study._config import StudyConfig
from birdenv.studies.study._config_files import read_config
from birdenv.studies.study._export import study_rows

pytestmark = pytest.mark.slow


def test_two_people_find_their_friend_through_reload_offline_and_a_killed_server(
    chromium: Any, tmp_path: Path
) -> None:
    server = Server(tmp_path, "mutual-friends")
    try:
        one, two = (Person(chromium, server.port) for _ in range(2))
        for person in (one, two):
            person.enter()
        for person in (one, two):
            person.page.wait_for_selector("form[data-action=message] textarea")
        one.say("<script>alert(1)</script> hello")
        two.sees("<script>alert(1)</script> hello")
        two.page.locator("form[data-action=message] textarea").press_sequentially("I am")
        one.page.wait_for_selector("#typing:not([hidden])")
        two.say("I am here")
        one.sees("I am here")
        one.page.wait_for_selector("#typing", state="hidden")

        before = one.lines()
        one.page.reload()
        one.sees("I am here")
        assert one.lines() == before

        for person in (one, two):
            person.offline_noise = True
        server.kill()
        one.say("typed while the server was dead")
        server.start()
        two.sees("typed while the server was dead")
        one.sees("typed while the server was dead")
        one.context.set_offline(True)
        two.say("said while you were away")
        two.sees("said while you were away")
        one.context.set_offline(False)
        one.sees("said while you were away")
        assert len(one.lines()) == len(two.lines()) == 4

        rows = "form[data-action=select] input"
        choices = [
            {each.get_attribute("aria-label") for each in person.page.locator(rows).all()}
            for person in (one, two)
        ]
        (match,) = choices[0] & choices[1]
        for person in (one, two):
            person.page.get_by_label(match, exact=True).check()
            person.page.click("form[data-action=select] button")
        codes = [person.finish() for person in (one, two)]
        assert codes[0] != codes[1]
        assert one.errors == two.errors == []
    finally:
        server.kill()
    (example,) = study_rows(tmp_path, "cocoa")
    assert example["outcome"]["reward"] == 1.0
    assert set(example["agents_info"]["surveys"]) == {"0", "1"}


def test_two_people_and_sql_with_debug_and_follow_up(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "c-interact", StudyConfig(), limit=1, execute_sql=True) as (study, port):
        right, next_right = golds(study)
        people = [Person(chromium, port) for _ in range(2)]
        for each in people:
            each.enter()
        for each in people:
            each.page.wait_for_selector("#message form")
        user, person = sorted(people, key=lambda each: each.page.locator("form[data-action=clarify]").count())
        person.page.wait_for_selector("#editor .cm-content")
        person.say("What do you mean by roomy?")
        user.sees("What do you mean by roomy?")
        user.say("At least 40 seats, <i>please</i>.")
        person.sees("At least 40 seats, <i>please</i>.")
        probe = person.page.locator("#editor .cm-content")
        probe.press_sequentially("SELECT weekly_h")
        person.page.locator(".cm-tooltip-autocomplete li", has_text="weekly_hours").wait_for()
        person.play_sql("SELECT name, seats FROM branches ORDER BY name LIMIT 2", "Run")
        person.page.wait_for_selector("#events table td >> text=Harbour")
        person.play_sql("SELECT 1", "Submit")
        person.page.wait_for_selector("#events li.house >> nth=1")
        person.play_sql(right, "Submit")
        person.page.wait_for_selector("#standing >> text=The second request")
        person.play_sql(next_right, "Submit")
        assert user.finish() != person.finish()
        assert not any("SELECT" in line for line in user.lines())
        assert study.store.dialogues()[0].rewards == [0.8, 0.8]

        owner = Person(chromium, port, "/admin")
        page = owner.page
        page.fill("input[name=token]", Doors(tmp_path).admin_token)
        page.click("text=Open")
        page.click("a >> text=Read")
        page.select_option("#view", label="system")
        assert page.locator("#events li").count() == 1  # it starts at the beginning
        page.click("text=Show all")
        page.locator("#events table td", has_text="Harbour").wait_for()
        page.locator("#slider").fill("2")
        page.wait_for_function("document.querySelector('#place').textContent.startsWith('2 of')")
        assert page.locator("#events table").count() == 0
        page.click("#forth")
        page.locator("#events table td", has_text="Harbour").wait_for()
        page.select_option("#view", label="user")
        assert "SELECT" not in page.inner_text("#events")
        assert person.errors == user.errors == owner.errors == []


def test_one_person_divides_with_a_neural_player_from_an_app_params_file(
    chromium: Any, tmp_path: Path
) -> None:
    for name in ("torch", "safetensors"):
        pytest.importorskip(name)
    run, net = tmp_path / "run", tmp_path / "deal.safetensors"
    game = "deal-or-no-deal"
    birdenv = [sys.executable, "-m", "birdenv"]
    rules = ["--players", "rulebased", "rulebased"]
    subprocess.run([*birdenv, "selfplay", game, *rules, "-n", "20", "-o", str(run)], check=True)
    train = ["train-player", game, "--kind", "neural", "--data", str(run), "-o", str(net)]
    subprocess.run([*birdenv, *train], check=True)
    app_params = {
        "status_params": {"waiting": {"num_seconds": 60}, "chat": {"num_seconds": 600}},
        "models": {"net": {"active": True, "type": "neural", "checkpoint": net.name}},
        "num_chats_per_scenario": {"human": 0, "net": 1},
        "end_survey": 1,
    }
    (tmp_path / "app_params.json").write_text(json.dumps(app_params))
    config = read_config(tmp_path / "app_params.json").model_copy(update={"typing_speed": 1000})
    with served(tmp_path / "study", game, config, limit=3) as (study, port):
        person = Person(chromium, port)
        person.enter()
        person.page.wait_for_selector("form[data-action=message] textarea")
        person.page.locator("#events li.partner").first.wait_for()
        person.say("i would take 1 hat , and you get the rest .")
        person.page.locator("#events li:not(.pending)").nth(2).wait_for()
        person.page.click("summary >> text=Say what you take")
        for field in person.page.locator("form[data-action=select] input").all():
            field.fill("1" if field.get_attribute("name") == "hat" else "0")
        person.page.click("form[data-action=select] button")
        person.page.click("dialog >> text=Yes")
        assert person.finish() and person.errors == []
        (stored,) = study.store.dialogues()
        events = [move.event for move in study.store.moves(stored.id)]
    assert stored.status in ("completed", "no deal") and {event.agent for event in events} == {0, 1}
    assert not any((event.metadata or {}).get("refused") for event in events)


def test_who_leaves_does_not_block_the_partner(chromium: Any, tmp_path: Path) -> None:
    limits = {"away": 1, "waiting": 60}
    with served(tmp_path, "mutual-friends", StudyConfig(limits=limits), limit=4) as (study, port):
        one, two = (Person(chromium, port) for _ in range(2))
        for person in (one, two):
            person.enter()
        for person in (one, two):
            person.page.wait_for_selector("form[data-action=message] textarea")
        one.context.close()
        two.page.click("text=Wait for another partner")
        two.page.wait_for_selector("#left")
        three = Person(chromium, port)
        three.enter()
        for person in (two, three):
            person.page.wait_for_selector("form[data-action=message] textarea")
        three.say("hello")
        two.sees("hello")
        three.page.click("summary >> text=Leave the study")
        three.page.click("text=Leave for good")
        three.page.wait_for_selector("text=You have left the study")
        two.page.click("button >> text=Finish now")
        assert two.page.inner_text("#code")
        assert two.errors == three.errors == []
        assert [each.status for each in study.store.dialogues()] == ["left", "left"]


@pytest.mark.parametrize("compare", [None, "dialogues"])
def test_a_rater_comes_from_consent_to_code(chromium: Any, tmp_path: Path, compare: Any) -> None:
    made = Round(tmp_path, compared(2, 2), compare=compare, raters=1, most=2)
    with listening(make_rating_app(made.ratings, tmp_path)) as port:
        rater = Person(chromium, port)
        page = rater.page
        page.click("text=I agree and take part")
        for place in (1, 2):
            page.wait_for_selector(f"#place >> text={place} of 2")
            page.locator("#sides li.partner", has_text="<b>good morning</b>").first.wait_for()
            page.locator("#sides li.you", has_text="Ann").first.wait_for()
            if compare:
                page.check("input[name=winner][value=left]")
                page.fill("textarea[name=justification]", "it is shorter")
                assert page.locator("#sides .events").count() == 2
            else:
                for question in made.config.questions:
                    page.check(f"input[name={question.name}][value='4']")
            if place == 1:
                item = page.get_attribute("input[name=item]", "value")
                page.reload()  # it is the same one, and nothing was sent
                assert page.get_attribute("input[name=item]", "value") == item
                if compare:
                    page.check("input[name=winner][value=tie]")
                    page.fill("textarea[name=justification]", "alike")
                for question in () if compare else made.config.questions:
                    page.check(f"input[name={question.name}][value='4']")
            page.click("text=Send")
        code = page.inner_text("#code")
        page.reload()
        assert page.inner_text("#code") == code
        assert rater.errors == []
    rows = rating_rows(tmp_path, "pairs" if compare else "ratings")
    assert [row["winner"] for row in rows] == ["tie", "left"] if compare else len(rows) == 8


class Cards(Rules):
    """Play one's cards; each move changes what they are called, and not how many there are."""

    PLAY = Action("play", (Field("card", "item"), Field("count", "integer", 1, 3)))
    seats = (Seat("player", (PLAY,), items=2),)
    rewards = (0.0,)
    played = 0

    def open(self) -> tuple[int, ...]:
        return () if self.status else (0,)

    def legal(self, seat: int) -> tuple[str, ...]:
        return ("play",)

    def choices(self, seat: int) -> list[dict[str, object]]:
        return [{"suit": suit, "at": {"round": self.played}} for suit in ("hearts", "spades")]

    def instruction(self, seat: int) -> str:
        return "Play two cards."

    def play(self, seat: int, move: Move) -> Reply:
        self.played += 1
        if self.played == 2:
            self.status = "completed"
        return Reply()


class Deal(TaskList):
    def start(self, instance_id: str) -> Rules:
        return Cards()


def test_items_that_change_are_read_and_chosen_as_they_are_now(chromium: Any, tmp_path: Path) -> None:
    game = Game("cards", Cards.seats, Settings, lambda settings: Deal(["one"]))
    with served(tmp_path, game, StudyConfig(survey=())) as (study, port):
        person = Person(chromium, port)
        person.enter()
        options = person.page.locator("form[data-action=play] option")
        for number in range(2):
            options.filter(has_text=f"spades, {number}").wait_for(state="attached")
            person.page.select_option("select", label=f"spades, {number}")
            person.page.fill("form[data-action=play] input", "2")
            if number:
                assert "card: spades, 0; count: 2" in person.lines()[0]
            person.page.click("form[data-action=play] button")
        person.page.wait_for_selector("#code")
        (stored,) = study.store.dialogues()
        played = [move.event.data["card"]["at"]["round"] for move in study.store.moves(stored.id)]
    assert played == [0, 1] and not person.errors
