"""People at real browsers, with a mouse or by keyboard alone, who look at pages on every screen."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

WIDE, PHONE = (1280, 800), (390, 844)
SCHEMES = ("light", "dark")
SURVEY = ("fluent", "correct", "humanlike", "cooperative")
_MOST_TABS = 100


class Person:
    """One person at one browser of their own; errors on the console of their pages are kept."""

    def __init__(
        self,
        chromium: Any,
        port: int,
        path: str = "/",
        size: tuple[int, int] = WIDE,
        scheme: str = "light",
    ) -> None:
        self.errors: list[str] = []
        self.offline_noise = False
        self._size, self._scheme = size, scheme
        self.context = chromium.new_context(viewport=_viewport(size), color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"http://127.0.0.1:{port}{path}")

    def _console(self, message: Any) -> None:
        lost = "WebSocket connection" in message.text or "ERR_" in message.text
        if message.type == "error" and not (self.offline_noise and lost):
            self.errors.append(f"{message.text} {message.location}")

    # --- what they do

    def reach(self, control: Any) -> None:
        """Go to a control."""
        control.click()

    def press(self, name: str, tag: str = "button") -> None:
        """Press the button, or open the part, with this name."""
        self.activate(self.page.locator(f"{tag}:visible", has_text=re.compile(rf"^\s*{re.escape(name)}\s*$")))

    def activate(self, button: Any) -> None:
        button.click()

    def pick(self, choice: Any) -> None:
        """Choose one of a group of radio buttons, of which none is chosen yet."""
        choice.check()

    def write(self, box: Any, words: str) -> None:
        """Write words in the place of those that are there."""
        self.reach(box)
        for key in ("Control+A", "Delete"):  # an editor would keep the style of what is written over
            self.page.keyboard.press(key)
        self.page.keyboard.insert_text(words)

    def enter(self) -> None:
        """Agree, and go into the waiting room."""
        self.press("I agree and take part")
        self.press("Start")

    def open(self, tab: str) -> None:
        """Open a part of the conversation's page, which is a tab on a phone."""
        button = self.page.locator("#tabs [aria-pressed=false]", has_text=re.compile(rf"^{tab}"))
        if button.is_visible():
            self.activate(button)

    def say(self, words: str) -> None:
        self.open("Conversation")
        self.write(self.page.locator("#message textarea"), words)
        self.page.keyboard.press("Enter")

    def play_sql(self, sql: str, button: str) -> None:
        """Write SQL into the editor, and press one of its buttons."""
        self.open("SQL")
        self.write(self.page.locator("#editor .cm-content"), sql)
        self.press(button)

    def answer(self) -> None:
        """Answer the questions of the survey about the partner."""
        for name in SURVEY:
            self.pick(self.page.locator(f"input[name={name}][value='4']"))

    def finish(self) -> str:
        """Answer the survey; returns the completion code, which is the same after a reload."""
        self.page.wait_for_selector("#end")
        self.press("Send")  # the browser asks for what is needed, and sends nothing
        assert self.page.locator("fieldset:invalid").count() == len(SURVEY)
        assert not self.page.locator(".problem").count()
        self.answer()
        self.press("Send")
        code = self.page.inner_text("#code")
        self.page.reload()
        assert self.page.inner_text("#code") == code
        return str(code)

    # --- what they see

    def lines(self) -> list[str]:
        return self.page.locator("#events li:not(.pending)").all_inner_texts()

    def sees(self, words: str) -> None:
        self.page.locator("#events li:not(.pending)", has_text=words).first.wait_for(state="attached")

    def look(self, name: str, whole: bool = False) -> None:
        """Look at a page in every way: it is not too wide, and axe finds nothing serious.

        With BIRDENV_SCREENSHOTS=FOLDER pictures are kept there; `whole` takes all of the page into them.
        """
        axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
        folder = os.environ.get("BIRDENV_SCREENSHOTS")
        for size in (WIDE, PHONE):
            self.page.set_viewport_size(_viewport(size))
            for scheme in SCHEMES:
                self.page.emulate_media(color_scheme=scheme)
                if folder:
                    path = Path(folder, f"{name}-{size[0]}-{scheme}.png")
                    self.page.screenshot(path=path, full_page=whole)
                if not self.page.evaluate("() => 'axe' in window"):
                    self.page.evaluate(axe)
                found = self.page.evaluate("() => axe.run({resultTypes: ['violations']})")
                bad = [
                    f"{each['id']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
                    for each in found["violations"]
                    if each["impact"] in ("serious", "critical")
                ]
                assert not bad, f"{name}, {size[0]} px, {scheme}: {bad}"
            wide = self.page.locator("html").evaluate("each => each.scrollWidth")
            assert wide <= size[0], f"{name} is {wide} px wide on a screen of {size[0]}"
        self.page.set_viewport_size(_viewport(self._size))
        self.page.emulate_media(color_scheme=self._scheme)
        assert self.errors == []


class KeyboardPerson(Person):
    """One who has no mouse."""

    def reach(self, control: Any) -> None:
        for _ in range(_MOST_TABS):
            if _has_focus(control):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {control}")

    def activate(self, button: Any) -> None:
        self.reach(button)
        self.page.keyboard.press("Enter")

    def pick(self, choice: Any) -> None:
        group = self.page.locator(f"input[name='{choice.get_attribute('name')}']")
        self.reach(group.first)  # Tab comes to the first, as none is chosen yet
        for _ in range(group.count()):
            if _has_focus(choice):
                break
            self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Space")
        assert choice.is_checked()


def _viewport(size: tuple[int, int]) -> dict[str, int]:
    return {"width": size[0], "height": size[1]}


def _has_focus(control: Any) -> bool:
    """Return True if a control has the focus; the editor is in a shadow tree."""
    found: bool = control.evaluate("each => each.getRootNode().activeElement === each")
    return found
