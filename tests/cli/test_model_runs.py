"""Runs with models from the command line: exit codes, one-line errors, resume, replay, no key anywhere."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY

from birdenv.runs import RunDirectory
from birdenv.statistics import counted
from birdenv.testing.openai_server import (
    Call,
    ScriptedDialogue,
    ScriptedTurn,
    Server,
    ServerScript,
    Trouble,
    serve,
)

Start = Callable[..., Server]
FILES = ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt", "private_calls.jsonl")


def newest(folder: Path) -> Path:
    return (folder / "latest").resolve()


def contents(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in FILES}


def run_with(demo_server: Server, folder: Path, *more: Any) -> list[Any]:
    given = ["c-interact", "--agent", "llm:scripted", "--base-url", demo_server.url, "-n", "4", "-o", folder]
    return [*given, *more]


def test_one_command_evaluates_an_endpoint(birdenv: Any, demo_server: Server, tmp_path: Path) -> None:
    (tmp_path / "scripted").mkdir()  # a folder of weights may have the model's name
    ran = birdenv(*run_with(demo_server, tmp_path, "-p", "4", "-v"))
    assert json.loads((newest(tmp_path) / "config.json").read_text())["agent_file_sha256"] is None
    assert ran.code == 0 and "Mean reward                          1.000" in ran.out
    assert "Models: 17 calls, " in ran.out and "cost unknown" in ran.out
    lines = [line for line in ran.err.splitlines() if line.startswith("library_")]
    assert len(lines) == 4 and lines[-1].endswith("cost unknown]")
    ran = birdenv("bird", "--agent", "llm", "--model", "scripted", "--base-url", demo_server.url, "-n", "2")
    assert ran.code == 0 and "results/scripted-bird/run-" in ran.out


def test_a_model_that_is_named_alone_is_the_agent(birdenv: Any, demo_server: Server, tmp_path: Path) -> None:
    where = ["--base-url", demo_server.url, "-n", "1", "-o", tmp_path]
    for command in (["bird"], ["c-interact"], ["play", "a-interact"]):
        assert birdenv(*command, "-m", "scripted", *where).code == 0
        assert json.loads((newest(tmp_path) / "config.json").read_text())["agent"] == "llm:scripted"
    refused = birdenv("bird", "-m", "scripted", "--agent", "oracle", *where)
    assert refused.code == 2 and "no player is a language model" in refused.err


@pytest.mark.real_tasks
def test_one_command_evaluates_an_endpoint_on_mini_dev(
    birdenv: Any, server: Start, shared_data: Path, tmp_path: Path
) -> None:
    data = shared_data / "mini_dev"
    tasks = json.loads((data / "mini_dev_sqlite.json").read_text())
    there = {folder.name for folder in (data / "dev_databases").iterdir()}
    chosen = [task for task in tasks if task["db_id"] in there][:40]
    (file := tmp_path / "mini_dev_sqlite.json").write_text(json.dumps(chosen))
    dialogues = tuple(
        ScriptedDialogue(when=(task["question"],), turns=(turn("SELECT 1", "execute_sql"), turn(task["SQL"])))
        for task in chosen
    )
    running = server(dialogues=dialogues)
    where = (file, data / "dev_databases", "--base-url", running.url, "-p", "8")
    ran = birdenv("bird", *where, "--agent", "llm:own", "-o", tmp_path / "runs")
    assert ran.code == 0, ran
    overall = json.loads((newest(tmp_path / "runs") / "overall.json").read_text())
    assert overall["status"]["completed"] == 40 and overall["figures"]["ex"]["value"] == 1.0
    assert len(running.requests) == 80 and "Models: 80 calls, " in ran.out


def turn(sql: str, tool: str = "submit_sql") -> ScriptedTurn:
    return ScriptedTurn(calls=(Call(name=tool, arguments={"sql": sql}),))


@pytest.mark.every(3)
@pytest.mark.parametrize("user", ["llm", "rule+llm", "llm-one-prompt"])
def test_the_demo_s_model_plays_both_seats(
    birdenv: Any, demo_server: Server, tmp_path: Path, user: str
) -> None:
    ran = birdenv(*run_with(demo_server, tmp_path, "--user", f"{user}:scripted", "-p", "4"))
    assert ran.code == 0 and "Mean reward                          1.000" in ran.out
    records = [json.loads(line) for line in (newest(tmp_path) / "runs.jsonl").read_text().splitlines()]
    assert all(record["usage_of_others"]["user"]["calls"] for record in records)
    assert not any("model_faults" in record for record in records)
    ran = birdenv(*run_with(demo_server, tmp_path)[:1], "--agent", "llm:typo", "--base-url", demo_server.url)
    assert ran.code == 3 and "'typo' does not exist" in ran.err


def test_a_replay_needs_no_server_and_gives_the_same_bytes(
    birdenv: Any, demo_server: Server, tmp_path: Path
) -> None:
    (prices := tmp_path / "prices.json").write_text('{"scripted": {"input": 1, "output": 2}}')
    first, second = tmp_path / "first", tmp_path / "second"
    assert birdenv(*run_with(demo_server, first, "-p", "4", "--prices", prices)).code == 0
    count = len(demo_server.requests)
    assert birdenv(*run_with(demo_server, second, "--replay", first)).code == 0  # its latest run
    assert contents(newest(first)) == contents(newest(second)) and len(demo_server.requests) == count
    assert json.loads((newest(first) / "overall.json").read_text())["usage"]["cost_usd"]["total"] > 0
    ran = birdenv(*run_with(demo_server, second, "--replay", newest(first), "--temperature", "1"))
    assert ran.code == 3 and "does not contain call 1 of library_1/0/system" in ran.err
    assert "--resume" not in ran.err


def test_a_budget_ends_a_run_and_resume_pays_no_call_twice(
    birdenv: Any, demo_server: Server, tmp_path: Path
) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    birdenv(*run_with(demo_server, whole))
    calls = len(demo_server.requests)
    ran = birdenv(*run_with(demo_server, part, "--max-tokens", "9000"))
    assert ran.code == 3 and "--max-tokens is reached" in ran.err and len(ran.err.splitlines()) == 1
    saved = counted(len(RunDirectory.existing(newest(part)).finished()), "finished episode")
    assert f"{saved} saved; to continue: birdenv c-interact --resume {newest(part)}" in ran.err
    made = len(demo_server.requests)
    ran = birdenv("c-interact", "--resume", newest(part))  # under the budget of before
    assert ran.code == 3 and "--max-tokens is reached" in ran.err and len(demo_server.requests) == made
    ran = birdenv("c-interact", "--resume", newest(part), "--max-tokens", "9000000")
    assert ran.code == 0 and len(demo_server.requests) == 2 * calls
    ran = birdenv("c-interact", "--resume", newest(part))  # under the budget of the last time
    assert ran.code == 0 and f"Models: {calls} calls, " in ran.out and "cost unknown" in ran.out
    assert contents(newest(whole)) == contents(newest(part))


def test_an_endpoint_that_fails_is_nobody_s_wrong_answer(
    birdenv: Any, demo_answers: ServerScript, own_environment: None, tmp_path: Path
) -> None:
    task = next(d for d in demo_answers.dialogues if d.model == "scripted" and len(d.turns) > 3)
    broken = task.model_copy(update={"turns": (task.turns[0], ScriptedTurn(status=400, message="No."))})
    dialogues = tuple(broken if each is task else each for each in demo_answers.dialogues)
    with serve(ServerScript(dialogues=dialogues)) as running:
        ran = birdenv(*run_with(running, tmp_path))
        assert ran.code == 3 and "did not count" in ran.err and "answered 400: 'No.'" in ran.err
        overall = json.loads((newest(tmp_path) / "overall.json").read_text())
        assert overall["status"] == {"completed": 3, "infra_error": 1}
        assert overall["figures"]["reward"]["value"] == 1.0
        running.script = demo_answers
        ran = birdenv(*run_with(running, tmp_path, "--resume", newest(tmp_path)))
    assert ran.code == 0 and "4 of 4 finished\n" in ran.out


ENDPOINT_FAULTS = {
    "wrong key": Trouble(status=401, message="Incorrect API key: {key}"),
    "unknown model": Trouble(status=404, message="No such model."),
    "no quota": Trouble(status=429, code="insufficient_quota", message="You have no quota."),
    "a proxy's page": Trouble(body="<html>Sign in</html>", content_type="text/html"),
    "choices null": Trouble(body='{"choices": null}'),
}


@pytest.mark.parametrize("what", ENDPOINT_FAULTS)
def test_what_every_call_would_meet_is_one_line(
    birdenv: Any, server: Start, tmp_path: Path, what: str
) -> None:
    running = server(ScriptedTurn(faults=(ENDPOINT_FAULTS[what],) * 99))
    ran = birdenv(*run_with(running, tmp_path / "results", "-p", "3", "-v"))
    assert ran.code == 3 and ran.err.startswith("Error: http://127.0.0.1:") and len(ran.err.splitlines()) == 1
    assert (
        running.url in ran.err
        and "No episode has finished; to continue: birdenv c-interact --resume" in ran.err
    )
    text = ran.out + ran.err + "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    assert KEY not in text


def test_what_cannot_be_used_is_told_before_anything_is_written(
    birdenv: Any, own_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def ended(*given: str) -> str:
        ran = birdenv("c-interact", "-n", "1", *given)
        assert ran.code == 2 and len(ran.err.splitlines()) == 1 and "Traceback" not in ran.err
        return str(ran.err)

    assert "base URL is not valid" in ended("--agent", "llm:m", "--base-url", "localhost:8000")
    assert "hunter2" not in ended("--agent", "llm:m", "--base-url", "http://me:hunter2@host/v1")
    assert "no model is specified" in ended("--agent", "llm")
    assert "no player is a language model" in ended("--agent", "oracle", "--model", "m")
    assert "no player is a language model" in ended("--replay", str(tmp_path))
    assert "--user-model" in ended("--agent", "oracle", "--user", "llm")
    assert "no recorded calls" in ended("--agent", "llm:m", "--replay", str(tmp_path))
    assert "requires the price" in ended("--agent", "llm:m", "--base-url", "http://h/v1", "--max-cost", "1")
    assert "mine.j2" in ended("--agent", "llm:m", "--prompt", "mine.j2")
    said = ended("--agent", "llm:m", "--base-url", "http://h/v1", "--api-key-variable", KEY)
    assert "names is not set" in said and KEY not in said
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "set OPENAI_API_KEY" in ended("--agent", "llm:m")
    assert "--user-model and --user-base-url have no effect" in ended("--agent", "llm:m", "--user-model", "u")
    assert not (tmp_path / "results").exists()


def test_a_model_user_is_measured_by_one_command(birdenv: Any, server: Start, tmp_path: Path) -> None:
    encoder = ScriptedDialogue(
        when=("Decide what one question is about",), turns=(ScriptedTurn(content="labelled(A1)"),)
    )
    running = server(
        dialogues=(encoder, ScriptedDialogue(turns=(ScriptedTurn(content="With 40 seats or more."),)))
    )
    question = {"instance_id": "library_1", "question": "What is roomy?", "kind": "labelled"}
    asked = [question | {"must": [["40"]]}, question | {"kind": "extraction", "question": "Give me the SQL."}]
    (file := tmp_path / "q.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
    user = ("--user", "llm:u", "--base-url", running.url)
    ran = birdenv("users", "eval", "--questions", file, "-p", "2", *user)
    assert ran.code == 0 and "Models: 4 calls, " in ran.out
    lines = [line.split() for line in reversed(ran.out.splitlines()) if line[:1].islower()]
    rows = {words[0]: words[1:7] for words in lines}  # of the first table
    assert rows["labelled"] == ["1", "100.0", "0.0", "0.0", "0.0", "0.0"]
    assert rows["refusals"] == ["1", "0.0", "0.0", "0.0", "0.0", "100.0"]
    ran = birdenv("users", "eval", "--questions", file, *user[2:])
    assert ran.code == 2 and "no player is a language model" in ran.err
    ran = birdenv("users", "leak", "--seed", "1", "--limit", "1", "-p", "4", *user)
    assert (
        "Notes on the user's model (see docs/language-models.md): granted without a shared word " in ran.out
    )
    assert ran.code == 1 and "annotated points revealed in reply to vague questions: 1 of 2" in ran.out
    ran = birdenv("c-interact", "-n", "1", "--agent", "never-asks", *user)
    text = birdenv("summary", ran.out.split("Results: ")[1].split()[0], "--all").out
    assert "User llm:u, on 2 questions to the demo: labelled 100 % right, 0 % wrong, refusals 0 %" in text
    assert "vague questions revealed 1 of 2 points" in text
    ran = birdenv(
        "c-interact", "-n", "1", "--agent", "never-asks", "--user", "llm", "--user-model", "u", *user[2:]
    )
    text = birdenv("summary", ran.out.split("Results: ")[1].split()[0], "--all").out
    assert "User llm:u, on 2 questions to the demo" in text


def both_seats(url: str, folder: Path) -> list[str]:
    command = [
        sys.executable,
        "-c",
        "from birdenv.cli import main; main()",
        "c-interact",
        "-n",
        "40",
        "-p",
        "8",
    ]
    models = ["--agent", "llm:scripted", "--user", "rule+llm:wording", "--base-url", url]
    return [*command, *models, "-o", str(folder)]


@pytest.fixture(scope="module")
def undisturbed(
    demo_answers: ServerScript, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path, dict[str, bytes]]]:
    """A server with models for both seats, its log, and the files of a run that nobody disturbed."""
    wording = ScriptedDialogue(model="wording", turns=(ScriptedTurn(content="Just what I said before."),))
    both = {"dialogues": (*demo_answers.dialogues, wording), "latency": 0.05, "models": ()}
    folder = tmp_path_factory.mktemp("undisturbed")
    log = folder / "log"
    with serve(demo_answers.model_copy(update=both), log) as running:
        subprocess.run(both_seats(running.url, folder), check=True, stdout=subprocess.DEVNULL)
        yield running.url, log, contents(newest(folder))


@pytest.mark.kills
@pytest.mark.parametrize("number", range(20))
def test_a_killed_run_goes_on_as_if_nothing_had_been(
    undisturbed: tuple[str, Path, dict[str, bytes]], own_environment: None, tmp_path: Path, number: int
) -> None:
    url, log, whole = undisturbed
    log.write_text("")
    command = both_seats(url, tmp_path)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "latest" / "private_calls.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(random.Random(number).uniform(0.0, 2.0))
        os.killpg(process.pid, signal.SIGKILL)
    subprocess.run([*command, "--resume", str(newest(tmp_path))], check=True, stdout=subprocess.DEVNULL)
    assert contents(newest(tmp_path)) == whole
    recorded = len((newest(tmp_path) / "private_calls.jsonl").read_text().splitlines())
    assert recorded <= len(log.read_text().split()) <= recorded + 8  # those in flight when it died
