"""Make the pictures of the documentation again: `make pictures`.

A recorded terminal (SVG), and screenshots of a report, a plot and a study, in `docs/pictures`. With `--site`,
every page of the built site is photographed instead, at two widths, into `docs/_build/screenshots`, and pages
that a phone would have to scroll sideways are named. Needs playwright and a chromium on the PATH.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
SITE = DOCS / "_build" / "html"
BIRDENV = [sys.executable, "-m", "birdenv"]
WIDTHS = {"desk": 1280, "phone": 390}


def printed(command: Sequence[str], columns: int) -> str:
    """Run a command in a terminal of its own, and return what it showed, colours included."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            read = os.read(ours, 65_536)
        except OSError:  # Linux reports the end of a terminal as an error
            break
        if not read:
            break
        shown += read
    os.close(ours)
    if child.wait() != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return shown.decode().replace("\r\n", "\n")


def record_terminal(target: Path, columns: int = 92) -> None:
    """Draw a terminal in which two commands were typed."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=columns, file=nowhere, force_terminal=True)
        for words in (["demo"], ["c-interact", "--agent", "asks-first", "-n", "5"]):
            console.print(Text(f"$ birdenv {' '.join(words)}", style="bold"))
            lines = printed([*BIRDENV, *words], columns).splitlines()
            shown = [
                line for line in lines if not line.startswith(("Run folder", "Results", "To read", "Next"))
            ]
            console.print(Text.from_ansi("\n".join(shown[:20])))
    picture = console.export_svg(title="birdenv", unique_id="terminal")
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)  # it names fonts on the network
    target.write_text(picture, encoding="utf-8")


def photograph(browser: Browser, address: str, target: Path, *, width: int = 1100, height: int = 760) -> Any:
    """Save what a browser shows at an address."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    page.screenshot(path=target)
    page.close()


@contextmanager
def study(folder: Path) -> Iterator[str]:
    """Serve a study in which people write the SQL; yields its address."""
    options = ["--user", "rule", "--execute-sql", "--limit", "1", "--port", "0", "-o", str(folder)]
    server = subprocess.Popen([*BIRDENV, "web", "c-interact", *options], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        for line in server.stdout:
            if found := re.search(r"http://[\w.]+:\d+", line):
                yield found[0]
                return
        raise SystemExit("the study did not start")
    finally:
        server.terminate()
        server.wait()


def photograph_study(browser: Browser, address: str, target: Path) -> None:
    """Take part in a study as far as the second statement, and save the page."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(address)
    page.click("text=I agree and take part")
    page.get_by_role("button", name="Start").click()
    for box, words, button, seen in (
        ("#message textarea", "What do you mean by 'roomy branches'?", "Ask", "at least 40 seats"),
        ("#editor .cm-content", "SELECT name, seats FROM branches WHERE seats >= 40", "Run", "Old Mill"),
    ):
        page.click(box)
        page.keyboard.insert_text(words)
        page.get_by_role("button", name=button, exact=True).click()
        page.locator("#events", has_text=seen).wait_for()
    page.screenshot(path=target)
    page.close()


def photograph_site(browser: Browser, target: Path) -> list[str]:
    """Save every page of the site at both widths, and return those that are wider than their window."""
    shutil.rmtree(target, ignore_errors=True)
    too_wide = []
    for file in sorted(SITE.rglob("*.html")):
        name = str(file.relative_to(SITE).with_suffix("")).replace("/", "-")
        for device, width in WIDTHS.items():
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(file.as_uri())
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append(f"{name} ({device})")
            (target / device).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=target / device / f"{name}.png")
            page.close()
    return too_wide


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", action="store_true", help="photograph the built site instead")
    asked = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no chromium on the PATH: apt-get install chromium")
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as running, tempfile.TemporaryDirectory() as scratch:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = running.chromium.launch(executable_path=chromium, args=options)
        if asked.site:
            too_wide = photograph_site(browser, DOCS / "_build" / "screenshots")
            print("\n".join(["Too wide:", *too_wide]) if too_wide else "No page is wider than its window.")
            raise SystemExit(bool(too_wide))
        os.chdir(scratch)
        record_terminal(PICTURES / "terminal.svg")
        for agent in ("never-asks", "asks-first"):
            subprocess.run(
                [*BIRDENV, "c-interact", "--agent", agent, "-o", agent], check=True, stdout=subprocess.DEVNULL
            )
        subprocess.run([*BIRDENV, "report", "asks-first", "-o", "report.html"], check=True)
        plot = ["compare", "never-asks", "asks-first", "--plot", str(PICTURES / "comparison.png")]
        subprocess.run([*BIRDENV, *plot], check=True, stdout=subprocess.DEVNULL)
        photograph(browser, (Path(scratch) / "report.html").as_uri(), PICTURES / "report.png")
        with study(Path(scratch) / "study") as address:
            photograph_study(browser, address, PICTURES / "study.png")


if __name__ == "__main__":
    main()
