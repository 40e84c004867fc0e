"""The pages of `birdenv view` in a real browser: runs of all conditions, two compared, one that goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import HOSTILE, played, records, say_everywhere, write
from test_live_pages import viewing

pytestmark = pytest.mark.slow
Command = Callable[..., Any]
Open = Callable[..., Any]


@pytest.fixture
def root(birdenv: Command, tmp_path: Path) -> Path:
    """A folder of runs: two that are finished, one that goes on, an empty one and a torn one."""
    folder = tmp_path / "results"
    for agent in ("never-asks", "asks-first"):
        played(birdenv, folder / agent, "c-interact", "--agent", agent, "-n", "4")
    source = (folder / "never-asks" / "latest").resolve()
    for name, kept in (("going-on", 2), ("empty", 0), ("torn", 4)):
        copy = Path(shutil.copytree(source, folder / name / source.name))
        write(copy, "runs", records(source, "runs")[:kept])
    (folder / "torn" / source.name / "config.json").write_text("{")
    return folder


@pytest.fixture
def visit(root: Path, opened: Open) -> Iterator[Callable[..., Any]]:
    """Opens a page of the server with the cookie of one who was let in."""
    with viewing(root) as viewer:

        def open_page(path: str = "/", **context: Any) -> Any:
            name, _, value = viewer.cookie.partition("=")
            address = f"http://127.0.0.1:{viewer.port}"
            return opened(address + path, [{"name": name, "value": value, "url": address}], **context)

        yield open_page


def line(page: Any, name: str) -> Any:
    return page.locator("#list tbody tr", has_text=name)


@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("width", (390, 1600))
def test_pages_fit_and_axe_finds_nothing_serious(
    visit: Callable[..., Any], serious: Callable[..., Any], tmp_path: Path, width: int, scheme: str
) -> None:
    page = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.wait_for_selector("#list tbody tr")
    assert page.locator("#list tbody tr").count() == 5
    assert "config.json" in line(page, "torn").inner_text()
    assert "0 of 4" in line(page, "empty").inner_text() and "2 of 4" in line(page, "going-on").inner_text()
    pages = ["runs"]
    for number in range(3):
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.screenshot(path=tmp_path / f"{pages[-1]}-{width}-{scheme}.png", full_page=True)
        assert not serious(page)
        if number == 0:
            page.click("a:has-text('going-on')")
            page.wait_for_selector("#list tbody tr")
        elif number == 1:
            page.click("#list a:has-text('library_2')")
            page.wait_for_selector(".turn")
        pages.append(f"page-{number}")


def test_an_empty_run_says_so_and_shows_its_first_episode(visit: Callable[..., Any], root: Path) -> None:
    page = visit(refused=True)
    page.click("a:has-text('empty')")
    page.wait_for_selector("text=no episode has finished yet")
    [run] = (root / "empty").iterdir()
    write(run, "runs", records((root / "never-asks" / "latest").resolve(), "runs")[:1])
    page.wait_for_selector("text=1 of 4 episodes so far")
    assert not page.get_by_text("no episode has finished yet").count()


def test_two_runs_are_compared_by_keyboard_alone(visit: Callable[..., Any]) -> None:
    page = visit()
    page.wait_for_selector("#list tbody tr")
    for name in ("never-asks/run", "asks-first/run"):
        line(page, name).locator("input").focus()
        page.keyboard.press("Space")
    page.locator("#compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#list tr.differs")
    assert "never-asks and asks-first" in page.inner_text("h1")


def test_a_run_that_goes_on_grows_without_a_reload(visit: Callable[..., Any], root: Path) -> None:
    page = visit()
    page.wait_for_selector("text=2 of 4")
    [run] = (root / "going-on").iterdir()
    whole = records((root / "never-asks" / "latest").resolve(), "runs")
    write(run, "runs", whole[:3])
    page.wait_for_selector("text=3 of 4")
    page.click("a:has-text('going-on')")
    page.wait_for_selector("text=3 of 4 episodes so far")
    page.keyboard.press("/")
    page.keyboard.type("ibrary")
    page.keyboard.press("Home")
    write(run, "runs", whole)
    page.wait_for_selector("text=· 4 episodes ·")
    page.keyboard.type("l")  # the focus and the place in the text are where they were
    assert page.input_value("#filter-text") == "library" and page.locator("#list tbody tr").count() == 4


@pytest.mark.parametrize("kind", ["script", "right to left", "long"])
def test_hostile_text_does_nothing(visit: Callable[..., Any], root: Path, kind: str) -> None:
    say_everywhere((root / "never-asks" / "latest").resolve(), HOSTILE[kind])
    page = visit(viewport={"width": 390, "height": 900})
    page.click("a:has-text('never-asks')")
    page.click("#list a:has-text('library_2')")
    page.wait_for_selector(".turn")
    assert "never-asks" in page.title() and page.locator("img").count() == 0
    assert "\u202e" not in page.inner_text("main")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
