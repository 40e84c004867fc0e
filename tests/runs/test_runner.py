"""Runs: same seed, same bytes; nothing that one episode does reaches another."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from arenas import bird, c_interact, plan_of, play, tasks_of

from birdenv.demo import DEMO_BIRD_FILE
from birdenv.dialogue import Move
from birdenv.errors import InputError
from birdenv.runs import RunDirectory, prepare, run
from birdenv.runs._player_process import read_reply

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tasks" / "c_interact"))
from toy_tasks import QUERY, write_benchmark  # noqa: E402

FOREIGN = "foreign_agents"


@pytest.mark.every(4)
@pytest.mark.parametrize("agent", ["random", "asks-first"])
@pytest.mark.parametrize("make", [bird, c_interact])
def test_parallel_runs_give_the_same_bytes(demo: Path, tmp_path: Path, make: Any, agent: str) -> None:
    one = play(make(demo, 12), agent, tmp_path, seed=3)
    four = play(make(demo, 12), agent, tmp_path, seed=3, parallel=4)
    for stream in ("runs", "private"):
        assert one.file(stream).read_bytes() == four.file(stream).read_bytes()
    assert (one.path / "overall.json").read_bytes() == (four.path / "overall.json").read_bytes()


class Pickling:
    """An engine that sends function, jobs and results through pickle, in reverse order."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, work: Any, jobs: Any) -> Iterator[Any]:
        for job in reversed(list(jobs)):
            sent = pickle.dumps((work, job))
            self.sizes.append(len(sent))
            function, received = pickle.loads(sent)
            yield pickle.loads(pickle.dumps(function(received)))


@pytest.mark.slow
def test_jobs_are_plain_values(demo: Path, tmp_path: Path) -> None:
    engine = Pickling()
    sent = play(c_interact(demo, 3), "asks-first", tmp_path, repeats=2, engine=engine)
    here = play(c_interact(demo, 3), "asks-first", tmp_path, repeats=2)
    assert len(engine.sizes) == 6 and max(engine.sizes) < 4_000
    for name in ("runs.jsonl", "private.jsonl", "overall.json"):
        assert (sent.path / name).read_bytes() == (here.path / name).read_bytes()


def test_other_processes_play_the_same_records(demo: Path, tmp_path: Path) -> None:
    here = play(bird(demo, 4), "random", tmp_path, seed=2)
    with ProcessPoolExecutor(2) as pool:
        there = play(bird(demo, 4), "random", tmp_path, seed=2, engine=pool.map)
        for stream in ("runs", "private"):
            assert there.file(stream).read_bytes() == here.file(stream).read_bytes()
        with pytest.raises(InputError, match="can play only with the 'threads' engine: pass a spec"):
            play(bird(demo, 2), lambda view: Move("submit_sql", "SELECT 1"), tmp_path, engine=pool.map)


def test_another_seed_gives_other_moves(demo: Path, tmp_path: Path) -> None:
    runs = [play(bird(demo), "random", tmp_path, seed=seed).file("runs").read_bytes() for seed in (1, 2)]
    assert runs[0] != runs[1]


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 8])
def test_hash_seed_does_not_matter(tmp_path: Path, number: int) -> None:
    made = []
    for hash_seed in ("1", "2"):
        output = tmp_path / hash_seed
        arguments = ["c-interact", "--agent", "asks-first", "-n", str(number), "-o", str(output)]
        subprocess.run(
            birdenv(*arguments), check=True, env=environment(PYTHONHASHSEED=hash_seed), capture_output=True
        )
        made.append((output / "latest" / "runs.jsonl").read_bytes())
    assert made[0] == made[1]


@pytest.mark.slow
def test_the_oracle_solves_every_demo_task(demo: Path, tmp_path: Path) -> None:
    single = play(bird(demo), "oracle", tmp_path)
    assert json.loads((single.path / "overall.json").read_text())["figures"]["ex"]["value"] == 1.0
    dialogue = play(c_interact(demo), "oracle", tmp_path)
    assert json.loads((dialogue.path / "overall.json").read_text())["figures"]["reward"]["value"] == 1.0


