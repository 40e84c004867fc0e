"""`birdenv report`: one file, with nothing private unless it was asked for, whatever an agent wrote."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import HOSTILE, played, records, say_everywhere, secrets_of, write

Command = Callable[..., Any]


class Page(HTMLParser):
    """The elements of a page, and the data in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data: dict[str, Any] = {}
        self._id = ""
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._id = dict(attrs).get("id") or ""

    def handle_endtag(self, tag: str) -> None:
        self._id = ""

    def handle_data(self, data: str) -> None:
        if self._id and self.tags[-1] == "script":
            self.data[self._id] = json.loads(data)


@pytest.fixture
def run(birdenv: Command, tmp_path: Path) -> Path:
    return played(birdenv, tmp_path / "c", "c-interact", "--agent", "asks-first", "-n", "6")


@pytest.fixture
def failed(birdenv: Command, tmp_path: Path) -> Path:
    return played(birdenv, tmp_path / "d", "c-interact", "--agent", "never-asks", "-n", "6")


def test_the_page_holds_no_private_text(birdenv: Command, run: Path, failed: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert birdenv("report", run, failed, "-o", page).code == 0
    text = html.unescape(page.read_text())
    data = Page(page).data
    unescaped = json.dumps(data, ensure_ascii=False)
    secrets = secrets_of(run) | secrets_of(failed)
    assert len(secrets) > 10
    assert not {s for s in secrets if s in text or json.dumps(s, ensure_ascii=False)[1:-1] in unescaped}
    of_gold = "Bela"  # in the gold's rows of library_2, and not in those of the run that failed
    assert of_gold not in json.dumps(data["episode-1-1"]) and of_gold in json.dumps(data["episode-0-1"])
    birdenv("report", run, failed, "-o", page, "--private")
    private = json.dumps(Page(page).data, ensure_ascii=False)
    missing = {s for s in secrets if json.dumps(s, ensure_ascii=False)[1:-1] not in private}
    assert not missing and of_gold in json.dumps(Page(page).data["episode-1-1"])


def test_the_page_asks_nothing_of_a_network(birdenv: Command, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    birdenv("report", run, "-o", page)
    text = page.read_text()
    assert "default-src 'none'" in text
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?!data:)", text)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_figures_and_rows_are_those_of_the_run(birdenv: Command, failed: Path, tmp_path: Path) -> None:
    birdenv("report", failed, "-o", tmp_path / "page.html")
    data = Page(tmp_path / "page.html").data
    [overview] = data["overview"]
    summary = json.loads(birdenv("summary", failed, "--json").out)
    for figure, of in zip(overview["figures"], summary["figures"].values(), strict=True):
        assert figure["title"] == of["title"] and round(figure["value"], 6) == of["value"]
    names = [record["instance_id"] for record in records(failed, "runs")]
    assert [row["name"] for row in overview["rows"]] == names
    assert [data[f"episode-0-{place}"]["name"] for place in range(len(names))] == names
    culprits = json.loads((failed / "private_blame.json").read_text())["culprits"]
    assert overview["blame"] == culprits


def test_the_same_run_gives_the_same_bytes(birdenv: Command, failed: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        birdenv("report", failed, "-o", tmp_path / name, "--private")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize("kind", HOSTILE)
def test_text_of_an_agent_stays_text(birdenv: Command, failed: Path, tmp_path: Path, kind: str) -> None:
    harmless = tmp_path / "harmless.html"
    birdenv("report", failed, "-o", harmless)
    say_everywhere(failed, HOSTILE[kind])
    ran = birdenv("report", failed, "-o", tmp_path / "page.html")
    if kind == "no text":  # such a record is refused wherever it is read
        assert ran.code == 2 or Page(tmp_path / "page.html").data
        return
    page = Page(tmp_path / "page.html")
    assert ran.code == 0 and page.tags == Page(harmless).tags
    said = page.data["episode-0-1"]["turns"][0]["text"]
    assert said == HOSTILE[kind] or (len(said) < 11_000 and "55536 more characters" in said)


def test_other_games_have_pages(birdenv: Command, tmp_path: Path) -> None:
    players = ("--players", "rulebased", "rulebased")
    run = played(birdenv, tmp_path / "m", "selfplay", "mutual-friends", *players, "-n", "1")
    assert birdenv("report", run, "-o", tmp_path / "page.html").code == 0
    shown = Page(tmp_path / "page.html").data["episode-0-0"]
    assert [section["kind"] for section in shown["sections"]] == ["table", "table"]
    assert shown["turns"][0]["text"] and shown["turns"][0]["seat"]


def test_absent_databases_are_said(birdenv: Command, failed: Path, tmp_path: Path) -> None:
    config = json.loads((failed / "config.json").read_text())
    (failed / "config.json").write_text(json.dumps(config | {"db_dir": "/nowhere"}))
    ran = birdenv("report", failed, "-o", tmp_path / "page.html", "--private")
    assert ran.code == 0 and "The databases are missing" in ran.out
    [overview] = Page(tmp_path / "page.html").data["overview"]
    assert any("The databases are missing" in note for note in overview["notes"])


@pytest.mark.slow
def test_runs_that_cannot_be_shown_are_refused(birdenv: Command, run: Path, tmp_path: Path) -> None:
    bird = played(birdenv, tmp_path / "b", "bird", "--agent", "never-asks", "-n", "2")
    page = tmp_path / "page.html"
    assert "specify two runs of the same game" in birdenv("report", run, bird, "-o", page).err
    (tmp_path / "empty").mkdir()
    assert birdenv("report", tmp_path / "empty", "-o", page).code == 2
    write(run, "runs", [])
    assert "no episode has finished yet" in birdenv("report", run, "-o", page).err
    assert not page.exists()


def test_a_torn_run_is_shown_as_far_as_it_is(birdenv: Command, run: Path, tmp_path: Path) -> None:
    whole = (run / "runs.jsonl").read_text()
    (run / "runs.jsonl").write_text(whole[: len(whole) - 100])
    assert birdenv("report", run, "-o", tmp_path / "page.html").code == 0
    [overview] = Page(tmp_path / "page.html").data["overview"]
    assert (overview["done"], overview["expected"]) == (5, 6)
