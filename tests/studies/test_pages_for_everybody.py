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
from birdenv.studies import Partner, StudyConfig

PHONE = {"width": 390, "height": 844}
CHECK = [{"question": "Who wins?", "options": ["I", "Both of us"], "answer": 1}]


def test_pages_and_scripts_know_no_game_by_name() -> None:
    root = Path(birdenv.studies.__file__).parent
    files = [
        *root.glob("static/*.js"),
        *root.glob("templates/*.html"),
        *root.glob("_*.py"),
        *root.glob("study/*.py"),
    ]
    own = [each for each in files if each.name != "editor.js"]
    names = {name for name in game_names() if ":" not in name} - {"guess"}
    seats = {seat for name in names for seat in find_game(name).seat_names} - {"user", "system"}
    acts = {action for name in names for seat in find_game(name).seats for action in seat.kinds} - {
        *("message", "answer", "select", "accept", "reject", "offer", "quit")  # words of every day
    }
    assert len(own) > 30 and {"submit_sql", "buyer"} <= acts | seats
    for file in own:
        found = set(re.findall(r"[\w-]+", file.read_text())) & (names | seats | acts)
        assert not found, f"{file.name} names {found}"


@pytest.mark.slow
def test_from_consent_to_code_by_keyboard_alone(chromium: Any, tmp_path: Path) -> None:
    made = StudyConfig(partners={"rule": Partner(player="rule")}, seat="system", check=CHECK)
    with served(tmp_path, "c-interact", made, limit=1, execute_sql=True) as (study, port):
        person = Person(chromium, port)
        page, keys = person.page, person.page.keyboard

        def tab_to(wanted: str) -> None:
            """Press Tab until the control with this name has the focus."""
            for _ in range(60):
                keys.press("Tab")
                focus = page.locator("*:focus").last  # the editor is in a shadow tree
                name = focus.evaluate(
                    "each => each.ariaLabel || each.labels?.[0]?.textContent || each.textContent"
                )
                if wanted in name:
                    return
            raise AssertionError(f"Tab never comes to {wanted}")

        tab_to("I agree and take part")
        keys.press("Enter")
        page.wait_for_selector("text=Please answer first")
        tab_to("I")
        keys.press("ArrowDown")  # the second answer
        tab_to("Start")
        keys.press("Enter")
        page.wait_for_selector("#message textarea:focus")  # nobody has to look for it
        keys.type("What do you mean by roomy?")
        keys.press("Enter")
        person.sees("What do you mean by roomy?")
        page.wait_for_selector("#events li.partner >> nth=1")
        page.wait_for_selector("#message textarea:focus")
        tab_to("Your SQL")
        keys.type("SELECT 1 AS one")
        keys.press("Control+Enter")  # runs it
        page.wait_for_selector("#events table")
        tab_to("Submit")
        keys.press("Enter")
        page.wait_for_selector("text=You have one more attempt.")
        keys.press("Enter")  # the focus is where it was
        page.wait_for_selector("text=That was your last attempt.")
        for name in ("fluent", "correct", "humanlike", "cooperative"):
            for _ in range(60):
                keys.press("Tab")
                if page.locator(f"input[name={name}]:focus").count():
                    break
            keys.press("Space")
            keys.press("ArrowRight")
        tab_to("Send")
        keys.press("Enter")
        assert page.inner_text("#code").startswith("BIRDENV-")
        assert person.errors == []
        (stored,) = study.store.dialogues()
        assert study.store.moves(stored.id)[-1].event.action == "submit_sql"


@pytest.mark.slow
def test_without_javascript_a_sentence_says_so(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (_, port):
        page = chromium.new_context(java_script_enabled=False).new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        assert "This study needs JavaScript." in page.inner_text("body")
        page.click("text=I agree and take part")
        page.click("text=Start")
        assert "This study needs JavaScript." in page.inner_text("body")


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