def test_resume_ends_like_an_uninterrupted_run(demo: Path, tmp_path: Path) -> None:
    whole = play(c_interact(demo, 9), "asks-first", tmp_path)
    broken = play(c_interact(demo, 9), "asks-first", tmp_path)
    for stream in ("runs", "private", "timings"):
        lines = broken.file(stream).read_bytes().splitlines(keepends=True)
        broken.file(stream).write_bytes(b"".join(lines[:4]) + lines[4][:30])
    (broken.path / "overall.json").unlink()
    plan = plan_of(c_interact(demo, 9), "asks-first")
    prepare(broken, plan.config(), resume=True)
    run(plan, broken)
    for name in ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt"):
        assert (broken.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_resume_plays_only_what_is_missing(demo: Path, tmp_path: Path) -> None:
    directory = play(bird(demo, 6), "oracle", tmp_path)
    before = directory.read("timings")
    lines = directory.file("runs").read_text().splitlines(keepends=True)
    directory.file("runs").write_text("".join(lines[:4]))
    run(plan_of(bird(demo, 6), "oracle"), directory)
    after = directory.read("timings")
    assert [name for name in before if before[name] == after[name]] == list(before)[:4]


@pytest.mark.parametrize("change", ["agent", "seed", "evidence", "tasks", "max_turns"])
def test_resume_with_other_settings_is_refused(demo: Path, tmp_path: Path, change: str) -> None:
    directory = play(bird(demo, 4), "oracle", tmp_path)
    game = bird(
        demo,
        5 if change == "tasks" else 4,
        evidence=change != "evidence",
        max_turns=3 if change == "max_turns" else 20,
    )
    agent, seed = "random" if change == "agent" else "oracle", 7 if change == "seed" else 0
    with pytest.raises(InputError, match=change):
        prepare(directory, plan_of(game, agent, seed=seed).config(), resume=True)


def test_resume_with_a_changed_database_is_refused(tmp_path: Path, demo: Path) -> None:
    directory = play(bird(demo, 4), "oracle", tmp_path)
    config = directory.read_config()
    config["databases_sha256"] = dict.fromkeys(config["databases_sha256"], "0")
    with pytest.raises(InputError, match="databases_sha256"):
        prepare(directory, config, resume=True)


def test_errors_are_retried_on_resume(demo: Path, tmp_path: Path) -> None:
    directory = play(bird(demo, 3), "oracle", tmp_path)
    lines = [json.loads(line) for line in directory.file("runs").read_text().splitlines()]
    lines[1] |= {"status": "task error", "error": "lost connection"}
    directory.file("runs").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(plan_of(bird(demo, 3), "oracle"), directory)
    assert [record["status"] for record in directory.read("runs").values()] == ["completed"] * 3


@pytest.mark.parametrize("number", [10, pytest.param(None, marks=pytest.mark.real_tasks)])
@pytest.mark.parametrize("make", [bird, c_interact])
def test_gold_stays_out_of_the_public_files(
    demo: Path, tmp_path: Path, make: Any, number: int | None
) -> None:
    """Played by an agent that never saw gold, no public file holds it."""
    game = make(demo, number)
    directory = play(game, "asks-first", tmp_path)
    public = list(directory.read("runs").values())
    texts = list(all_texts([public, directory.read_config()]))
    texts += [(directory.path / name).read_text() for name in ("overall.json", "summary.txt")]
    private = list(all_texts(list(directory.read("private").values())))
    for task in tasks_of(game):
        for gold in golds(task):
            assert not [text for text in texts if gold in text], task.public.instance_id
            assert gold in private


def all_texts(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from all_texts(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from all_texts(item)


def golds(task: Any) -> list[str]:
    follow_up = getattr(task.private, "follow_up", None)
    return [*task.private.gold, *(follow_up.gold if follow_up else ())]


def toy_run(folder: Path, *records: dict[str, Any], agent: str) -> dict[str, Any]:
    """The figures of a run over records of the toy benchmark."""
    arena = c_interact(write_benchmark(folder / "toy", *records), ungraded="include")
    directory = RunDirectory.create(folder / "runs")
    plan = plan_of(arena, agent)
    prepare(directory, plan.config(), resume=False)
    figures = run(plan, directory).overall
    return figures | {"summary": (directory.path / "summary.txt").read_text()}


NO_GOLD = QUERY | {"instance_id": "club_2", "sol_sql": []}


def test_tasks_without_gold_are_never_counted_however_they_end(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text('{"instance_id": "x", "sql": "SELECT 1"}\n')
    found = toy_run(tmp_path, QUERY, NO_GOLD, agent=f"predictions:{tmp_path / 'none.jsonl'}")
    assert found["episodes"]["rated"] == found["figures"]["phase_1"]["total"] == 1
    assert found["status"] == {"no_submission": 1, "ungraded": 1}
    assert "1 task without gold: played" in found["summary"]


def test_a_follow_up_without_gold_is_left_out_of_phase_two(tmp_path: Path) -> None:
    record = QUERY | {"follow_up": QUERY["follow_up"] | {"sol_sql": []}}
    found = toy_run(tmp_path, record, agent="oracle")
    assert found["figures"]["phase_1"]["passed"] == 1
    assert found["figures"]["phase_2"]["total"] == 0
    assert "1 follow-up without gold: not asked" in found["summary"]


def test_a_broken_benchmark_is_left_out_of_the_rates(tmp_path: Path) -> None:
    broken = QUERY | {"instance_id": "club_2", "sol_sql": ["SELECT nope FROM member"]}
    found = toy_run(tmp_path, QUERY, broken, agent="asks-first")
    assert found["episodes"]["rated"] == 1
    assert found["status"]["infra_error"] == 1
    assert "not counted" in found["summary"]


@pytest.mark.parametrize("game", ["bird", pytest.param("c-interact", marks=pytest.mark.slow)])
def test_a_database_that_vanishes_costs_its_own_episodes(demo: Path, tmp_path: Path, game: str) -> None:
    copy = Path(shutil.copytree(demo, tmp_path / "copy"))
    plan = plan_of(bird(copy) if game == "bird" else c_interact(copy), "asks-first", parallel=2)
    directory = RunDirectory.create(tmp_path / "runs")
    prepare(directory, plan.config(), resume=False)
    (copy / "library" / "library.sqlite").unlink()
    found = run(plan, directory).overall
    runs = list(directory.read("runs").values())
    name = "db_id" if game == "bird" else "database"
    lost = [record for record in runs if record["status"] == "infra_error"]
    assert {(record.get("result") or record)[name] for record in lost} == {"library"}
    assert found["episodes"]["rated"] == len(runs) - len(lost) > 0


def test_errors_of_the_gold_are_private(demo: Path, tmp_path: Path) -> None:
    rows = json.loads((demo / DEMO_BIRD_FILE).read_text())[:1]
    rows[0]["SQL"] = "SELECT top_secret_column FROM members"
    (tmp_path / "tasks.json").write_text(json.dumps(rows))
    directory = play(bird(demo, file=tmp_path / "tasks.json"), "random", tmp_path)
    assert "top_secret" not in directory.file("runs").read_text()
    assert "no such column: top_secret_column" in directory.file("private").read_text()
    assert "fails or is too slow" in (directory.path / "summary.txt").read_text()


def test_the_time_limit_holds_for_grading_too(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(
        json.dumps(
            {
                "question_id": 1,
                "sql": "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT max(x) FROM n",
            }
        )
    )
    started = time.monotonic()
    directory = play(bird(demo, 1, sql_timeout=0.5), f"predictions:{tmp_path / 'p.jsonl'}", tmp_path)
    assert time.monotonic() - started < 10
    [record] = directory.read("runs").values()
    assert record["result"]["error_kind"] == "timeout"


def test_resume_with_changed_knowledge_is_refused(tmp_path: Path) -> None:
    configs = []
    for name in ("a", "b"):
        folder = write_benchmark(tmp_path / name, QUERY)
        if name == "b":
            with (folder / "club" / "club_kb.jsonl").open("a") as file:
                file.write('{"id": 9, "knowledge": "New", "description": "", "definition": ""}\n')
        configs.append(plan_of(c_interact(folder), "oracle").config())
    directory = RunDirectory.create(tmp_path / "runs")
    prepare(directory, configs[0], resume=False)
    with pytest.raises(InputError, match="notes_sha256"):
        prepare(directory, configs[1], resume=True)


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


@pytest.mark.usefixtures("importable")
def test_foreign_agents_get_no_private_half(demo: Path, tmp_path: Path) -> None:
    directory = play(c_interact(demo, 3), f"{FOREIGN}:First", tmp_path)
    assert {record["status"] for record in directory.read("runs").values()} == {"completed"}


@pytest.mark.usefixtures("importable")
@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="reads the process's memory through /proc")
def test_a_foreign_agents_process_holds_public_data_only(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "memory"
    monkeypatch.setenv("SNOOP_FILE", str(dump))
    game = c_interact(demo, 4)
    play(game, f"{FOREIGN}:Snoop", tmp_path)
    memory = dump.read_bytes()
    assert tasks_of(game)[2].public.question.encode() in memory
    for task in tasks_of(game):
        for secret in (task.private.brief.clear_query, *golds(task)):
            assert secret.encode() not in memory


@pytest.mark.every(2)
@pytest.mark.usefixtures("importable")
@pytest.mark.parametrize("parallel", [1, 2])
def test_a_crashing_agent_costs_only_its_own_episodes(demo: Path, tmp_path: Path, parallel: int) -> None:
    directory = play(bird(demo, 5), f"{FOREIGN}:Crashing", tmp_path, parallel=parallel)
    runs = list(directory.read("runs").values())
    assert [record["status"] for record in runs] == [
        "completed",
        "task error",
        "task error",
        "completed",
        "completed",
    ]
    assert "RuntimeError: no idea" in runs[1]["error"]
    assert "process died" in runs[2]["error"]


@pytest.mark.usefixtures("importable")
def test_an_agent_that_returns_no_move_is_told_so(demo: Path, tmp_path: Path) -> None:
    directory = play(bird(demo, 5), f"{FOREIGN}:Odd", tmp_path)
    runs = list(directory.read("runs").values())
    assert [run["status"] for run in runs] == ["task error"] * 3 + ["silence", "task limit reached"]
    assert "returned str, expected a birdenv.Move" in runs[0]["error"]
    assert "is not JSON" in runs[1]["error"]
    assert "name of an action, got int" in runs[2]["error"]


@pytest.mark.parametrize(
    "reply", [None, [], {"a": 1}, ["move", None], ["done", {"a": 1}], ["run", "x"], ["error", 1]]
)
def test_what_an_agents_process_sends_is_not_trusted(reply: Any) -> None:
    with pytest.raises(ValueError, match="does not belong to the request"):
        read_reply("move", reply)


def test_a_reply_to_another_request_is_not_taken() -> None:
    reply = ["done", [["submit_sql", "SELECT 1", None], {"calls": 1}]]
    assert read_reply("move", reply) == ("done", reply[1])
    for kind in ("new", "usage"):
        with pytest.raises(ValueError, match="does not belong to the request"):
            read_reply(kind, reply)


@pytest.mark.usefixtures("importable")
def test_a_foreign_agents_module_is_imported_in_its_own_process_only(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "imported"
    monkeypatch.setenv("IMPORT_LOG", str(log))
    play(bird(demo, 2), "import_logger:First", tmp_path)
    importers = set(log.read_text().split())
    assert importers
    assert str(os.getpid()) not in importers


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.usefixtures("importable")
@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("no_such_module:Agent", "known agents"),
        ("foreign_agents:Missing", "cannot be imported"),
        ("foreign_agents:gc", "cannot be imported"),
        ("foreign_agents:Player", "no model"),
        (".x:y", "known agents"),
    ],
)
def test_a_foreign_agent_that_cannot_be_made_is_refused_at_once(
    demo: Path, tmp_path: Path, spec: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        run(plan_of(bird(demo, 1), spec), RunDirectory.create(tmp_path))
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.usefixtures("importable")
def test_what_an_agent_prints_stays_out_of_the_results(tmp_path: Path) -> None:
    done = subprocess.run(
        birdenv("bird", "--agent", f"{FOREIGN}:Chatty", "-n", "1", "-o", str(tmp_path)),
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "thinking aloud" in done.stderr
    assert "thinking aloud" not in done.stdout


def birdenv(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from birdenv.cli import main; main()", *arguments]


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE), **extra}


@pytest.mark.kills
@pytest.mark.parametrize(("kill", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_run_is_resumed(tmp_path: Path, kill: signal.Signals, code: int) -> None:
    arguments = ["bird", "--agent", f"{FOREIGN}:Slow", "-n", "14", "-p", "2"]
    whole = subprocess.run(
        birdenv(*arguments, "-o", str(tmp_path / "whole")), env=environment(), capture_output=True, check=True
    )
    assert b"EX" in whole.stdout
    process = subprocess.Popen(
        birdenv(*arguments, "-o", str(tmp_path / "cut")),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    runs = tmp_path / "cut" / "latest" / "runs.jsonl"
    deadline = time.monotonic() + 30
    while not (runs.exists() and runs.read_text().count("\n") >= 3):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, kill)
    _, error = process.communicate(timeout=20)
    assert process.returncode == code
    if kill == signal.SIGINT:
        assert "--resume" in error
        assert "Traceback" not in error
    saved = runs.read_text().count("\n")
    assert 3 <= saved < 14
    folder = (tmp_path / "cut" / "latest").resolve()
    subprocess.run(
        birdenv(*arguments, "--resume", str(folder)), env=environment(), capture_output=True, check=True
    )
    for name in ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / "latest" / name).read_bytes()
