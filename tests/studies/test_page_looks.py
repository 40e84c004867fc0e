"""The pages that are not on the whole way of a study in each game (`test_whole_way.py`), as people see them.

They are looked at on a wide screen and on a phone, light and dark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from people_in_chromium import Person
from test_ratings import Round, compared
from web_browser import listening, served

from birdenv.report.access import Doors
from birdenv.studies.rating_round._pages import make_rating_app
from birdenv.studies.replay import Records
from birdenv.studies.replay._pages import make_replay_app
from birdenv.studies.study._config import Partner, StudyConfig

pytestmark = pytest.mark.slow
CHECK = [{"question": "Who wins?", "options": ["I", "Both of us"], "answer": 1}]


def test_one_who_fails_the_check_and_one_who_leaves(chromium: Any, tmp_path: Path) -> None:
    made = StudyConfig(
        check=CHECK,
        contact="study@example.org",
        instructions="Please talk as in a chat.",
        codes={"left": "CODE-LEFT"},
    )
    with served(tmp_path, "mutual-friends", made, limit=3) as (_, port):
        one = Person(chromium, port, "/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&workerId=W&hitId=H")
        one.look("consent-preview")
        one.page.goto(f"http://127.0.0.1:{port}/")
        one.look("consent")
        one.press("I agree and take part")
        for name in ("instructions-once-wrong", "failed-check"):
            one.page.check("input[type=radio][value='0']")
            one.press("Start")
            one.look(name)

        two = Person(
            chromium, port, "/?workerId=W2&assignmentId=A&hitId=H&turkSubmitTo=https://www.mturk.com"
        )
        two.press("I agree and take part")
        two.pick(two.page.get_by_label("Both of us"))
        two.press("Start")
        two.page.wait_for_selector("#left:not(:empty)")
        two.look("waiting")
        for part in two.page.locator("footer summary").all():
            part.click()
        two.look("waiting-opened", whole=True)
        two.page.goto(f"http://127.0.0.1:{port}/?workerId=W3&assignmentId=B&hitId=H")
        two.look("replace")
        two.page.click("text=Do not change")
        two.press("Leave the study", "summary")
        two.press("Leave for good")
        two.page.wait_for_selector("text=Submit to Mechanical Turk")
        two.look("left")
        two.page.goto(f"http://127.0.0.1:{port}/nothing")
        two.errors.clear()  # the browser notes the 404
        two.look("refused")


def test_one_for_whom_nobody_comes(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(limits={"waiting": 1}), limit=1) as (_, port):
        one = Person(chromium, port, "/?PROLIFIC_PID=P&STUDY_ID=S&SESSION_ID=V")
        one.enter()
        one.page.wait_for_selector("#code")
        one.look("nobody-came")


def test_odd_words_and_a_partner_who_leaves(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(least_words=9), limit=3) as (_, port):
        one, two = (Person(chromium, port) for _ in range(2))
        for each in (one, two):
            each.enter()
        words = ("any of yours into <b>dance</b>?", "\u200fשלום לך, חבר \u202edesrever", "a" * 3000)
        for who, said in zip((one, two, one), words, strict=True):
            who.page.wait_for_selector("#message textarea")
            who.say(said)
            who.sees(said[-8:])
        two.look("odd-words")
        two.press("Leave the study", "summary")
        two.press("Leave for good")
        one.page.wait_for_selector("text=Wait for another partner")
        one.look("alone")


def test_a_wrong_submission_and_the_administrator(chromium: Any, tmp_path: Path) -> None:
    partners = {"rule": Partner(player="rule", chats=1), "human": Partner()}
    made = StudyConfig(partners=partners, seat="system", contact="study@example.org")
    with served(tmp_path, "c-interact", made, limit=1, execute_sql=True) as (study, port):
        one = Person(chromium, port)
        one.enter()
        one.page.wait_for_selector("#editor .cm-content")
        one.play_sql("SELECT * FROM branches JOIN copies USING (branch_id) ORDER BY name LIMIT 40", "Run")
        one.page.wait_for_selector("#events table")
        one.play_sql("SELECT nothing", "Submit")
        one.page.wait_for_selector("#events >> text=one more attempt")
        one.look("wrong")
        waits = Person(chromium, port)
        waits.enter()
        waits.page.wait_for_selector("#left:not(:empty)")
        one.play_sql("SELECT nothing", "Submit")
        one.page.wait_for_selector("#end")
        one.look("wrong-survey", whole=True)

        owner = Person(chromium, port, "/admin")
        owner.look("admin-sign-in")
        owner.page.fill("input[name=token]", Doors(tmp_path).admin_token)
        owner.press("Open")
        owner.look("admin", whole=True)
        (person,) = (each.id for each in study.store.people("survey"))
        owner.page.fill("form[action='/admin/link'] input", person)
        owner.page.click("form[action='/admin/link'] button")
        owner.look("admin-link")
        owner.page.fill("form[action='/admin/delete'] input", person)
        owner.page.click("form[action='/admin/delete'] button")
        owner.look("admin-asks")
        owner.page.goto(f"http://127.0.0.1:{port}/admin/replay")
        owner.look("replay-list")
        owner.page.click("#dialogues a")
        owner.page.wait_for_selector("#place:not(:empty)")
        owner.look("replay-begin")
        owner.page.click("#whole")
        for seat in ("everything", "system", "user"):
            owner.page.select_option("#view", label=seat)
            owner.look(f"replay-{seat}")
    with Records([tmp_path], private=True) as records:
        app, token = make_replay_app(records)
        with listening(app) as port:
            owner = Person(chromium, port, f"/open/{token}")
            owner.page.click("#dialogues a")
            owner.page.select_option("#view", label="user")
            owner.look("replay-private")


@pytest.mark.parametrize("compare", [None, "dialogues"])
def test_a_rater(chromium: Any, tmp_path: Path, compare: Any) -> None:
    made = Round(tmp_path, compared(2, 1), compare=compare, raters=1, most=1, instructions="Read it all.")
    with listening(make_rating_app(made.ratings, tmp_path)) as port:
        one = Person(chromium, port)
        one.look("rating-consent")
        one.press("I agree and take part")
        one.page.locator("#sides li").first.wait_for()
        one.look("compare" if compare else "rate", whole=True)
        for choice in one.page.locator("input[type=radio][value='4'], input[value=left]").all():
            choice.check()
        for box in one.page.locator("textarea").all():
            box.fill("It is clearer.")
        one.press("Send")
        one.look("rating-end")
