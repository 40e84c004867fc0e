"""The documentation: short where it begins, no dead link, and what it shows is what happens."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from birdenv.cli import main
from birdenv.cli._main import app
from birdenv.dialogue import games

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
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


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in _LINK.findall(text(index))}
    assert not [page for page in PAGES if page != index and page not in linked]


@each_page
def test_python_blocks_run_and_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "_registered", dict(games._registered))  # a page registers a game
    namespace: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(block, namespace)
        assert capsys.readouterr().out in text(page)


def test_the_readmes_agent_plays_as_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [agent] = [block for block in blocks(README, "python") if "def agent(view)" in block]
    (tmp_path / "mine.py").write_text(agent, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    play, summary = [line.partition("#")[0] for line in commands(README) if "mine" in line]
    for command in (play, summary):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert ended.value.code in (None, 0), printed.err
        assert "broke off" not in printed.err


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
        if command.context_settings.get("ignore_unknown_options"):
            game = games.find_game(words[0])
            settings = (*game.settings.model_fields, *game.seat_names)
            known |= {"--" + name.replace("_", "-") for name in settings}
        assert not [word for word in words if word.startswith("-") and word not in known], line


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


def _rate(transcripts: str, ratings: str) -> None:
    """Two raters who mostly agree, in the columns that the page names."""
    rows = ["dialogue,rater,question,value"]
    for number, dialogue in enumerate(json.loads(Path(transcripts).read_text(encoding="utf-8"))):
        rows += [f"{dialogue['uuid']},ann,fluency,{1 + number % 5}"]
        rows += [f"{dialogue['uuid']},bea,fluency,{1 + (number + number % 3) % 5}"]
    Path(ratings).write_text("\n".join(rows), encoding="utf-8")


@pytest.mark.slow
def test_the_walkthrough_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands(ROOT / "docs" / "cocoa-walkthrough.md"):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        if "ratings.csv" in command:
            _rate("transcripts.json", "ratings.csv")
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert ended.value.code in (None, 0), (command, printed.err)
        assert printed.out, command
    made = ("transcripts.json", "chats.jsonl", "items.jsonl", "bargain.json", "ratings.csv", "page.html")
    assert all((tmp_path / name).stat().st_size > 1000 for name in made)


def test_the_code_map_names_only_modules_that_there_are() -> None:
    room = None
    for line in text(ROOT / "docs" / "code-map.md").splitlines():
        if line.startswith("## "):
            room = [ROOT / name.strip() for name in line[3:].partition(":")[0].split(" and ")]
        elif line.startswith("| `") and room:
            first = line.split("|")[1]
            folders, files = re.findall(r"`(\S+)/`", first), re.findall(r"`(\w+)`", first)
            places = [base / folder for base in (ROOT / "birdenv", *room) for folder in folders] or room
            for file in files:
                found = [place / f"{file}.py" for place in places if (place / f"{file}.py").is_file()]
                assert found, f"{first}: there is no {file}"
