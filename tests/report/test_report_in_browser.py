"""The page of a report in a real browser: by keyboard alone, at all widths, with hostile text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import HOSTILE, played, say_everywhere

pytestmark = pytest.mark.slow
Command = Callable[..., Any]


@pytest.fixture
def pages(birdenv: Command, tmp_path: Path) -> Path:
    """A folder with `one.html`, `two.html` and `private.html`."""
    one = played(birdenv, tmp_path / "d", "c-interact", "--agent", "never-asks", "-n", "11")
    two = played(birdenv, tmp_path / "c", "c-interact", "--agent", "asks-first", "-n", "11")
    birdenv("report", one, "-o", tmp_path / "one.html")
    birdenv("report", one, two, "-o", tmp_path / "two.html")
    birdenv("report", one, two, "-o", tmp_path / "private.html", "--private")
    return tmp_path


@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("width", (390, 1600))
def test_pages_fit_and_axe_finds_nothing_serious(
    pages: Path, opened: Callable[..., Any], serious: Callable[..., Any], width: int, scheme: str
) -> None:
    screen = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    for name in ("one", "two", "private"):
        for hash in ("", "#/library_2", "#/library_M_1"):
            page = opened(f"file://{pages / name}.html{hash}", **screen)
            page.wait_for_selector(".turn" if hash else "#list tbody tr")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            page.screenshot(path=pages / f"{name}{hash[2:]}-{width}-{scheme}.png", full_page=True)
            assert not serious(page)


def test_by_keyboard_alone(pages: Path, opened: Callable[..., Any]) -> None:
    page = opened(f"file://{pages}/two.html")
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
    page = opened(f"file://{pages}/two.html")
    page.wait_for_selector("#list tbody tr")
    assert page.inner_text("#count") == "11 of 11"
    page.check("text=differs from the other run")
    differing = page.locator("#list tbody tr.differs").count()
    assert 0 < differing == page.locator("#list tbody tr").count() < 22
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
    page = opened(f"file://{pages}/one.html#/library_2")
    page.wait_for_selector(".turn")
    text = page.inner_text("main")
    assert "3 rows missing, 3 rows extra, 5 cells wrong" in text and "Samir" in text
    assert page.locator(".sql-keyword").count() > 5 and page.locator(".secret").count() == 0
    private = opened(f"file://{pages}/private.html#/library_2")
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
    page = opened(f"file://{pages}/hostile.html#/library_2", viewport={"width": 390, "height": 900})
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
