"""`score`, `bird`, `evaluate` and `regrade` say the same of the same SQL under the same cleaning setting.

Where they may differ, it is by definition, and then by exactly that:

* `ex` of `bird` and of `score`, the mode `multiset` of `evaluate`, and what `regrade` says now are one
  verdict.
* `ex_bird` is always of the SQL as submitted; the mode `bird` of `evaluate` is of the SQL that it ran. They
  are one verdict where cleaning took nothing away.
* ESM is `ex` with `--order ignore`. By default it is the mode `ordered`: it differs where the rows agree, and
  stand in another order than the gold's outermost ORDER BY asks for.
* EX is 0 for what ESM does not attempt (null): an empty prediction; and it is 0 where ESM fails a statement
  that is no query, before running it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from birdenv.demo import DEMO_BIRD_FILE

Command = Callable[..., Any]


class Verdict(NamedTuple):
    ex: bool
    ex_bird: bool


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Commands:
    """The four commands on one set of predictions, under one cleaning setting."""

    def __init__(self, birdenv: Command, databases: Path, folder: Path, clean: bool) -> None:
        self.birdenv, self.databases, self.folder, self.clean = birdenv, databases, folder, clean
        self.pairs = folder / "run_1"
        self.cleaning = ["--clean"] if clean else []
        self.run = Path()

    def call(self, *arguments: object) -> None:
        ran = self.birdenv(*arguments)
        assert ran.code == 0, ran

    def bird(self, *tasks: object) -> dict[str, Verdict]:
        self.call("bird", *tasks, "-o", self.folder / "runs", "--export-pairs", self.pairs, *self.cleaning)
        (self.run,) = (self.folder / "runs").glob("run-*")
        results = {record["instance_id"]: record["result"] for record in lines(self.run / "runs.jsonl")}
        return {name: Verdict(bool(r["ex"]), bool(r["ex_bird"])) for name, r in results.items()}

    def score(self) -> dict[str, Verdict]:
        out = self.folder / "scored" / "pairs.jsonl"
        self.call("score", self.pairs / "pairs.jsonl", self.databases, "--out", out, *self.cleaning)
        return {r["instance_id"]: Verdict(bool(r["ex"]), bool(r["ex_bird"])) for r in lines(out)}

    def evaluate(self, pairs: Path, order: str = "ignore") -> dict[str, dict[str, Any]]:
        cleaning = "--clean" if self.clean else "--no-clean"
        self.call("evaluate", "--run-dir", pairs, "--db", self.databases, "--order", order, cleaning)
        return {r["instance_id"]: r for r in lines(pairs / "eval" / "details.jsonl")}

    def regraded(self) -> dict[str, Any]:
        self.call("regrade", self.run, *self.cleaning)
        found: dict[str, Any] = json.loads((self.run / "regraded.json").read_text())
        return found


def assert_the_same(commands: Commands, *tasks: object) -> tuple[int, int]:
    """All that the module's first lines say; how many are right by EX, and how many out of order."""
    played = commands.bird(*tasks)
    assert commands.score() == played

    ignoring = commands.evaluate(commands.pairs)
    assert list(ignoring) == list(played)
    for name, record in ignoring.items():
        ex, ex_bird = played[name]
        assert bool(record["esm"]) == ex, name
        assert record["modes"].get("multiset", False) == ex, name
        if not record["clean_steps"]["pred"]:
            assert record["modes"].get("bird", False) == ex_bird, name

    in_order = commands.evaluate(commands.pairs, "auto")
    strays = [name for name, record in in_order.items() if record["esm"] != ignoring[name]["esm"]]
    for name in strays:
        record = in_order[name]
        assert (record["esm"], record["modes"]["multiset"], record["modes"]["ordered"]) == (
            False,
            True,
            False,
        )
        assert "order_only" in record["flags"]

    again = commands.evaluate(commands.folder / "scored")
    assert {name: r["esm"] for name, r in again.items()} == {name: r["esm"] for name, r in ignoring.items()}

    regraded = commands.regraded()
    assert regraded["disagreements"] == []
    assert regraded["clean"] == commands.clean
    figures = regraded["figures"]
    assert figures["now"] == figures["as played"]
    passed = sum(ex for ex, _ in played.values())
    assert figures["now"]["ex"] == {"passed": passed, "total": len(played), "accuracy": passed / len(played)}
    return passed, len(strays)


