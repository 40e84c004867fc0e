"""Pages in a browser. The tests are skipped without playwright, Chromium or axe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens an address; an error on its console fails the test, but of an answer that is `refused`."""
    errors: list[str] = []

    def note(message: Any, refused: bool) -> None:
        if message.type == "error" and not (refused and "409" in message.text):
            errors.append(message.text)

    def open_address(address: str, cookies: Any = (), refused: bool = False, **context: Any) -> Any:
        made = chromium.new_context(**context)
        made.add_cookies(list(cookies))
        page = made.new_page()
        page.on("console", lambda message: note(message, refused))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector("h1")
        return page

    yield open_address
    assert not errors


@pytest.fixture(scope="session")
def serious() -> Callable[[Any], list[tuple[str, str]]]:
    """Returns what axe finds on a page that is serious or critical."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()

    def found(page: Any) -> list[tuple[str, str]]:
        violations = axe.run(page).response["violations"]
        bad = [each for each in violations if each["impact"] in ("serious", "critical")]
        return [(each["id"], each["nodes"][0]["html"]) for each in bad]

    return found
