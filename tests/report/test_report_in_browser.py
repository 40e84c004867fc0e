"""The page of a report in a real browser: by keyboard alone, at all widths, with hostile text."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import HOSTILE, played, say_everywhere

pytestmark = pytest.mark.slow
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
Command = Callable[..., Any]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium")
    options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture
def pages(birdenv: Command, tmp_path: Path) -> Path:
    """A folder with `one.html`, `two.html` and `private.html`."""
    one = played(birdenv, tmp_path / "d", "c-interact", "--agent", "never-asks", "-n", "6")
    two = played(birdenv, tmp_path / "c", "c-interact", "--agent", "asks-first", "-n", "6")
    birdenv("report", one, "-o", tmp_path / "one.html")
    birdenv("report", one, two, "-o", tmp_path / "two.html")
    birdenv("report", one, two, "-o", tmp_path / "private.html", "--private")
    return tmp_path


@pytest.fixture
def opened(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Opens a file; an error on its console fails the test."""
    errors: list[str] = []

    def open_file(path: Path, hash: str = "", **context: Any) -> Any:
        page = chromium.new_context(**context).new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"file://{path}{hash}")
        page.wait_for_selector("h1")
        return page

    yield open_file
    assert not errors


@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("width", (390, 1600))
def test_pages_fit_and_axe_finds_nothing_serious(
    pages: Path, opened: Callable[..., Any], width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    for name in ("one", "two", "private"):
        for hash in ("", "#/library_2"):
            page = opened(
                pages / f"{name}.html", hash, viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page.wait_for_selector(".turn" if hash else "#list tbody tr")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            page.screenshot(path=pages / f"{name}-{bool(hash)}-{width}-{scheme}.png", full_page=True)
            found = axe.run(page).response["violations"]
            serious = [
                (each["id"], each["nodes"][0]["html"])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert not serious, serious


def test_by_keyboard_alone(pages: Path, opened: Callable[..., Any]) -> None:
    page = opened(pages / "two.html")
    page.wait_for_selector("#list tbody tr")
    page.keyboard.press("/")
    page.keyboard.type("library_2")
    assert page.locator("#list tbody tr").count() == 2
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").endswith("library_2"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn.parts")
    assert "part at turn 1" in page.inner_text("main")
    page.keyboard.press("Escape")
    page.wait_for_selector("#list tbody tr")
    assert page.input_value("#filter-text") == "library_2"


def test_the_list_sorts_and_filters(pages: Path, opened: Callable[..., Any]) -> None:
    page = opened(pages / "two.html")
    page.wait_for_selector("#list tbody tr")
    assert page.inner_text("#count") == "6 of 6"
    page.check("text=differs from the other run")
    differing = page.locator("#list tbody tr.differs").count()
    assert 0 < differing == page.locator("#list tbody tr").count() < 12
    page.uncheck("text=differs from the other run")
    page.select_option("label:has-text('Outcome') select", "wrong_result")
    assert all(
        "wrong result" in row or "passed" in row for row in page.locator("#list tbody tr").all_inner_texts()
    )
    page.select_option("label:has-text('Outcome') select", "")
    page.click("[data-sort=turns]")
    page.click("[data-sort=turns]")
    assert page.get_attribute("th:has([data-sort=turns])", "aria-sort") == "descending"


def test_an_episode_shows_sql_rows_and_the_difference(pages: Path, opened: Callable[..., Any]) -> None:
    page = opened(pages / "one.html", "#/library_2")
    page.wait_for_selector(".turn")
    text = page.inner_text("main")
    assert "3 rows missing, 3 rows extra, 5 cells wrong" in text and "Samir" in text
    assert page.locator(".sql-keyword").count() > 5 and page.locator(".secret").count() == 0
    private = opened(pages / "private.html", "#/library_2")
    private.wait_for_selector(".turn")
    shown = private.inner_text("main")
    assert "PRIVATE" in shown and "Open terms of the request" in shown and "Bela" in shown
    assert private.locator("mark").all_inner_texts()[:2] == ["active members", "how many books"]


@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind != "no text"])
def test_hostile_text_is_shown_and_does_nothing(
    birdenv: Command, pages: Path, opened: Callable[..., Any], kind: str
) -> None:
    run = pages / "d" / "latest"
    say_everywhere(run, HOSTILE[kind])
    birdenv("report", run, "-o", pages / "hostile.html")
    page = opened(pages / "hostile.html", "#/library_2", viewport={"width": 390, "height": 900})
    page.wait_for_selector(".turn")
    assert page.title() != "owned" and page.locator("img").count() == 0
    text = page.inner_text(".turns")
    assert "\u202e" not in text and "\x1b" not in text
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    if kind == "long":
        before = len(page.inner_text(".turns"))
        page.click("text=Show all")
        assert len(page.inner_text(".turns")) > before + 5_000
    elif kind in ("script", "comment"):
        assert HOSTILE[kind] in text
