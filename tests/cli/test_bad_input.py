"""Unusable input: one line that says what to do, exit code 2, nothing written."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from birdenv.demo import DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE

Command = Callable[..., Any]


@pytest.fixture
def copy(demo: Path, tmp_path: Path) -> Path:
    """A copy of the demo that a test may damage."""
    return Path(shutil.copytree(demo, tmp_path / "copy"))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def refused(ran: Any, *says: str) -> None:
    assert ran.code == 2, ran
    assert ran.err.startswith("Error: "), ran.err
    assert ran.err.count("\n") == 1
    for part in says:
        assert part in ran.err


def with_db_id(copy: Path, db_id: str) -> Path:
    tasks = json.loads((copy / DEMO_BIRD_FILE).read_text())
    tasks[0]["db_id"] = db_id
    path = copy / "changed.json"
    path.write_text(json.dumps(tasks))
    return path


def test_missing_database(birdenv: Command, copy: Path, output: Path) -> None:
    """One rule: what can be played is played, what is left out is said once, and strict data refuses."""
    next(copy.glob("*/library.sqlite")).unlink()
    bird = ("bird", copy / DEMO_BIRD_FILE, copy, "--agent", "never-asks", "-o", output)
    for strict in (["--strict-data"], ["--database", "library"], ["--instance", "1"]):
        refused(birdenv(*bird, *strict), "library")
    assert not output.exists()
    ran = birdenv(*bird, "-n", "30")
    assert ran.code == 0, ran
    left_out = "14 because of missing databases (library); 28 can be played"
    assert ran.err == f"Warning: tasks are left out: {left_out}\n"
    assert "28 tasks on 2 databases" in ran.out
    for path in copy.glob("*/*.sqlite"):
        path.unlink()
    refused(birdenv(*bird), "published at https://github.com/bird-bench/mini_dev")
    refused(birdenv("bird", copy / "gone.json", copy), "gone.json: no such file", "published at")


def test_lfs_pointer_in_place_of_a_database(birdenv: Command, copy: Path, output: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    (copy / "library" / "library.sqlite").write_text(pointer)
    refused(birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-o", output), "git lfs pull")
    refused(birdenv("c-interact", copy, "--database", "library", "-o", output), "git lfs pull")
    assert not output.exists()


def test_corrupt_database(birdenv: Command, copy: Path, output: Path) -> None:
    path = copy / "library" / "library.sqlite"
    path.write_bytes(path.read_bytes()[:16] + b"\x55" * 5000)
    refused(birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-o", output), "library")
    assert not output.exists()


def test_truncated_task_file(birdenv: Command, copy: Path, output: Path) -> None:
    path = copy / DEMO_BIRD_FILE
    path.write_text(path.read_text()[:-40])
    refused(birdenv("bird", path, copy, "-o", output), "cut off")
    lines = copy / "c_interact.jsonl"
    lines.write_text(lines.read_text()[:-40])
    refused(birdenv("c-interact", copy, "-o", output), "cut off")


@pytest.mark.parametrize("db_id", ["../library", "/etc", "library/../library", "", "..", "a\x00b"])
def test_database_names(birdenv: Command, copy: Path, output: Path, db_id: str) -> None:
    refused(birdenv("bird", with_db_id(copy, db_id), copy, "-o", output))
    assert not output.exists()


@pytest.mark.parametrize("db_id", ["nowhere", "../library"])
def test_database_names_in_c_interact(birdenv: Command, copy: Path, output: Path, db_id: str) -> None:
    path = copy / "c_interact.jsonl"
    task = json.loads(path.read_text().splitlines()[0]) | {"selected_database": db_id}
    path.write_text(json.dumps(task) + "\n")
    refused(birdenv("c-interact", copy, "-o", output), db_id)
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--difficulty", "hard"], "simple, moderate, challenging"),
        (["--database", "nowhere"], "library"),
        (["--instance", "9999"], "the task file has no instance '9999'; it has 1, 2"),
        (["--offset", "5000"], "no tasks to play: 42 of 42 match the filters, and offset 5000 skips all"),
        (
            ["--agent", "gpt"],
            "known agents of bird: asks-first, human, learned, llm, never-asks, oracle, predictions, random, "
            "retrieval; or",
        ),
        (["--agent", "no.such.module:Agent"], "known agents"),
        (["--agent", "predictions"], "predictions:FILE"),
        (["--agent", "predictions:/no/such/file"], "no such file"),
        (["--predictions-order", "2023"], "2024"),
        (["--max-turns", "5000"], "--max-turns must be from 1 to 999, got 5000"),
        (["--sql-timeout", "0"], "more than 0"),
        (["--resume", "/no/such/run"], "is not a run"),
    ],
)
def test_options_of_bird(birdenv: Command, output: Path, arguments: list[str], says: str) -> None:
    refused(birdenv("bird", *arguments, "-o", output), says)
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--profile", "loose"], "--profile 'loose' is unknown; choose from strict, shell, adk"),
        (["--patience", "200"], "--patience must be from 0 to 100, got 200"),
        (["--user", "gpt"], "rule"),
        (["--difficulty", "Extreme"], "Easy"),
        (["/no/such/folder"], "no such directory"),
        (["--data", "/no/such/file"], "no such file"),
        (["--agent", "human", "-p", "2"], "--parallel"),
    ],
)
def test_options_of_c_interact(birdenv: Command, output: Path, arguments: list[str], says: str) -> None:
    refused(birdenv("c-interact", *arguments, "-o", output), says)
    assert not output.exists()


@pytest.mark.parametrize(
    "option", [["--limit", "0"], ["--limit", "-1"], ["--offset", "-1"], ["--parallel", "0"]]
)
def test_numbers_out_of_range(birdenv: Command, output: Path, option: list[str]) -> None:
    ran = birdenv("bird", *option, "-o", output)
    assert ran.code == 2
    assert option[0] in ran.err
    assert not output.exists()


def test_one_of_two_paths(birdenv: Command, copy: Path) -> None:
    refused(birdenv("bird", copy / DEMO_BIRD_FILE), "DB_DIR")


def test_unwritable_output(birdenv: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(birdenv("bird", "-n", "1", "-o", tmp_path / "file"), "cannot write")


def test_resume_with_other_data(birdenv: Command, copy: Path, output: Path) -> None:
    assert birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-n", "2", "-o", output).code == 0
    before = {path: path.read_bytes() for path in (output / "latest").iterdir()}
    tasks = json.loads((copy / DEMO_BIRD_FILE).read_text())
    tasks[0]["question"] += " Really?"
    (copy / DEMO_BIRD_FILE).write_text(json.dumps(tasks))
    again = birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-n", "2", "--resume", output / "latest")
    refused(again, "data_sha256", "start a new run")
    assert {path: path.read_bytes() for path in (output / "latest").iterdir()} == before


def test_position_keyed_predictions_need_the_2024_order(
    birdenv: Command, shared_data: Path, output: Path
) -> None:
    data = shared_data / "mini_dev"
    agent = f"predictions:{data / 'predictions' / 'predict_mini_dev_gpt-4_sqlite.json'}"
    ran = birdenv(
        "bird",
        data / "mini_dev_sqlite.json",
        data / "dev_databases",
        "--database",
        "superhero",
        "--agent",
        agent,
    )
    refused(ran, "2024", "--predictions-order")


def test_score_input(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"db_id": "library", "gold_sql": "SELECT 1"}\n')
    refused(birdenv("score", pairs, demo, "--out", tmp_path / "out.jsonl"), "predicted_sql")
    assert not (tmp_path / "out.jsonl").exists()


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["bird", LONG, "{demo}"],
        ["bird", "{demo}/bird.json", LONG],
        ["bird", "--agent", f"predictions:{LONG}"],
        ["bird", "--resume", LONG],
        ["c-interact", LONG],
        ["c-interact", "{demo}", "--data", LONG],
        ["c-interact", "--resume", LONG],
        ["score", LONG, "{demo}"],
        ["score", "{pairs}", LONG],
        ["score", "{pairs}", "{demo}", "--out", LONG],
        ["data", "verify", LONG],
        ["data", "verify", "{demo}", "--dir", LONG],
        ["data", "verify", "{demo}", "--report", LONG],
        ["data", "merge", LONG, "{tasks}", "{output}"],
        ["data", "merge", "{tasks}", LONG, "{output}"],
        ["data", "merge", "{tasks}", "{tasks}", LONG],
        ["data", "merge", "{tasks}", "{tasks}", "{output}", "--dir", LONG],
        ["data", "merge", "{tasks}", "{tasks}", "{output}", "--report", LONG],
    ],
)
def test_names_that_are_too_long(
    birdenv: Command, demo: Path, tmp_path: Path, output: Path, arguments: list[str]
) -> None:
    places = {
        "demo": demo,
        "tasks": demo / DEMO_C_INTERACT_FILE,
        "pairs": pairs(tmp_path),
        "output": output,
    }
    options = ["-o", output] if arguments[0] in ("bird", "c-interact") else []
    refused(birdenv(*(argument.format(**places) for argument in arguments), *options), "File name too long")
    assert not output.exists()


@pytest.mark.parametrize("command", ["bird", "c-interact", "demo"])
def test_output_with_a_name_that_is_too_long(birdenv: Command, tmp_path: Path, command: str) -> None:
    refused(birdenv(command, "-o", tmp_path / LONG), "cannot write results", "File name too long")
    assert not list(tmp_path.iterdir())


def pairs(folder: Path, **changes: object) -> Path:
    pair = {"db_id": "library", "gold_sql": "SELECT 1", "predicted_sql": "SELECT 1"} | changes
    path = folder / "pairs.jsonl"
    path.write_text(json.dumps(pair) + "\n")
    return path


def test_reports_that_cannot_be_written_are_refused_before_the_work(
    birdenv: Command, copy: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("birdenv.cli.benchmarks._data.verify_records", None)  # must not be reached
    tasks = copy / DEMO_C_INTERACT_FILE
    before = tasks.read_bytes()
    refused(birdenv("data", "verify", copy, "--report", copy), "is a directory")
    refused(birdenv("data", "verify", copy, "--report", tasks / "report"), "cannot be written")
    refused(birdenv("data", "verify", copy, "--report", tasks), "must be a separate file")
    refused(birdenv("data", "merge", tasks, tasks, output, "--report", output), "must be a separate file")
    refused(birdenv("data", "merge", tasks, tasks, copy), "is a directory")
    refused(birdenv("data", "merge", tasks, tasks, tasks), "must be a separate file")
    refused(birdenv("score", pairs(copy), copy, "--out", copy), "is a directory")
    assert not output.exists()
    assert tasks.read_bytes() == before


def test_a_report_makes_its_folder(birdenv: Command, demo: Path, output: Path) -> None:
    assert (
        birdenv("data", "verify", demo, "--no-oracle", "--report", output / "below" / "report.json").code == 0
    )
    assert json.loads((output / "below" / "report.json").read_text())["passed"]
    assert [path.name for path in (output / "below").iterdir()] == ["report.json"]


@pytest.mark.slow
def test_a_report_to_a_device_leaves_the_device(birdenv: Command, demo: Path) -> None:
    device = Path(os.devnull)
    assert birdenv("data", "verify", demo, "--report", device).code == 0
    assert device.is_char_device()


@pytest.fixture
def guest() -> Iterator[Path]:
    """A folder of a user who may not do everything."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    try:
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in [folder, *folder.iterdir()]:
            path.chmod(0o700)
        shutil.rmtree(folder)


