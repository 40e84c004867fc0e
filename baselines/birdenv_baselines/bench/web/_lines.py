"""The lines of the group: what people would notice. Times are what they see, on this machine as it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from birdenv_baselines.bench._measure import Bar, Figure, Line, Skip, time_added
from birdenv_baselines.bench._setting import Setting

_MILLISECOND: Final = 1_000.0  # microseconds
_LOADS: Final = 15


def lines(setting: Setting) -> list[Line]:
    seconds = 3 if len(setting.sizes) == 1 else 10
    return [
        Line(
            "a message, 200 people with one a second each, p95",
            "nothing",
            partial(_message, setting.scratch, 200, seconds),
            Bar("at most", 30 * _MILLISECOND),
        ),
        Line(
            "50 who come at once, until the last is paired",
            "nothing",
            partial(_pairing, setting.scratch, 50),
            Bar("at most", 2_000 * _MILLISECOND),
        ),
        Line(
            "the first page in a browser, median",
            "nothing",
            partial(_page, setting.scratch),
            Bar("at most", 300 * _MILLISECOND),
        ),
    ]


def _load() -> str:
    return f"the machine's load is {os.getloadavg()[0]:.1f}"


def _message(scratch: Path, people: int, seconds: int) -> Figure:
    """From one person's browser to the other's; fails if one is lost or comes twice."""
    from birdenv_baselines.bench.web._people import enter, study, talk

    with study(Path(tempfile.mkdtemp(dir=scratch))) as port:
        cookies = [enter(port) for _ in range(people)]
        delays = asyncio.run(talk(port, cookies, seconds)).delays
    p95 = quantiles(delays, n=20)[-1]
    told = f"{len(delays)} messages, none lost or twice; median {median(delays) * 1e3:.1f} ms; {_load()}"
    return time_added(p95, 0.0, note=told)


def _pairing(scratch: Path, people: int) -> Figure:
    from birdenv_baselines.bench.web._people import enter, study, talk

    with study(Path(tempfile.mkdtemp(dir=scratch))) as port:
        cookies = [enter(port) for _ in range(people)]
        paired = asyncio.run(talk(port, cookies, 0)).paired
    return time_added(paired, 0.0, note=f"with the opening of their sockets; {_load()}")


def _page(scratch: Path) -> Figure:
    """In a new context each time: nothing is kept from the page before."""
    from birdenv_baselines.bench.web._people import study

    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise Skip("playwright is not installed") from None
    if chromium is None:
        raise Skip("there is no chromium")
    times = []
    options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with study(Path(tempfile.mkdtemp(dir=scratch))) as port, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=options)
        for _ in range(_LOADS):
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{port}/")
            times.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
            context.close()
        browser.close()
    return time_added(
        median(times) / 1e3, 0.0, note=f"the slowest of {_LOADS}: {max(times):.0f} ms; {_load()}"
    )
