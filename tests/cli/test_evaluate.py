"""`birdenv evaluate` and `birdenv inspect`: the files, the console block, exit codes, and no password."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_server import PASSWORD, Postgres, start_postgres

Command = Callable[..., Any]

PAIRS = [
    ("SELECT name FROM item WHERE id = 1", "select name from item where id = 1;"),
    ("SELECT name FROM item WHERE id = 1", "SELECT max(name) FROM item WHERE id = 1"),
    ("SELECT id FROM item", "SELECT id FROM item WHERE id > 1"),
    ("None", "None"),
    ("SELECT 1", ""),
    ("SELECT 1", "DROP TABLE item"),
    ("SELECT absent FROM item", "SELECT 1"),
    ("SELECT 1", "SELECT absent FROM item"),
    ("SELECT 1", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"),
]
BLOCK = """\
[evalx] Using run_dir: {folder}
=== EVAL SUMMARY ===
total: 9
empty_preds: 1 ; unanswerable: 1
EM  - 2/9 22.2% (of attempted: 2/8 25.0%)
ESM - 3/9 33.3% (of attempted: 3/7 42.9%)

=== ESM breakdown ===
          ok: 3
    mismatch: 1
     skipped: 1
  non_select: 1
   gold_fail: 1
   pred_fail: 1
     timeout: 1
 other_error: 0

