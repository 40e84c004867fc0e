"""The page of a corpus: nothing of others runs in it, and 10,000 dialogues are quick."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from corpora import bargains, event, friends, row

from birdenv.cocoa.corpus import analyse, page
from birdenv.cocoa.corpus._corpus import listed_dialogues
from birdenv.cocoa.corpus._page import CHUNK
from birdenv.studies.ratings._judgements import Judgements
from birdenv.studies.ratings._sources import rated, survey_ratings

HOSTILE = "</script><script>document.title = 'taken'</script><img src=x onerror=alert(1)> & \ud800"


def data_of(html: str, id: str = "data") -> Any:
    found = re.search(rf'<script type="application/json" id="{id}">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def hostile() -> Any:
    rows = [
        row(
            HOSTILE,
            {"uuid": HOSTILE, "attributes": [], "kbs": [[{"Name": HOSTILE}], []]},
            [event(0, 1, "message", HOSTILE), event(0, 2, HOSTILE, {HOSTILE: HOSTILE})],
            {"reward": 1, HOSTILE: 1},
            players=(HOSTILE, "human"),
        )
    ]
    return listed_dialogues(rows, HOSTILE)


def test_texts_of_others_are_data_not_markup() -> None:
    html = page(analyse(hostile()))
    html.encode()  # half a character breaks no file
    scripts = re.findall(
        r"<script( type=\"application/json\" id=\"[\w-]+\")?>(.*?)</script>", html, re.DOTALL
    )
    assert len(scripts) == html.count("<script") == 3 and "<img" not in html
    assert data_of(html)["ids"][0] == f"{HOSTILE}/{HOSTILE}"
    assert data_of(html, "chunk-0")[0]["events"][0][3] == HOSTILE


def test_the_page_asks_no_network() -> None:
    html = page(analyse(friends()))
    outside = re.sub(r'<script type="application/json".*?</script>', "", html, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\s\"'`]+", outside)) == {"http://www.w3.org/2000/svg"}
    assert not re.findall(
        r"<link|@import|url\(|\bfetch\(|XMLHttpRequest|import\(|innerHTML|\beval\(", outside
    )
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert policy is not None and "default-src 'none'" in policy[1] and f"sha256-{digest}" in policy[1]


def test_dialogues_lie_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("birdenv.cocoa.corpus._page.CHUNK", 3)
    many = [replace(friends()[i % 2], id=f"D{i}") for i in range(7)]
    html = page(analyse(many))
    found = [data_of(html, f"chunk-{i}") for i in range(3)]
    assert [len(each) for each in found] == [3, 3, 1] and data_of(html)["chunk"] == 3
    assert found[2][0]["events"][0][3] == friends()[0].events[0].data
    assert "chunk-3" not in html and CHUNK == 100


def test_every_event_judgement_and_survey_stands_there_once() -> None:
    said = [
        event(0, 1, "message", "hello"),
        event(1, 2, "message", "hi"),
        event(0, 3, "select", {"Name": "Ann"}),
    ]
    judged = event(1, 1, "eval", {"utterance": "hello", "labels": {"ok": 1}})
    scenario = {"uuid": "S", "attributes": [], "kbs": [[{"Name": "Ann"}], [{"Name": "Ann"}]]}
    rows = [
        row(f"D{number}", scenario, [*said, judged], {"reward": 1}, surveys={"0": {"fluent": number}})
        for number in range(3)
    ]
    shown = data_of(page(analyse(listed_dialogues(rows, "d"))), "chunk-0")
    for number, each in enumerate(shown):
        assert [found[:4] for found in each["events"]] == [
            [made["agent"], made["time"], made["action"], made["data"]] for made in [*said, judged]
        ]
        assert each["surveys"] == {"0": {"fluent": number}}
    assert len(shown) == 3


def many(count: int) -> list[Any]:
    """Small dialogues, each about a scenario of its own."""
    base = [*friends(), *bargains()]
    return [
        replace(
            base[i % 4], id=f"D{i}", name=f"D{i}", scenario_id=f"S{i // 2}", players=("human", f"bot-{i % 7}")
        )
        for i in range(count)
    ]


def test_figures_are_those_of_the_analysis_for_all_and_for_each_group() -> None:
    """The page does no arithmetic of its own: what it shows is what `analyze --json` prints."""
    made = analyse(many(40))
    found = data_of(page(made))
    by_python = made.to_json()
    [[name, shown]] = found["dialogues"]["figures"][""]
    assert name == "all"
    for measure, (count, value, *ends) in shown.items():
        figure = by_python["figures"][measure]
        assert count and (value, ends or None) == (figure["value"], figure["interval_95"])
    for part, groups in (("dialogues", by_python["by"]), ("seats", by_python["seats"])):
        assert found[part]["figures"].keys() - {""} == groups.keys()
    games = dict(found["dialogues"]["figures"]["game"])
    assert set(games) == {"mutual-friends", "bargain"}
    assert sum(of["events"][0] for of in games.values()) == 40
    script = re.findall(r"<script>(.*?)</script>", page(made), re.DOTALL)[0]
    assert "sqrt" not in script


@contextmanager
def opened(chromium: Any, path: Path) -> Iterator[Any]:
    """The page in Debian's Chromium; an error or a warning of the browser fails the test."""
    faults: list[str] = []
    context = chromium.new_context()
    tab = context.new_page()
    tab.on("console", lambda message: faults.append(message.text))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("request", lambda request: request.url.startswith("file:") or faults.append(request.url))
    tab.goto(path.as_uri())
    try:
        yield tab
    finally:
        context.close()
    assert not faults


