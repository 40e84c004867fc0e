"""The documentation: short where it begins, no dead link, and what it shows is what happens."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from birdenv.cli._main import app
from birdenv.dialogue import games

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES_OF_THE_SITE = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    *(page for page in PAGES_OF_THE_SITE if "{include}" not in page.read_text(encoding="utf-8")),
]
LONGEST_README = 7_000
"""Bytes."""

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_TEST = re.compile(r"^(?:async )?(?:def )?(test_\w+)", re.MULTILINE)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """The page without its blocks of code."""
    return _FENCED.sub("", text(page))


def blocks(page: Path, language: str) -> list[str]:
    return [block for named, block in _FENCED.findall(text(page)) if named == language]


def anchors(page: Path) -> set[str]:
    """The headings as GitHub and the site generators spell them in links."""
    titles = (title for _, title in _HEADING.findall(prose(page)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_is_short() -> None:
    assert len(README.read_bytes()) <= LONGEST_README


@each_page
def test_every_relative_link_resolves(page: Path) -> None:
    dead = []
    for link in _LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert not dead


def test_every_test_that_shows_something_exists() -> None:
    named = re.findall(r"`(test_\w+)`", prose(ROOT / "docs" / "cocoa-checks.md"))
    known = {name for file in (ROOT / "tests").rglob("test_*.py") for name in _TEST.findall(text(file))}
    assert len(named) > 80 and set(named) <= known


@each_page
def test_a_page_has_one_title(page: Path) -> None:
    levels = [len(marks) for marks, _ in _HEADING.findall(prose(page))]
    assert levels[0] == 1
    assert levels.count(1) == 1


def commands(page: Path) -> list[str]:
    """The lines of a page's console blocks that call birdenv."""
    lines = "".join(blocks(page, "console")).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ birdenv ")]


@each_page
def test_commands_and_their_options_exist(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line, comments=True)[1:]
        command: Any = get_command(app)
        while hasattr(command, "commands"):
            command = command.get_command(None, words.pop(0))
        known = {name for parameter in command.params for name in parameter.opts + parameter.secondary_opts}
        if any(parameter.name == "game" for parameter in command.params) and words[0] in games.game_names():
            game = games.find_game(words[0])
            settings = (*game.settings.model_fields, *game.seat_names)
            known |= {"--" + name.replace("_", "-") for name in settings}
        assert not [word for word in words if word.startswith("-") and word not in known], line


def test_the_page_of_speed_is_made_from_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    speed_page = importlib.import_module("speed_page")
    measured = json.loads((ROOT / "docs" / "bench.json").read_text(encoding="utf-8"))
    assert speed_page.page(measured) == text(ROOT / "docs" / "speed.md")


@each_page
def test_metrics_are_spelt_out_on_every_page(page: Path) -> None:
    words = {
        "EX": "execution accuracy",
        "EM": "exact match",
        "ESM": "execution match",
        "R-VES": "efficiency score",
    }
    used = [name for name in words if re.search(rf"(?<![\w-]){name}(?![\w-])", text(page))]
    assert not [name for name in used if words[name] not in text(page).lower()]


def test_the_code_map_names_only_files_that_there_are() -> None:
    rows = [line for line in text(ROOT / "docs" / "code-map.md").splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in re.findall(r"`([^`]+(?:/|\.py|\.toml))`", row.split(" | ")[-1])]
    assert len(named) > 60
    assert not [name for name in named if not ((ROOT / "birdenv" / name).exists() or (ROOT / name).exists())]