EM: exact match, the text of two queries.
ESM: execution match, the rows that two queries return.
"""


def make_run(folder: Path, pairs: list[tuple[str, str]] = PAIRS) -> Path:
    folder.mkdir(parents=True)
    (folder / "gold.txt").write_text("".join(f"{gold}\n" for gold, _ in pairs))
    (folder / "preds.txt").write_text("".join(f"{pred}\n" for _, pred in pairs))
    return folder


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run" / "run_20260101_000000")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE item (id, name); INSERT INTO item VALUES (1, 'pen'), (2, 'ink');")
    connection.close()
    return path


@pytest.fixture(scope="module")
def postgres() -> Postgres:
    return start_postgres()


def details(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "eval" / "details.jsonl").read_text().splitlines()]


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "eval" / "eval_summary.json").read_text())
    return found


def refused(ran: Any, *says: str) -> None:
    assert ran.code == 2, ran
    assert ran.err.startswith("Error: "), ran.err
    assert ran.err.count("\n") == 1
    for part in says:
        assert part in ran.err


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_evaluate(birdenv: Command, run_dir: Path, database: Path, engine: str) -> None:
    where = ["--db", database] if engine == "sqlite" else ["--dsn", start_postgres().reader]
    ran = birdenv("evaluate", "--run-dir", run_dir, *where, "--exec-timeout", "0.5")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == BLOCK.format(folder=run_dir)

    records = details(run_dir)
    assert [record["idx"] for record in records] == list(range(9))
    assert list(records[0])[:7] == ["idx", "pred_sql", "gold_sql", "em", "esm", "etm", "error"]
    buckets = "ok ok mismatch ok skipped non_select gold_fail pred_fail timeout".split()
    assert [record["bucket"] for record in records] == buckets
    assert records[0]["clean_steps"] == {"gold": [], "pred": ["semicolon"]}
    assert (records[0]["rows_gold"], records[0]["modes"]["multiset"], records[0]["etm"]) == (1, True, None)
    assert records[8]["ms_pred"] >= 500
    of_second_run = ": the second run, alone and with twice the limit of 0.5 s"
    assert records[8]["error"].endswith(
        of_second_run if engine == "sqlite" else "stopped after 0.5 s of wall time"
    )

    found = summary(run_dir)
    assert found["counts"] == {
        "em": {"pass": 2, "fail": 6},
        "esm": {"pass": 3, "fail": 4},
        "etm": {"pass": 0, "fail": 0},
    }
    assert found["rates"]["esm"] == {"attempted": 7, "pass_pct_total": 33.3, "pass_pct_attempted": 42.9}
    assert (found["skips"], found["errors"]) == ({"empty_pred": 1, "unanswerable": 1}, 3)
    assert sum(found["esm_breakdown"].values()) == found["total"] == 9
    assert found["rates"]["esm"]["attempted"] == found["total"] - sum(r["esm"] is None for r in records)
    assert found["config"]["exec_timeout"] == 0.5
    assert found["versions"]["engine"].lower().startswith(engine)
    canon = (run_dir / "eval" / "canon" / "preds.txt").read_text().split("\n")
    assert canon[0].lower() == "select name from item where id = 1", "what EM compares"
    assert canon[0].startswith("SELECT ")
    assert canon[3] == "None"
    ran_sql = (run_dir / "eval" / "canon" / "ran_preds.txt").read_text().split("\n")
    assert ran_sql[0] == "select name from item where id = 1", "what ran"
    assert len(canon) == len(ran_sql) == 10


@pytest.mark.slow
def test_the_newest_run_and_inspect(birdenv: Command, run_dir: Path, database: Path) -> None:
    root = run_dir.parent
    incomplete = root / "run_20270101_000000"
    incomplete.mkdir()
    ran = birdenv("evaluate", "--runs-root", root, "--db", database, "--exec-timeout", "0.3")
    assert ran.code == 0
    assert ran.out.startswith(f"[evalx] Using run_dir: {run_dir}\n")
    assert ran.err.count("\n") == 1
    assert f"Warning: skipped {incomplete}" in ran.err

    ran = birdenv("inspect", "--runs-root", root, "--max-examples", "1")
    assert ran.code == 0
    assert ran.out.startswith(f"[inspect] run_dir = {run_dir}\n\n=== ESM issue breakdown ===\n")
    assert "          ok:   3  ( 33.3%)\n" in ran.out
    assert "[pred_fail]\n- idx=7 em=False esm=False\n  error: missing: no such column" in ran.out
    assert "[mismatch]\n- idx=2" in ran.out
    assert "[ok]" not in ran.out
    assert "idx=" not in birdenv("inspect", "--run-dir", run_dir, "--max-examples", "0").out


def test_figures_of_a_third_metric_in_older_files_are_shown(birdenv: Command, run_dir: Path) -> None:
    record = {"idx": 0, "em": False, "esm": False, "etm": True, "bucket": "mismatch"}
    (run_dir / "eval").mkdir()
    (run_dir / "eval" / "details.jsonl").write_text(json.dumps(record) + "\n")
    ran = birdenv("inspect", "--run-dir", run_dir)
    assert ran.code == 0 and "- idx=0 em=False esm=False etm=True\n" in ran.out


@pytest.mark.parametrize("name", ["eval", "eval/details.jsonl", "eval/canon/gold.txt"])
def test_nothing_is_written_through_links(birdenv: Command, run_dir: Path, tmp_path: Path, name: str) -> None:
    run = tmp_path / "runs" / "run-1"
    run.mkdir(parents=True)
    (run / "config.json").write_text("{}")
    for folder, given in ((run_dir, run_dir), (run, run), (run, run.parent)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "mine")
        refused(birdenv("evaluate", given, "--no-esm"), f"{folder / name} is a link")
        assert not (tmp_path / "mine").exists()


def test_without_esm_no_database_is_needed(birdenv: Command, run_dir: Path) -> None:
    ran = birdenv("evaluate", "--run-dir", run_dir, "--no-esm")
    assert ran.code == 0, ran
    assert "\nESM - not computed (--no-esm)\n" in ran.out
    assert "breakdown" not in ran.out
    found = summary(run_dir)
    assert found["esm_breakdown"]["skipped"] == found["total"]
    assert found["counts"]["em"] == {"pass": 2, "fail": 6}
    dead = "postgresql://u:hunter2@127.0.0.1:1/db"
    assert birdenv("evaluate", "--run-dir", run_dir, "--no-esm", "--dsn", dead).code == 0
    assert summary(run_dir)["config"]["dialect"] == "postgres"


def test_switches(birdenv: Command, tmp_path: Path, database: Path) -> None:
    pairs = [
        ("SELECT id FROM item ORDER BY id", "SELECT id FROM item ORDER BY id DESC"),
        ("SELECT max(id) FROM item", "SELECT 'x', max(id) FROM item"),
        ("None", "null"),
        ("SELECT id FROM item", "```sql SELECT ID FROM item ```"),
    ]
    folder = make_run(tmp_path / "r", pairs)

    def buckets(*options: str) -> list[str]:
        ran = birdenv("evaluate", "--run-dir", folder, "--db", database, *options)
        assert ran.code == 0, ran
        return [record["bucket"] for record in details(folder)]

    assert buckets() == ["mismatch", "mismatch", "mismatch", "ok"]
    assert buckets("--order", "ignore", "--relax-single") == ["ok", "ok", "mismatch", "ok"]
    assert buckets("--none-aliases", "none,null")[2] == "ok"
    assert buckets("--no-clean")[3] == "non_select"
    assert buckets("--em-level", "folded")[3] == "ok"
    assert [record["em"] for record in details(folder)] == [False, False, False, True]
    ran = birdenv("evaluate", "--run-dir", folder, "--db", database, "--no-em")
    assert "\nEM  - not computed (--no-em)\n" in ran.out


def test_what_esm_may_forgive(birdenv: Command, tmp_path: Path, database: Path) -> None:
    pairs = [
        ("SELECT 'Pen '", "SELECT 'pen'"),
        ("SELECT '2024-01-02'", "SELECT '2024-01-02 00:00:00'"),
        ("SELECT 'pen'", "SELECT 'ink'"),
    ]
    folder = make_run(tmp_path / "r", pairs)

    def passed(*options: str) -> list[bool]:
        ran = birdenv("evaluate", "--run-dir", folder, "--db", database, *options)
        assert ran.code == 0, ran
        assert not any(record["modes"]["bird"] for record in details(folder)), "the set rule stays exact"
        return [record["esm"] for record in details(folder)]

    assert passed() == [False, False, False]
    assert passed("--trim") == [False, False, False]
    assert passed("--trim", "--casefold") == [True, False, False]
    assert passed("--dates", "loose", "--nfc") == [False, True, False]
    loose = {"trim": False, "casefold": False, "nfc": True, "dates": True}
    assert summary(folder)["config"]["normalisation"] == loose


def test_orders_that_nobody_can_check_are_counted(birdenv: Command, tmp_path: Path, database: Path) -> None:
    gold = "SELECT name FROM item ORDER BY id"
    folder = make_run(tmp_path / "run", [(gold, f"{gold} DESC"), (gold, gold)])
    ran = birdenv("evaluate", "--run-dir", folder, "--db", database)
    assert "ESM - 2/2" in ran.out and "\n1 passed with rows in a different order" in ran.out
    assert summary(folder)["order_unchecked"] == 1


def test_inspect_of_another_game_says_where_its_figures_are(birdenv: Command, tmp_path: Path) -> None:
    assert birdenv("c-interact", "--agent", "oracle", "-n", "1", "-o", tmp_path).code == 0
    refused(birdenv("inspect", "--run-dir", tmp_path), "a run of c-interact", "birdenv summary")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_several_at_the_same_time(birdenv: Command, run_dir: Path, database: Path, engine: str) -> None:
    """The same verdicts in the same order, whoever is first."""
    found = []
    where = ["--db", database] if engine == "sqlite" else ["--dsn", start_postgres().reader]
    for parallel in (1, 4):
        arguments = ("--run-dir", run_dir, *where, "--exec-timeout", "0.2")
        ran = birdenv("evaluate", *arguments, "--parallel", parallel)
        assert ran.code == 0, ran
        found.append(([{**record, "ms_gold": 0, "ms_pred": 0} for record in details(run_dir)], ran.out))
    assert found[0] == found[1]


def test_from_predictions_to_evaluation(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run" / "run_1"
    ran = birdenv("bird", "--agent", "oracle", "-n", "5", "-o", tmp_path / "out", "--export-pairs", folder)
    assert ran.code == 0, ran
    assert f"birdenv evaluate {folder} --db {demo}" in ran.out
    (tmp_path / "run" / "run_2").mkdir()  # without pairs
    for where in ([tmp_path / "run"], ["--runs-root", tmp_path / "run"]):
        ran = birdenv("evaluate", *where, "--db", demo)
        assert ran.code == 0 and f"Using run_dir: {folder}\n" in ran.out, ran
    assert "\nESM - 5/5 100.0% (of attempted: 5/5 100.0%)\n" in ran.out
    assert all(record["db_id"] and record["instance_id"] for record in details(folder))


def test_options_may_be_written_with_underscores(birdenv: Command, run_dir: Path, database: Path) -> None:
    """As the reference writes them; help shows dashes."""
    options = {"run_dir": run_dir, "exec_timeout": 0.3, "em_level": "folded", "none_aliases": "none"}
    found = []
    for change in (("_", "_"), ("_", "-")):
        given = [part for name, value in options.items() for part in (f"--{name.replace(*change)}", value)]
        ran = birdenv("evaluate", *given, f"--{'no_esm'.replace(*change)}")
        assert ran.code == 0, ran
        found.append((ran.out, details(run_dir)))
    assert found[0] == found[1]
    for command in ("evaluate", "inspect", "bird", "c-interact"):
        assert not re.search(r"--\w+_", birdenv(command, "--help").out)


def test_a_run_of_birdenv_is_a_folder_of_pairs(birdenv: Command, tmp_path: Path) -> None:
    results = tmp_path / "out"
    assert birdenv("bird", "--agent", "oracle", "-n", "3", "-o", results).code == 0
    run = results / (results / "latest").readlink()
    for named in (results, run):
        ran = birdenv("evaluate", named)
        assert ran.code == 0, ran
        assert f"run_dir: {run}\n" in ran.out
        assert "\nESM - 3/3 100.0% (of attempted: 3/3 100.0%)\n" in ran.out
        assert birdenv("evaluate", "--run-dir", named).out == ran.out
        for where in ((named,), ("--run-dir", named)):
            assert birdenv("inspect", *where).out.startswith(f"[inspect] run_dir = {run}\n")
    refused(birdenv("inspect", run, "--run-dir", run), "RUN and --run-dir")
    assert birdenv("c-interact", "--agent", "oracle", "-n", "1", "-o", tmp_path / "c").code == 0
    refused(birdenv("evaluate", "--run-dir", tmp_path / "c"), "only runs of bird")


def test_files_that_disagree(birdenv: Command, run_dir: Path, database: Path) -> None:
    records = [{"gold_sql": gold, "predicted_sql": pred} for gold, pred in PAIRS]
    records[5]["predicted_sql"] = "SELECT 5"
    (run_dir / "pairs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    evaluate = ("evaluate", "--run-dir", run_dir, "--db", database, "--no-esm")
    refused(birdenv(*evaluate), "pair 5: 'SELECT 5' and 'DROP TABLE item'", "--source")
    refused(birdenv(*evaluate, "--source", "both"), "auto, pairs, lines")
    for source, pred in (("pairs", "SELECT 5"), ("lines", "DROP TABLE item")):
        assert birdenv(*evaluate, "--source", source).code == 0
        assert details(run_dir)[5]["pred_sql"] == pred


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--exec-timeout", "0"], "above 0"),
        (["--exec-timeout", "-1"], "above 0"),
        (["--exec-timeout", "nan"], "above 0"),
        (["--em-level", "loose"], "strict, conservative, folded"),
        (["--order", "random"], "auto, ignore"),
        (["--dates", "free"], "exact, loose"),
        (["--dsn", "postgresql://u:hunter2@h/db"], "not both"),
        (["--db", "/no/such/file"], "/no/such/file"),
        (["--run-dir", "/no/such/run"], "no such directory"),
    ],
)
def test_options(birdenv: Command, run_dir: Path, database: Path, arguments: list[str], says: str) -> None:
    ran = birdenv("evaluate", "--run-dir", run_dir, "--db", database, *arguments)
    refused(ran, says)
    assert "hunter2" not in ran.err
    assert not (run_dir / "eval").exists()


def test_no_database_no_run_no_details(
    birdenv: Command, run_dir: Path, database: Path, tmp_path: Path
) -> None:
    refused(birdenv("evaluate", "--run-dir", run_dir), "--dsn", "--db", "--no-esm")
    refused(birdenv("evaluate", "--runs-root", tmp_path / "none", "--no-esm"), "--run-dir", "--runs-root")
    refused(birdenv("evaluate", "--run-dir", run_dir, "--db", tmp_path), "pairs.jsonl")
    refused(birdenv("inspect", "--run-dir", run_dir), "birdenv evaluate")
    pointer = tmp_path / "pointer.sqlite"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    refused(birdenv("evaluate", "--run-dir", run_dir, "--db", pointer), "git lfs pull")
    (run_dir / "preds.txt").write_text("SELECT 1\n")
    refused(birdenv("evaluate", "--run-dir", run_dir, "--db", database), "9 lines", "--allow-truncate")
    ran = birdenv("evaluate", "--run-dir", run_dir, "--db", database, "--allow-truncate")
    assert (ran.code, summary(run_dir)["total"]) == (0, 1)


def test_output_that_cannot_be_written(birdenv: Command, run_dir: Path, database: Path) -> None:
    (run_dir / "eval").write_text("")
    refused(birdenv("evaluate", "--run-dir", run_dir, "--db", database), "eval")


def test_details_that_are_damaged(birdenv: Command, run_dir: Path) -> None:
    path = run_dir / "eval" / "details.jsonl"
    path.parent.mkdir()
    good = '{"idx": 0, "bucket": "mismatch", "gold_sql": "SELECT \\u001b[31m", "more": 1}\n'
    for end in ("", "\n", "\r\n\n", "\0\0\0"):
        path.write_text(good + '{"idx": 1, "buck' + end)
        ran = birdenv("inspect", "--run-dir", run_dir)
        assert ran.code == 0, ran
    assert "    mismatch:   1  (100.0%)" in ran.out
    assert "\x1b" not in ran.out
    path.write_text('{"idx": 1, "buck\n' + good)
    refused(birdenv("inspect", "--run-dir", run_dir), "line 1")
    path.write_text('{"idx": 1, "esm": true}\n')
    refused(birdenv("inspect", "--run-dir", run_dir), "re-evaluate the run")


def assert_nowhere(secret: str, ran: Any, folder: Path) -> None:
    assert secret not in ran.out + ran.err
    for path in folder.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("fault", ["password", "port", "host", "user"])
def test_a_database_out_of_reach(birdenv: Command, run_dir: Path, postgres: Postgres, fault: str) -> None:
    secret = "hunter2/ @:%?#" if fault == "password" else PASSWORD
    dsn = {
        "password": postgres.dsn(password=secret),
        "port": postgres.dsn(host="127.0.0.1", port="1"),
        "host": postgres.dsn(host="no-such-host.invalid"),
        "user": postgres.dsn(user="nobody_here"),
    }[fault]
    if fault == "user":  # known to nobody, and trusted to come in
        dsn = dsn.replace("nobody_here", "reader").replace("/postgres?", "/no_such_database?")
    ran = birdenv("evaluate", "--run-dir", run_dir, "--dsn", dsn)
    assert ran.code == 3, ran
    assert ran.err.startswith("Error: cannot connect to ")
    assert ran.err.count("\n") == 1
    assert not (run_dir / "eval").exists()
    assert_nowhere(secret, ran, run_dir)


def test_the_password_is_nowhere(birdenv: Command, run_dir: Path, postgres: Postgres) -> None:
    ran = birdenv("evaluate", "--run-dir", run_dir, "--dsn", postgres.reader, "--exec-timeout", "0.3")
    assert ran.code == 0
    assert "user=reader" in summary(run_dir)["config"]["database"]
    assert_nowhere(PASSWORD, ran, run_dir)
    ran = birdenv("evaluate", "--run-dir", run_dir, "--dsn", f"postgresql://u:a@{PASSWORD}/x@host/db")
    refused(ran, "%40")
    assert_nowhere(PASSWORD, ran, run_dir)


def test_a_superuser_is_warned_of(birdenv: Command, tmp_path: Path, postgres: Postgres) -> None:
    folder = make_run(tmp_path / "r", [("SELECT 1", "SELECT 1")])
    ran = birdenv("evaluate", "--run-dir", folder, "--dsn", postgres.admin)
    assert ran.code == 0
    assert "Warning: this role is a superuser" in ran.err


@pytest.mark.slow
def test_published_predictions(birdenv: Command, shared_data: Path, tmp_path: Path) -> None:
    data, folder = shared_data / "mini_dev", tmp_path / "run" / "run_gpt4"
    databases = data / "dev_databases"
    agent = f"predictions:{data / 'predictions' / 'predict_mini_dev_gpt-4_sqlite.json'}"
    tasks = [
        data / "mini_dev_sqlite_2024.json",
        databases,
        "--database",
        "superhero",
    ]
    ran = birdenv("bird", *tasks, "--agent", agent, "-o", tmp_path, "--export-pairs", folder)
    assert ran.code == 0, ran
    for db in (databases, databases / "superhero" / "superhero.sqlite"):
        ran = birdenv("evaluate", "--run-dir", folder, "--db", db)
        assert ran.code == 0, ran
        assert "\nESM - 41/52 78.8% (of attempted: 41/52 78.8%)\n" in ran.out
        assert summary(folder)["modes"]["bird"] == 40
