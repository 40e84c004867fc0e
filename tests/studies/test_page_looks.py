"""Every page as people see it: on a wide screen and on a phone, light and dark.

Nothing is too wide for its screen, and axe finds nothing serious. With BIRDENV_SCREENSHOTS=FOLDER the
pictures are kept there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from test_dialogues import golds
from test_ratings import Round, compared
from web_browser import listening, served

from birdenv.studies import Doors, Partner, StudyConfig, make_rating_app

pytestmark = pytest.mark.slow
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
SIZES = ((1280, 800), (390, 844))
CHECK = [{"question": "Who wins?", "options": ["I", "Both of us"], "answer": 1}]


class Eyes:
    """Somebody at a browser who looks at each page in every way."""

    def __init__(self, chromium: Any, port: int, folder: Path, path: str = "/") -> None:
        self.folder = Path(os.environ.get("BIRDENV_SCREENSHOTS") or folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.errors: list[str] = []
        self.page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"http://127.0.0.1:{port}{path}")

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} {message.location}")

    def look(self, name: str, whole: bool = False) -> None:
        """Look at a page; `whole` takes all of it into the picture, not what is seen first."""
        page = self.page
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=self.folder / f"{name}-{width}-{scheme}.png", full_page=whole)
                if (width, scheme) in ((1280, "dark"), (390, "light")):
                    continue  # the same nodes in the same colours
                found = axe.Axe().run(page).response["violations"]
                bad = [
                    f"{each['id']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
                    for each in found
                    if each["impact"] in ("serious", "critical")
                ]
                assert not bad, f"{name}, {width} px, {scheme}: {bad}"
            wide = page.locator("html").evaluate("each => each.scrollWidth")
            assert wide <= width, f"{name} is {wide} px wide on a screen of {width}"
        page.set_viewport_size({"width": 1280, "height": 800})
        assert self.errors == []

    def enter(self) -> None:
        self.page.click("text=I agree and take part")
        self.page.click("text=Start")


def config(player: str | None = None, seat: str | None = None, **facts: Any) -> StudyConfig:
    partners = {} if player is None else {"partners": {"rule": Partner(player=player)}, "seat": seat}
    return StudyConfig(**partners, **facts)


def test_the_way_of_a_person_who_waits_fails_or_leaves(chromium: Any, tmp_path: Path) -> None:
    made = config(check=CHECK, contact="study@example.org", instructions="Please talk as in a chat.")
    with served(tmp_path, "mutual-friends", made, limit=3) as (_, port):
        one = Eyes(chromium, port, tmp_path)
        one.look("consent")
        one.page.click("text=I agree and take part")
        one.look("instructions")
        one.page.check("input[type=radio][value='0']")
        one.page.click("text=Start")
        one.look("check-once-wrong")
        one.page.check("input[type=radio][value='0']")
        one.page.click("text=Start")
        one.look("check-failed")
        two = Eyes(chromium, port, tmp_path)
        two.page.click("text=I agree and take part")
        two.page.check("input[type=radio][value='1']")
        two.page.click("text=Start")
        two.page.wait_for_selector("#left:not(:empty)")
        two.look("waiting")
        two.page.click("summary >> text=Leave the study")
        two.look("leave-asks")
        two.page.click("text=Leave for good")
        two.look("left")
        two.page.goto(f"http://127.0.0.1:{port}/nothing")
        two.errors.clear()  # the browser notes the 404
        two.look("refused")


def test_two_people_find_their_friend(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", config(), limit=3) as (_, port):
        one, two = (Eyes(chromium, port, tmp_path) for _ in range(2))
        for each in (one, two):
            each.enter()
        for each in (one, two):
            each.page.wait_for_selector("#message textarea")
        one.look("friends-begin")
        for place, words in enumerate(
            (
                "hi! any of yours into dance?",
                "no, mine are into chess <b>mostly</b>",
                "‏שלום לך, חבר",
                "a" * 3000,
            )
        ):
            who = (one, two)[place % 2]
            who.page.fill("#message textarea", words)
            who.page.keyboard.press("Enter")
            who.page.wait_for_selector(f"#events li.you >> nth={place // 2}")
        one.page.locator("#side input[type=radio]").first.check()
        one.page.click("text=Choose this friend")
        two.page.wait_for_selector("text=chose")
        two.look("friends-talk")
        two.page.set_viewport_size({"width": 390, "height": 844})
        two.page.click("#tabs >> text=Your friends")
        two.look("friends-table")
        two.page.click("summary >> text=Leave the study")
        two.page.click("text=Leave for good")
        one.page.wait_for_selector("text=Wait for another partner")
        one.look("alone")


def test_a_buyer_and_one_who_divides(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path / "b", "bargain", config("rulebased", "buyer"), limit=3) as (_, port):
        one = Eyes(chromium, port, tmp_path)
        one.enter()
        one.page.wait_for_selector("#events li.partner")
        one.look("bargain")
        one.page.click("summary >> text=Make an offer")
        one.look("bargain-offer")
        one.page.fill("input[name=price]", "10")
        one.page.click("form[data-action=offer] button")
        one.look("bargain-asks-once")
        one.page.keyboard.press("Escape")
        one.page.click("form[data-action=quit] button")
        one.page.click("dialog >> text=Yes")
        one.page.wait_for_selector("#end")
        one.look("bargain-survey")
    with served(tmp_path / "d", "deal-or-no-deal", config("rulebased", "agent_0"), limit=3) as (_, port):
        one = Eyes(chromium, port, tmp_path)
        one.enter()
        one.page.wait_for_selector("#message textarea")
        one.page.click("summary >> text=Say what you take")
        one.look("deal")


def test_an_analyst(chromium: Any, tmp_path: Path) -> None:
    made = config("rule", "system")
    with served(tmp_path, "c-interact", made, limit=1, execute_sql=True) as (study, port):
        right, _ = golds(study)
        one = Eyes(chromium, port, tmp_path)
        one.look("consent-sql")
        one.enter()
        page = one.page
        page.wait_for_selector("#editor .cm-content")
        one.look("analyst-begin")
        page.fill("#message textarea", "What do you mean by roomy?")
        page.keyboard.press("Enter")
        page.wait_for_selector("#events li.partner >> nth=1")
        code = page.locator(".cm-content")

        def write(sql: str, button: str) -> None:
            for key in ("Control+A", "Delete"):  # written over, the browser would keep the old style
                code.press(key)
            page.keyboard.insert_text(sql)
            page.click(f"#editor >> text={button}")

        write("SELECT * FROM branches JOIN copies USING (branch_id) ORDER BY name LIMIT 40", "Run")
        page.wait_for_selector("#events table")
        one.look("analyst-result")
        page.fill("#side input[type=search] >> nth=0", "seats")
        page.set_viewport_size({"width": 390, "height": 844})
        page.click("#tabs >> text=Tables")
        one.look("analyst-tables")
        page.click("#tabs >> text=Knowledge") if page.locator("#tabs").is_visible() else None
        page.set_viewport_size({"width": 390, "height": 844})
        page.click("#tabs >> text=SQL")
        one.look("analyst-editor")
        page.set_viewport_size({"width": 1280, "height": 800})
        write("SELECT 1", "Submit")
        page.wait_for_selector("#events >> text=one more attempt")
        one.look("analyst-wrong")
        write("SELECT 2", "Submit")
        page.wait_for_selector("#end")
        one.look("analyst-survey", whole=True)
        for name in ("fluent", "correct", "humanlike", "cooperative"):
            page.check(f"input[name={name}][value='4']")
        page.click("text=Send")
        one.look("finished")
        assert right

        owner = Eyes(chromium, port, tmp_path, "/admin")
        owner.look("admin-sign-in")
        owner.page.fill("input[name=token]", Doors(tmp_path).admin_token)
        owner.page.click("text=Open")
        owner.look("admin", whole=True)
        owner.page.goto(f"http://127.0.0.1:{port}/admin/replay")
        owner.look("replay-list")
        owner.page.click("#dialogues a")
        owner.page.wait_for_selector("#place:not(:empty)")
        owner.look("replay-begin")
        owner.page.click("#whole")
        owner.page.select_option("#view", label="system")
        owner.look("replay")


def test_a_customer_and_the_other_sql_games(chromium: Any, tmp_path: Path) -> None:
    for game, player, seat in (
        ("c-interact", "asks-first", "user"),
        ("a-interact", "rule", "system"),
        ("bird", None, None),
    ):
        with served(tmp_path / game, game, config(player, seat), limit=1) as (_, port):
            one = Eyes(chromium, port, tmp_path)
            one.enter()
            one.page.wait_for_selector("#side .panel")
            if seat == "user":
                one.page.wait_for_selector("#events li.partner")
            one.look(f"{game}-{seat or 'alone'}")


@pytest.mark.parametrize("compare", [None, "dialogues"])
def test_a_rater(chromium: Any, tmp_path: Path, compare: Any) -> None:
    made = Round(tmp_path, compared(2, 2), compare=compare, raters=1, most=2)
    with listening(make_rating_app(made.ratings, tmp_path)) as port:
        one = Eyes(chromium, port, tmp_path)
        one.page.click("text=I agree and take part")
        one.page.locator("#sides li").first.wait_for()
        one.look("compare" if compare else "rate", whole=True)
