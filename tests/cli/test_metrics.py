"""`--metrics` of `bird` and `score`, and `self-check`, as a user runs them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.demo import DEMO_BIRD_FILE, demo_folder

Command = Callable[..., Any]


def write_jsonl(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    gold = "SELECT name, card_status FROM members"
    swapped = "SELECT card_status, name FROM members"
    return write_jsonl(
        tmp_path / "pairs.jsonl",
        [
            {"db_id": "library", "gold_sql": gold, "predicted_sql": sql, "difficulty": difficulty}
            for sql, difficulty in ((gold, "simple"), (swapped, "simple"), ("SELECT", "moderate"))
        ],
    )


def test_score_reports_metrics_behind_ex(birdenv: Command, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = birdenv("score", pairs, demo_folder(), "--metrics", "soft-f1,colperm", "--out", out)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0].split() == ["EX", "1/3", "33.3", "%"]
    assert lines[1].startswith("EX (BIRD set)")
    table = {line[:15].strip(): line[15:].split() for line in lines[lines.index("") + 2 :] if line[15:]}
    assert table[""] == ["simple", "moderate", "challenging", "total"]
    assert table["count"] == ["2", "1", "0", "3"]
    assert table["EX"] == ["50.00", "0.00", "-", "33.33"]
    assert table["EX any columns"] == ["100.00", "0.00", "-", "66.67"]
    assert table["Soft-F1"] == ["100.00", "0.00", "-", "66.67"]
    judged = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["colperm"] for record in judged] == [1.0, 1.0, 0.0]
    assert judged[1]["flags"] == ["colorder_only"]
    assert judged[1]["first_difference"]["expected"]
    assert "r_ves" not in judged[0]


def test_score_leaves_golds_that_fail_out_beside_the_references_number(birdenv: Command, pairs: Path) -> None:
    broken = {"db_id": "library", "gold_sql": "SELECT nowhere FROM members", "predicted_sql": "SELECT 1"}
    pairs.write_text(pairs.read_text() + json.dumps(broken | {"difficulty": "simple"}) + "\n")
    lines = birdenv("score", pairs, demo_folder()).out.splitlines()
    assert lines[0].split() == ["EX", "1/3", "33.3", "%"]
    assert lines[2] == "Note: The gold SQL of 1 pair fails or is too slow; such pairs are left out above."
    assert lines[4] == "Over all pairs (golds that fail count as failed, as in the reference)"
    assert lines[5].split() == ["EX", "1/4", "25.0", "%"]


def test_score_measures_r_ves_when_asked(birdenv: Command, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = birdenv("score", pairs, demo_folder(), "--metrics", "r-ves", "--r-ves-runs", 4, "--out", out)
    assert ran.code == 0, ran.err
    assert "depends on this machine" in ran.out
    scores = [json.loads(line)["r_ves"] for line in out.read_text().splitlines()]
    assert scores[0] > 0
    assert scores[1:] == [0, 0]


def test_bird_reports_metrics_beside_ex(birdenv: Command, tmp_path: Path) -> None:
    arguments = ("bird", "--agent", "oracle", "--limit", 3, "--output", tmp_path / "runs")
    ran = birdenv(*arguments, "--metrics", "soft-f1,superset,r-ves", "--r-ves-runs", 3)
    assert ran.code == 0, ran.err
    (folder,) = (tmp_path / "runs").glob("run-*")
    overall = json.loads((folder / "overall.json").read_text())
    assert list(overall["table"]) == ["count", "ex", "ex_bird", "superset", "soft_f1"]
    assert overall["table"]["soft_f1"]["total"] == 100.0
    assert json.loads((folder / "config.json").read_text())["metrics"] == ["superset", "soft_f1"]
    assert "R-VES" in ran.out and "R-VES" not in (folder / "summary.txt").read_text()
    first = json.loads((folder / "runs.jsonl").read_text().splitlines()[0])
    assert first["result"]["metrics"] == {"superset": 1.0, "soft_f1": 1.0}
    assert birdenv(*arguments).code == 0


def test_summary_shows_the_metrics_that_a_run_has(birdenv: Command, tmp_path: Path) -> None:
    """Task by task; what is wrong, or handed in by nobody, has a score of 0."""
    predictions = tmp_path / "predictions.jsonl"
    tasks = json.loads((demo_folder() / DEMO_BIRD_FILE).read_text())[:4]
    sqls = [tasks[0]["SQL"], tasks[1]["SQL"], "SELECT 1 WHERE 0"]
    write_jsonl(
        predictions,
        [{"question_id": t["question_id"], "sql": sql} for t, sql in zip(tasks, sqls, strict=False)],
    )
    agent = f"predictions:{predictions}"
    arguments = ("bird", "--agent", agent, "-n", 4, "-o", tmp_path / "runs", "--repeats", 1)
    ran = birdenv(*arguments, "--metrics", "soft-f1,r-ves,ordered,colperm,superset", "--r-ves-runs", 3)
    assert ran.code == 0, ran.err
    (folder,) = (tmp_path / "runs").glob("run-*")
    speeds = [json.loads(line) for line in (folder / "r_ves.jsonl").read_text().splitlines()]
    assert [(record["r_ves"] > 0, record.get("runs")) for record in speeds] == [
        (True, 3),
        (True, 3),
        (False, None),
        (False, None),
    ]
    assert json.loads((folder / "config.json").read_text())["r_ves_runs"] == 3

    found = json.loads(birdenv("summary", folder, "--json").out)["figures"]
    assert list(found) == ["ex", "ex_bird", "ordered", "colperm", "superset", "soft_f1", "r_ves"]
    assert (found["ordered"]["passed"], found["ordered"]["total"]) == (2, 4)
    assert found["soft_f1"]["value"] == 0.5
    assert found["r_ves"]["value"] == pytest.approx(sum(record["r_ves"] for record in speeds) / 4, abs=1e-6)
    assert found["r_ves"]["total"] == 4
    assert found["soft_f1"]["interval_over_tasks"] is not None
    text = birdenv("summary", folder, "--all").out
    assert "Soft-F1" in text and "Note: R-VES is measured and depends on this machine" in text
    assert "Note: R-VES is measured" in birdenv("compare", folder, folder).out

    assert birdenv(*arguments).code == 0
    plain = json.loads(birdenv("summary", tmp_path / "runs", "--json").out)["figures"]
    assert list(plain) == ["ex", "ex_bird"]
    both = birdenv("compare", folder, tmp_path / "runs", "--json")
    assert list(json.loads(both.out)["differences"]) == ["ex", "ex_bird"]

    with (folder / "r_ves.jsonl").open("w") as file:
        file.write("".join(json.dumps(record) + "\n" for record in speeds[:3]))
    assert (
        "R-VES leaves out 1 episode whose speed was not measured." in birdenv("summary", folder, "--all").out
    )
    (folder / "r_ves.jsonl").write_text('{"instance_id": "x", "r_ves": "fast"}\n')
    ran = birdenv("summary", folder, "--all")
    assert (ran.code, "r_ves.jsonl: record 1" in ran.err) == (2, True)


@pytest.mark.parametrize("command", [("bird",), ("score", "pairs.jsonl", ".")])
def test_an_unknown_metric_is_named(birdenv: Command, command: tuple[str, ...]) -> None:
    ran = birdenv(*command, "--metrics", "soft-f2")
    assert ran.code == 2
    assert "soft-f2" in ran.err and "soft-f1" in ran.err and "r-ves" in ran.err


def test_self_check_of_the_demo(birdenv: Command) -> None:
    ran = birdenv("self-check", demo_folder() / DEMO_BIRD_FILE, demo_folder())
    assert ran.code == 0, ran.out
    assert "42/42 golds pass their own grading (100.0 %)" in ran.out


def test_self_check_says_which_golds_are_at_fault(birdenv: Command, tmp_path: Path) -> None:
    golds: list[Any] = [
        "SELECT name FROM members",
        "SELECT nam FROM members",
        ["SELECT 1 WHERE 0", "SELECT date('now')"],
        "SELECT random()",
        "SELECT name FROM members ORDER BY card_status LIMIT 1",
        None,
    ]
    tasks = write_jsonl(
        tmp_path / "tasks.jsonl",
        [
            {"question_id": i, "db_id": "library", "question": "?", "SQL": gold, "difficulty": "simple"}
            for i, gold in enumerate(golds)
        ],
    )
    out = tmp_path / "found.json"
    ran = birdenv("self-check", tasks, demo_folder(), "--out", out)
    assert ran.code == 1
    assert "4/6 golds pass" in ran.out
    for words in (
        "1 do not run",
        "no such column: nam",
        "1 do not pass their own grading",
        "2 read the clock",
        "two runs differed",
        "2 gold 1",
        "the LIMIT cuts through a tie",
        "1 task without gold SQL: not checked",
    ):
        assert words in ran.out
    found = json.loads(out.read_text())
    assert (found["golds"], found["passed"], len(found["checks"])) == (6, 4, 6)
    assert birdenv("self-check", tasks, demo_folder(), "--limit", 1).code == 0
    assert birdenv("self-check", tasks, demo_folder(), "--database", "nowhere").code == 2