@pytest.mark.parametrize("clean", [False, True], ids=["as it is", "cleaned"])
def test_on_the_demo(birdenv: Command, demo: Path, tmp_path: Path, clean: bool) -> None:
    tasks = tmp_path / "tasks.jsonl"
    by_name, reverse = "SELECT name FROM members ORDER BY name", "SELECT name FROM members ORDER BY name DESC"
    # gold, what is submitted
    cases: list[tuple[str, str | None]] = [
        ("SELECT count(*) FROM members", "SELECT count(*) FROM members"),
        ("SELECT count(*) FROM members", "```sql\nSELECT count(*) FROM members;\n```"),
        ("SELECT count(*) FROM members", "SELECT count(*) FROM members; -- all of them"),
        (by_name, reverse),
        (by_name, by_name),
        ("SELECT card_status FROM members", "SELECT DISTINCT card_status FROM members"),
        ("SELECT name, card_status FROM members", "SELECT card_status, name FROM members"),
        ("SELECT 0.1 + 0.2", "SELECT 0.3"),
        ("SELECT 1 WHERE 0", "SELECT 2 WHERE 0"),
        ("SELECT 1", "SELECT 1 UNION ALL SELECT 2"),
        ("SELECT 1", "SELECT nothing FROM members"),
        ("SELECT 1", "DELETE FROM members"),
        ("SELECT 1", "EXPLAIN SELECT 1"),
        ("SELECT 1", "SELECT 1; SELECT 1"),
        ("SELECT 1", "(SELECT 1)"),
        ("SELECT 1", "VALUES (1)"),
        ("SELECT 1", "None"),
        ("SELECT 1", "the answer is 1"),
        ("SELECT 1", "-- nothing"),
        ("SELECT 1", None),
        ("SELECT 'a\nb'", "SELECT 'a\nb'"),
    ]
    rows = [
        {"question_id": i, "db_id": "library", "question": "?", "SQL": gold, "difficulty": "simple"}
        for i, (gold, _) in enumerate(cases)
    ]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"question_id": i, "sql": sql} for i, (_, sql) in enumerate(cases) if sql is not None]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    commands = Commands(birdenv, demo, tmp_path, clean)
    passed, strays = assert_the_same(
        commands, tasks, demo, "--agent", f"predictions:{tmp_path}/answers.jsonl"
    )
    assert strays == 1
    assert passed == (9 if clean else 8)


def test_on_the_demo_benchmark(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    """What an agent of ours submits on its own tasks."""
    commands = Commands(birdenv, demo, tmp_path, clean=False)
    passed, _ = assert_the_same(commands, demo / DEMO_BIRD_FILE, demo, "--agent", "asks-first")
    assert 0 < passed < 42


# EX of the published predictions on superhero (52 tasks), and with financial (32 more, four of them without
# usable data).
PUBLISHED = {
    ("gpt-4", False): (41, 51),
    ("gpt-4", True): (41, 51),
    ("gpt-4-turbo", False): (29, 40),
    ("gpt-4-turbo", True): (41, 55),
}


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize(
    "names",
    [("superhero",), pytest.param(("superhero", "financial"), marks=pytest.mark.real_tasks)],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("system", "clean"),
    [pytest.param(*key, marks=pytest.mark.real_tasks if key[0] == "gpt-4" else ()) for key in PUBLISHED],
)
def test_on_published_predictions(
    birdenv: Command, shared_data: Path, tmp_path: Path, system: str, clean: bool, names: tuple[str, ...]
) -> None:
    """gpt-4-turbo put many answers into code fences: 15 of its 84 count only once these are taken away."""
    data = shared_data / "mini_dev"
    databases = data / "dev_databases"
    agent = f"predictions:{data}/predictions/predict_mini_dev_{system}_sqlite.json"
    commands = Commands(birdenv, databases, tmp_path, clean)
    chosen = [word for name in names for word in ("--database", name)]
    tasks = (data / "mini_dev_sqlite_2024.json", databases, *chosen)
    passed = PUBLISHED[system, clean][len(names) - 1]
    assert assert_the_same(commands, *tasks, "--agent", agent) == (passed, 0)