def test_places_without_permission(birdenv: Command, guest: Path) -> None:
    pairs(guest, question="Why?")
    closed, open_ = guest / "closed", guest / "open"
    (closed / "library").mkdir(parents=True)
    open_.mkdir()
    (closed / "file").write_text("{}")
    closed.chmod(0)
    (guest / "open" / "open.sqlite").touch()
    tasks = [{"db_id": name, "question": "Why?", "SQL": "SELECT 1"} for name in ("closed", "open")]
    (guest / "tasks.json").write_text(json.dumps(tasks))
    for arguments in (
        ["bird", closed / "file", open_],
        ["bird", guest / "pairs.jsonl", closed / "library"],
        ["bird", guest / "tasks.json", guest],
        ["bird", "--resume", closed / "file"],
        ["c-interact", closed],
        ["c-interact", closed / "library"],
        ["evaluate", "--runs-root", closed, "--no-esm"],
        ["evaluate", "--run-dir", closed, "--no-esm"],
        ["score", guest / "pairs.jsonl", closed],
        ["score", closed / "file", open_],
        ["data", "verify", closed],
        ["data", "verify", guest / "pairs.jsonl", "--report", closed / "report"],
        ["data", "merge", guest / "pairs.jsonl", guest / "pairs.jsonl", closed / "out"],
        ["data", "merge", closed / "file", guest / "pairs.jsonl", guest / "out"],
    ):
        refused(birdenv(*arguments), "ermission")
    (guest / "report").write_text("mine")
    (guest / "report").chmod(0o400)
    refused(birdenv("data", "verify", guest / "pairs.jsonl", "--report", guest / "report"), "no permission")