@pytest.mark.slow
def test_a_person_filters_reads_and_notes(chromium: Any, tmp_path: Path) -> None:
    dialogues = [*many(200), *hostile()]
    made = analyse(dialogues, rated(Judgements(survey_ratings(dialogues))))
    (tmp_path / "page.html").write_text(page(made))
    with opened(chromium, tmp_path / "page.html") as tab:
        assert (
            tab.title() == "201 dialogues" and tab.locator("#chosen").inner_text() == "201 of 201 dialogues"
        )
        success = made.to_json()["figures"]["success"]
        low, high = (f"{100 * end:.1f} %" for end in success["interval_95"])
        row = tab.locator("#dialogue-figures tr", has_text="Success").first.inner_text()
        assert f"{100 * success['value']:.1f} %" in row and f"{low} .. {high}" in row
        tab.get_by_label("Group by").select_option(label="game")
        assert tab.locator("#dialogue-figures tr", has_text="bargain").count() > 3
        for view in ("Words and acts", "Ratings", "Figures", "Dialogues"):
            tab.get_by_role("button", name=view, exact=True).click()
        tab.locator("#filters label", has_text="outcome").locator("select").select_option(label="failure")
        assert tab.locator("#chosen").inner_text() == "100 of 201 dialogues"
        tab.locator("#filters label", has_text="outcome").locator("select").select_option(label="any")
        tab.locator("#words").fill("onerror")
        tab.locator("#words").press("Enter")
        assert tab.locator("#chosen").inner_text() == "1 of 201 dialogues"
        tab.locator(".list button").click()
        assert "onerror=alert(1)" in tab.locator(".turn").first.inner_text()
        assert tab.locator("#view img").count() == 0
        tab.locator("#dialogue .note input").first.fill("odd, look again")
        tab.locator("#dialogue .note textarea").first.fill("Who wrote this?")
        tab.reload()
        tab.get_by_label("with notes").check()
        assert tab.locator("#chosen").inner_text() == "1 of 201 dialogues"
        tab.get_by_role("button", name="Dialogues", exact=True).click()
        assert tab.locator(".list .tag").all_inner_texts() == ["odd", "look again"]
        with tab.expect_download() as waited:
            tab.get_by_role("button", name="Download notes").click()
        [note] = json.loads(Path(waited.value.path()).read_text())
        assert note["turn"] == 0 and note["note"] == "Who wrote this?"
        assert note["tags"] == ["odd", "look again"]


@pytest.mark.slow
def test_ten_thousand_dialogues_stay_readable(chromium: Any, tmp_path: Path) -> None:
    html = page(analyse(many(10_000)))
    (tmp_path / "page.html").write_text(html)
    print(f"page of 10,000 dialogues: {len(html) / 1e6:.1f} MB")
    with opened(chromium, tmp_path / "page.html") as tab:
        timing = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        tab.get_by_role("button", name="Dialogues", exact=True).click()
        assert tab.locator(".list li").count() == 50  # what is not looked at is not made
        assert tab.evaluate("chunks.size") == 0  # and not parsed
        began = perf_counter()
        tab.locator("#words").fill("pick it up")
        tab.locator("#words").press("Enter")
        assert tab.locator("#chosen").inner_text() == "2500 of 10000 dialogues"
        searched = perf_counter() - began
        tab.get_by_role("button", name="later ›").click()
        tab.locator(".list button").last.click()
        assert tab.locator(".turn").count() == 6
        assert tab.evaluate("chunks.size") <= 21
        nodes = tab.evaluate("document.querySelectorAll('*').length")
        print(f"loaded in {timing:.0f} ms, searched in {1000 * searched:.0f} ms, {nodes} elements")
        assert nodes < 2000
