"""`birdenv analyze` over runs, studies and files."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from birdenv.cocoa.corpus import analyse, page
from birdenv.cocoa.corpus._corpus import run_dialogues
from birdenv.studies.study._store import open_store


def test_a_run_is_analysed_and_nothing_private_is_in_its_page(birdenv: Any, tmp_path: Path) -> None:
    assert birdenv("c-interact", "--agent", "asks-first", "--limit", "2", "-o", tmp_path / "run").code == 0
    ran = birdenv("analyze", tmp_path / "run", "--html", tmp_path / "page.html", "--json")
    assert ran.code == 0 and "Written:" in ran.err
    figures = json.loads(ran.out)["figures"]
    assert figures["ambiguities"]["value"] > 0 and 0 < figures["disclosed"]["value"] <= 1
    assert figures["questions_per_ambiguity"]["value"] == (
        figures["questions"]["value"] / figures["ambiguities"]["value"]
    )
    folder = next((tmp_path / "run").glob("run-*"))
    html = (tmp_path / "page.html").read_text()
    for line in (folder / "private.jsonl").read_text().splitlines():
        record = json.loads(line)
        granted = [snippet for entry in record["log"] for snippet in entry.get("granted", ())]
        assert granted
        for secret in (*record["gold_sql"], *record["follow_up_gold_sql"], record["clear_query"], *granted):
            shown = json.dumps(secret)[1:-1]
            for sign in "<>&":
                shown = shown.replace(sign, f"\\u{ord(sign):04x}")
            assert shown not in html
    [first, *_] = run_dialogues(folder)
    leaked = {**first.scenario, "gold_sql": "SELECT 'secret'", "kbs": [{}, {"sql": "secret"}]}
    assert "secret" not in page(analyse([replace(first, scenario=leaked)]))


def test_runs_are_set_side_by_side_with_ratings(birdenv: Any, tmp_path: Path) -> None:
    for name in ("rulebased", "rulebased:2"):
        played = ("play", "mutual-friends", "--agent", name, "--limit", "3", "-o", tmp_path / name[-1])
        assert birdenv(*played).code == 0
    export = ("export", tmp_path / "d", "-f", "cocoa", "-o", tmp_path / "d.json")
    assert birdenv(*export).code == 0
    ids = [each["uuid"] for each in json.loads((tmp_path / "d.json").read_text())]
    rows = [f"{id},r{r},fluent,{r + place}" for place, id in enumerate(ids) for r in (1, 2)]
    (tmp_path / "r.csv").write_text("\n".join(["dialogue,rater,question,value", *rows]))
    ran = birdenv("analyze", tmp_path / "d", tmp_path / "2", "--ratings", tmp_path / "r.csv")
    assert ran.code == 0
    for said in (
        "6 dialogues: mutual-friends",
        "agent_0: rulebased:2",
        "Success by source",
        "alpha (ordinal)",
    ):
        assert said in ran.out
    ran = birdenv("analyze", tmp_path / "d.json", "--json")
    assert json.loads(ran.out)["dialogues"] == 3
    (tmp_path / "more.csv").write_text("\n".join(["dialogue,rater,question,value", *rows, "E_x,r1,fluent,9"]))
    ran = birdenv("analyze", tmp_path / "d", "--ratings", tmp_path / "more.csv", "--json")
    assert "9" not in json.loads(ran.out)["ratings"]["questions"]["fluent"]["answers"]
    (tmp_path / "r.csv").write_text("dialogue,rater,question,value\nE_x,r1,fluent,5\n")
    ran = birdenv("analyze", tmp_path / "d", "--ratings", tmp_path / "r.csv")
    assert ran.code == 2 and "rates none of these dialogues: it rates 'E_x', for example" in ran.err


def test_what_is_no_corpus_is_one_line(birdenv: Any, tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text('[{"uuid": "X"')
    (tmp_path / "open.json").write_text('[{"uuid')
    (tmp_path / "r.csv").write_text("dialogue,rater")
    for path, said in (
        (tmp_path, "is not a run"),
        (
            tmp_path / "torn.json",
            "is not JSON: Expecting ',' delimiter at column 14; the file may be cut off",
        ),
        (tmp_path / "open.json", "is not JSON: Unterminated string starting at column 3; the file may be"),
        (tmp_path / "r.csv", "r.csv: line 1 is not JSON: Expecting value at column 1\n"),
        (tmp_path / "no", "no such"),
    ):
        ran = birdenv("analyze", path)
        assert ran.code == 2 and said in ran.err and ran.err.count("\n") == 1


def test_a_study_is_analysed_with_its_surveys(birdenv: Any, tmp_path: Path) -> None:
    assert (
        birdenv("play", "bargain", "--agent", "rulebased", "--limit", "2", "-o", tmp_path / "run").code == 0
    )
    assert birdenv("export", tmp_path / "run", "-f", "cocoa", "-o", tmp_path / "d.json").code == 0
    with stored_study(tmp_path, "bargain", {"limit": 2}, tmp_path / "d.json") as db:
        for place in range(2):
            db.execute(
                "INSERT INTO survey VALUES (?, 0, ?)", (f"D{place}", json.dumps({"fluent": 3 + place}))
            )
    found = json.loads(birdenv("analyze", tmp_path, "--json").out)
    assert found["dialogues"] == 2 and found["figures"]["success"]["value"] == 1
    assert found["figures"]["seconds"]["value"] > 1  # the times of a study are seconds
    assert set(found["seats"]["seat"]) == {"buyer: human", "seller: rulebased"}
    assert found["ratings"]["questions"]["fluent (survey)"]["systems"]["rulebased"]["value"] == 3.5
    rated = birdenv("ratings", tmp_path, "--json")
    assert json.loads(rated.out)["questions"]["fluent (survey)"]["systems"]["rulebased"]["value"] == 3.5
    (tmp_path / "more.csv").write_text("dialogue,rater,question,value\nD0,somebody,fluent,1\n")
    rated = birdenv("ratings", tmp_path, "--import", tmp_path / "more.csv")
    assert "Imported: 1 rating, 0 comparisons" in rated.err
    for said in ("fluent (survey): 2 ratings, 2 dialogues", "fluent: 1 rating, 1 dialogue, 1 rater"):
        assert said in rated.out


@pytest.mark.parametrize("game", ["c-interact", "a-interact"])
def test_dialogues_without_a_question_belong_to_the_game_of_their_study(
    birdenv: Any, tmp_path: Path, game: str
) -> None:
    """In a file that does not name the game, a dialogue without a question looks like one of BIRD."""
    rows = []
    for agent in ("asks-first", "never-asks"):
        run, file = tmp_path / agent, tmp_path / f"{agent}.json"
        assert birdenv(game, "--agent", agent, "--limit", "1", "-o", run).code == 0
        assert birdenv("export", run, "-f", "cocoa", "-o", file).code == 0
        rows += json.loads(file.read_text())
    (tmp_path / "both.json").write_text(json.dumps(rows))
    stored_study(tmp_path, game, {}, tmp_path / "both.json").close()
    asked = [sum(event["action"] == "clarify" for event in row["events"]) for row in rows]
    assert asked[0] and not asked[1]
    ran = birdenv("analyze", tmp_path)
    assert ran.code == 0 and f"2 dialogues: {game}\n" in ran.out
    questions = json.loads(birdenv("analyze", tmp_path, "--json").out)["figures"]["questions"]
    assert (questions["counted"], questions["value"]) == (2, asked[0] / 2)


def stored_study(folder: Path, game: str, settings: dict[str, Any], file: Path) -> sqlite3.Connection:
    """Store the dialogues of a file as those of a study, and return its database."""
    store = open_store(folder)
    store.setting("game", json.dumps({"game": game, "settings": settings}))
    store.close()
    with sqlite3.connect(folder / "study.sqlite") as db:
        for place, each in enumerate(json.loads(file.read_text())):
            id, players, outcome = f"D{place}", list(each["agents"].values()), json.dumps(each["outcome"])
            db.execute(
                "INSERT INTO dialogue VALUES (?, ?, 'rule', 0, ?, 1, 2, 'completed', ?, '[0, 0]')",
                (id, each["scenario_uuid"], json.dumps(["human", players[1]]), outcome),
            )
            for number, event in enumerate(each["events"]):
                event["time"] += 1.7e9
                db.execute(
                    "INSERT INTO move VALUES (?, ?, ?, NULL, ?, 'null', ?)",
                    (id, number, event["agent"], event["action"], json.dumps(event)),
                )
    return db


def test_one_dialogue_is_counted_in_the_singular(birdenv: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert birdenv("play", "mutual-friends", "--agent", "rulebased", "--limit", "1", "-o", run).code == 0
    assert "\n1 dialogue: mutual-friends\n" in birdenv("analyze", run).out
    ran = birdenv("export", run, "-f", "rl", "-o", tmp_path / "rl.jsonl")
    assert ran.out.startswith("1 row of 1 episode: ")
