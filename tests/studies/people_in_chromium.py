"""A person at a real browser."""

from __future__ import annotations

from typing import Any


class Person:
    """One person at one browser of their own."""

    def __init__(self, chromium: Any, port: int, path: str = "/") -> None:
        self.errors: list[str] = []
        self.offline_noise = False
        self.context = chromium.new_context()
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"http://127.0.0.1:{port}{path}")

    def _console(self, message: Any) -> None:
        lost = "WebSocket connection" in message.text or "ERR_" in message.text
        if message.type == "error" and not (self.offline_noise and lost):
            self.errors.append(message.text)

    def enter(self) -> None:
        self.page.click("text=I agree and take part")
        self.page.click("text=Start")

    def say(self, words: str) -> None:
        self.page.fill("form[data-action=message] textarea", words)
        self.page.keyboard.press("Enter")

    def lines(self) -> list[str]:
        return self.page.locator("#events li:not(.pending)").all_inner_texts()

    def sees(self, words: str) -> None:
        self.page.locator("#events li:not(.pending)", has_text=words).first.wait_for()

    def play(self, action: str, words: str) -> None:
        where = "#editor" if action.endswith("sql") else f"form[data-action={action}]"
        box = self.page.locator(where).locator("textarea, .cm-content")
        for key in ("Control+A", "Delete"):
            box.press(key)
        self.page.keyboard.insert_text(words)
        self.page.click(
            "#editor button[data-action=" + action + "]" if where == "#editor" else f"{where} button"
        )

    def finish(self) -> str:
        self.page.wait_for_selector("#end")
        self.page.click("text=Send")  # the browser asks for what is needed, and sends nothing
        assert (
            self.page.locator("fieldset:invalid").count() == 4 and not self.page.locator(".problem").count()
        )
        for name in ("fluent", "correct", "humanlike", "cooperative"):
            self.page.check(f"input[name={name}][value='4']")
        self.page.click("text=Send")
        code = self.page.inner_text("#code")
        self.page.reload()
        assert self.page.inner_text("#code") == code
        return str(code)
