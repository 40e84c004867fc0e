"""Create an HTML file about one run, or about two runs side by side, that works offline."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

from birdenv.report.page_templates import page_templates
from birdenv.report.run_data import episode_data, run_data, script_json
from birdenv.runs.episodes import RunEpisodes

SCRIPTS: Final = ("parts.js", "episode.js", "report.js")
"""The scripts of the page, in order."""


def offline_page(runs: Sequence[RunEpisodes]) -> Iterator[str]:
    """Yield an HTML page about one or two runs, in parts to be concatenated.

    Raises:
        InputError: a record is damaged.
    """
    style = _static("style.css") + _static("report.css")
    script = "".join(map(_static, SCRIPTS))
    template = page_templates("birdenv.report").get_template("report.html")
    titles = " and ".join(f"{each.run.game}: {each.run.agent}" for each in runs)
    yield from template.generate(
        title=titles,
        style=style,
        script=script,
        style_digest=source_digest(style),
        script_digest=source_digest(script),
        overview=script_json([run_data(each) for each in runs]),
        episodes=(
            (f"episode-{number}-{place}", script_json(episode_data(each, name)))
            for number, each in enumerate(runs)
            for place, name in enumerate(each.names)
        ),
    )


def _static(name: str) -> str:
    return (files("birdenv.report") / "static" / name).read_text(encoding="utf-8")


def source_digest(text: str) -> str:
    """Return the digest of an inline style or script, as used in a page's Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
