"""`birdenv ratings` from files and from folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from birdenv.cocoa.corpus import read_dialogues
from birdenv.studies.replay import Records

RATINGS = "dialogue,rater,question,value,system\n" + "".join(
    f"D{dialogue},r{rater},fluent,{1 + (dialogue + rater // 2) % 5},{'xy'[dialogue % 2]}\n"
    for dialogue in range(8)
    for rater in range(3)
)
CHOICES = "left,right,winner,rater\nx,y,left,r1\ny,x,left,r2\nx,y,tie,r1\nx,y,left,r2\n"


def test_ratings_of_files_are_printed_and_drawn(birdenv: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(RATINGS)
    (tmp_path / "b.csv").write_text(CHOICES)
    ran = birdenv("ratings", tmp_path / "a.csv", tmp_path / "b.csv", "--plot", tmp_path / "p.png")
    assert ran.code == 0
    for said in ("fluent: 24 ratings, 8 dialogues, 3 raters", "alpha (ordinal)", "Ranking by 4 comp"):
        assert said in ran.out
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    ran = birdenv("ratings", tmp_path / "a.csv", tmp_path / "b.csv", "--json", "--level", "interval")
    found = json.loads(ran.out)
    assert found["questions"]["fluent"]["krippendorff_alpha"]["level"] == "interval"
    assert set(found["questions"]["fluent"]["systems"]) == {"x", "y"}
    assert [each["player"] for each in found["ranking"]["players"]] == ["x", "y"]


def test_ratings_are_imported_into_a_run(birdenv: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert birdenv("play", "mutual-friends", "--agent", "rulebased", "--limit", "8", "-o", run).code == 0
    names = sorted(each.name for each in read_dialogues(run))
    ran = birdenv("ratings", run)
    assert ran.code == 2 and "has no ratings yet: add some with --import FILE" in ran.err
    (tmp_path / "a.csv").write_text(RATINGS)
    ran = birdenv("ratings", run, "--import", tmp_path / "a.csv")
    assert ran.code == 2 and "the file rates the dialogue 'D0', but " in ran.err
    assert f" contains only {names[0]}, " in ran.err
    text = RATINGS
    for place, name in enumerate(names):
        text = text.replace(f"D{place},", f"{name},")
    (tmp_path / "a.csv").write_text(text)
    for count in (24, 0):
        ran = birdenv("ratings", run, "--import", tmp_path / "a.csv")
        assert (
            ran.code == 0
            and f"Imported: {count} ratings, 0 comparisons" in ran.err
            and "24 rating" in ran.out
        )
    ran = birdenv("ratings", tmp_path / "a.csv", "--import", tmp_path / "a.csv")
    assert ran.code == 2 and "--import needs exactly one run or study folder" in ran.err


def test_dialogues_of_repeats_have_one_id_everywhere(birdenv: Any, tmp_path: Path) -> None:
    run, file, potato = tmp_path / "run", tmp_path / "t.json", tmp_path / "p.jsonl"
    played = ("selfplay", "deal-or-no-deal", "--players", "rulebased", "rulebased", "-n", "8", "--limit", "4")
    assert birdenv(*played, "-o", run).code == 0
    for form, path in (("cocoa", file), ("potato", potato)):
        assert birdenv("export", run, "-f", form, "-o", path).code == 0
    names = [each["uuid"] for each in json.loads(file.read_text())]
    assert names == [json.loads(line)["id"] for line in potato.read_text().splitlines()]
    with Records([run]) as records:
        assert names == [each.dialogue for each in records.all()]
    rows = [f"{name},ann,fluent,{place % 3}" for place, name in enumerate(names)]
    (tmp_path / "r.csv").write_text("\n".join(["dialogue,rater,question,value", *rows]))
    assert birdenv("ratings", run, "--import", tmp_path / "r.csv").code == 0
    of_run = json.loads(birdenv("analyze", run, "--json").out)["correlations"]
    ran = birdenv("analyze", file, "--ratings", tmp_path / "r.csv", "--json")
    assert of_run and json.loads(ran.out)["correlations"] == of_run