@pytest.mark.parametrize("agent", ["predictions:~nobody-of-that-name/x", "predictions:~nobody-of-that-name"])
def test_predictions_in_the_home_of_nobody(birdenv: Command, output: Path, agent: str) -> None:
    refused(birdenv("bird", "--agent", agent, "-o", output), "no such home directory")
    assert not output.exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"0": ' + "[" * 100_000, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('{"0": ' + "1" * 5000 + "}", "too many digits"),
        ('{"instance_id": "1", "sql": "\\ud800"}', "half a character"),
        ('{"0": "\\ud800"}', "half a character"),
        ('{"0": "SELECT 1", "0": "SELECT 2"}', "'0' occurs twice"),
        ('[{"instance_id": [], "sql": "SELECT 1"}]', "the id must be"),
        ("[]", "contains no predictions"),
    ],
)
def test_unusable_predictions(birdenv: Command, tmp_path: Path, output: Path, text: str, says: str) -> None:
    (tmp_path / "predictions.json").write_text(text)
    agent = f"predictions:{tmp_path / 'predictions.json'}"
    refused(birdenv("bird", "--agent", agent, "-o", output), "predictions.json", says)
    assert not output.exists()


def test_half_characters_in_pairs(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    path = pairs(tmp_path, note="\ud800")
    refused(birdenv("score", path, demo, "--out", tmp_path / "out"), "record 1", "'note'", "half a character")
    assert not (tmp_path / "out").exists()


def test_names_that_are_no_text(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    """A command line may hold bytes that are not UTF-8; Python reads them as half characters."""
    ran = birdenv("bird", "-n", "1", "--agent", "predictions:\udcff", "-o", tmp_path / "output")
    refused(ran, "no such file")
    shutil.copyfile(demo / DEMO_BIRD_FILE, tmp_path / "\udcff.json")
    ran = birdenv("bird", tmp_path / "\udcff.json", demo, "-n", "1", "-o", tmp_path / "output")
    refused(ran, "config.json: cannot be written")
    assert not list((tmp_path / "output").iterdir())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"instance_id": "a"}\n', "line 1"),
        ('{"instance_id": "a", "status": 5}\n', "line 1"),
        ('{"instance_id": "a", "status": "completed", "result": null}\n', "line 1"),
        (None, "is a directory"),
    ],
)
def test_resume_of_damaged_records(birdenv: Command, output: Path, content: str | None, says: str) -> None:
    assert birdenv("bird", "-n", "1", "-o", output).code == 0
    runs = output / "latest" / "runs.jsonl"
    runs.unlink()
    runs.mkdir() if content is None else runs.write_text(content)
    refused(birdenv("bird", "-n", "1", "--resume", output / "latest"), "runs.jsonl", says)


