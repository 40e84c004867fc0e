"""Pages for people who use a keyboard alone, a phone, or no JavaScript; and words that would do harm."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from people_in_chromium import Person
from web_browser import served

import birdenv.studies
from birdenv.dialogue.games import find_game, game_names
from birdenv.studies.study._config import Partner, StudyConfig

PHONE = {"width": 390, "height": 844}


def own_files() -> list[Path]:
    """All that pages are made of, without the bundled editor."""
    root = Path(birdenv.studies.__file__).parent
    kinds = ("static/*.js", "static/*.css", "templates/*.html", "_*.py", "study/*.py")
    return [each for kind in kinds for each in root.glob(kind) if each.name != "editor.js"]


def test_pages_and_scripts_know_no_game_by_name() -> None:
    own = own_files()
    names = {name for name in game_names() if ":" not in name} - {"guess"}
    seats = {seat for name in names for seat in find_game(name).seat_names} - {"user", "system"}
    acts = {action for name in names for seat in find_game(name).seats for action in seat.kinds} - {
        *("message", "answer", "select", "accept", "reject", "offer", "quit")  # words of every day
    }
    assert len(own) > 30 and {"submit_sql", "buyer"} <= acts | seats
    for file in own:
        found = set(re.findall(r"[\w-]+", file.read_text())) & (names | seats | acts)
        assert not found, f"{file.name} names {found}"


def test_pages_need_no_font_with_icons() -> None:
    for file in own_files():
        file.read_text().encode("cp1252")  # letters and signs that a plain font has


@pytest.mark.slow
def test_a_report_of_a_problem_leaves_what_is_typed(chromium: Any, tmp_path: Path) -> None:
    made = StudyConfig(partners={"rule": Partner(player="rule")}, seat="system")
    with served(tmp_path, "c-interact", made, limit=1) as (study, port):
        person = Person(chromium, port)
        page = person.page

        def report(words: str) -> None:
            person.press("Report a problem", "summary")
            person.write(page.get_by_label("What is wrong?"), words)
            person.press("Send to the study team")
            page.get_by_text("Thank you. The study team has received your message.").wait_for()

        person.enter()
        person.write(page.locator("#editor .cm-content"), "SELECT 1 AS draft")
        person.write(page.locator("#message textarea"), "What do you mean")
        report("The request is cut off.")
        assert page.locator("#editor .cm-content").inner_text() == "SELECT 1 AS draft"
        assert page.locator("#message textarea").input_value() == "What do you mean"
        assert page.get_by_label("What is wrong?").input_value() == ""
        for left in ("one more attempt", "last attempt"):
            person.press("Submit")
            page.get_by_text(left).wait_for()
        page.locator("textarea[name=comments]").fill("It was fun.")
        page.check("input[name=fluent][value='2']")
        report("The verdict is odd.")
        assert page.locator("textarea[name=comments]").input_value() == "It was fun."
        assert page.is_checked("input[name=fluent][value='2']")
        assert [each.text for each in study.store.reports()] == [
            "The request is cut off.",
            "The verdict is odd.",
        ]
        person.context.set_offline(True)
        page.get_by_label("What is wrong?").fill("Am I heard?")
        person.press("Send to the study team")
        page.get_by_text("There is no connection.").wait_for()
        assert page.get_by_label("What is wrong?").input_value() == "Am I heard?"


@pytest.mark.slow
def test_without_javascript_a_sentence_says_so(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (_, port):
        page = chromium.new_context(java_script_enabled=False).new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        assert "This page needs JavaScript." in page.inner_text("body")
        page.click("text=I agree and take part")
        page.click("button >> text=Start")
        page.wait_for_selector("text=Waiting for your partner")
        assert "This page needs JavaScript." in page.inner_text("body")


@pytest.mark.slow
def test_on_a_phone_the_text_box_stays_and_what_is_new_is_told(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (_, port):
        one, two = (Person(chromium, port) for _ in range(2))
        for person in (one, two):
            person.page.set_viewport_size(PHONE)
            person.enter()
        for person in (one, two):
            person.page.wait_for_selector("#message textarea:focus")
        page = one.page
        for number in range(7):  # a burst of more frames is refused
            two.say(f"message {number} " + "and so on " * 35)
            one.sees(f"message {number} ")
        box = page.locator("#message textarea").bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"]
        last = page.locator("#events li").last.bounding_box()
        assert last["y"] + last["height"] <= box["y"]  # the newest is seen above it
        assert page.locator("#log").get_attribute("role") == "log"  # and is read out
        title = page.title()
        page.click("#tabs >> text=Your friends")
        assert page.locator("#side table").is_visible() and not page.locator("#message").is_visible()
        two.say("are you there?")
        page.locator("#tabs >> text=Conversation (1)").wait_for()
        assert page.title() == f"(1) {title}"
        page.click("#tabs >> text=Conversation (1)")
        one.sees("are you there?")
        assert page.title() == title
        assert one.errors == two.errors == []


HOSTILE = (
    "<img src=x onerror=alert(1)><script>document.title = 'taken'</script>",
    "\u202ereversed \u200fשלום לכולם",
    "long" * 1000,
    "</li></ol><h1>Study</h1>",
    "| a | b |\n|---|---|\n",
)


@pytest.mark.slow
def test_words_that_would_do_harm_are_words(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (_, port):
        one, two = (Person(chromium, port) for _ in range(2))
        for person in (one, two):
            person.enter()
        for person in (one, two):
            person.page.wait_for_selector("#message textarea")
        two.page.set_viewport_size(PHONE)
        for words in HOSTILE:
            one.page.fill("#message textarea", words)
            one.page.keyboard.press("Enter")
        two.page.wait_for_selector(f"#events li >> nth={len(HOSTILE) - 1}")
        lines = two.lines()
        assert "<script>document.title" in lines[0] and "\\u202ereversed" in lines[1]
        assert "Show all 4,000 characters" in lines[2] and "<h1>Study</h1>" in lines[3]
        assert two.page.locator("h1").count() == 1 and "taken" not in two.page.title()
        assert two.page.locator("#events img").count() == 0
        assert two.page.locator("html").evaluate("each => each.scrollWidth") <= PHONE["width"]
        assert one.errors == two.errors == []