def test_resume_with_a_configuration_that_is_no_text(birdenv: Command, output: Path) -> None:
    assert birdenv("bird", "-n", "1", "-o", output).code == 0
    (output / "latest" / "config.json").write_bytes(b"\xff")
    refused(birdenv("bird", "-n", "1", "--resume", output / "latest"), "config.json", "not UTF-8")


def test_partial_is_suggested_only_where_it_helps(birdenv: Command, copy: Path, output: Path) -> None:
    tasks = copy / DEMO_C_INTERACT_FILE
    rows = [json.loads(line) for line in tasks.read_text().splitlines()][:3]
    truth = copy / "truth.jsonl"
    truth.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    rows[2] |= {"sol_sql": [], "test_cases": []}
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "use --partial" in birdenv("data", "merge", tasks, truth, output).out
    rows[1]["category"] = "query"
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = birdenv("data", "merge", tasks, truth, output)
    assert ran.code == 1
    assert "use --partial" not in ran.out
    assert "must be 'Query' or 'Management'" in ran.out
    assert not output.exists()


@pytest.mark.parametrize(
    "command", ["bird", "c-interact", "a-interact", "score", "self-check", "regrade", "evaluate"]
)
def test_where_sql_runs_is_no_option(birdenv: Command, command: str) -> None:
    ran = birdenv(command, "--isolation", "process")
    assert (ran.code, "No such option: --isolation" in ran.err) == (2, True)
