"""`birdenv show`: one episode in the terminal, and nothing private unless it was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
HOSTILE = {
    "commands": "\x1b[2J\x07cleared",
    "right to left": "a\u202eevil\u202c",
    "markup": "[bold]not bold[/bold] [/wrong]",
    "html": "<script>alert(1)</script>",
    "long": "y" * 65_536,
}


@pytest.fixture
def run(birdenv: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of c-Interact in which the second task fails."""
    monkeypatch.setenv("COLUMNS", "200")
    assert birdenv("c-interact", "--agent", "never-asks", "-n", "4", "-o", tmp_path / "c").code == 0
    return tmp_path / "c" / "latest"


def records(run: Path, stream: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / f"{stream}.jsonl").read_text().splitlines()]


def write(run: Path, stream: str, lines: list[dict[str, Any]]) -> None:
    (run / f"{stream}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def flat(text: str) -> str:
    """Text without the line ends and spaces of wrapping."""
    return re.sub(r"\s+", " ", text)


def secrets_of(run: Path) -> set[str]:
    """All private texts of a run that are not public, too."""
    public = (run / "runs.jsonl").read_text()
    found: set[str] = set()
    for record in records(run, "private"):
        found |= {*record["gold_sql"], *record["follow_up_gold_sql"], record["clear_query"]}
        found |= {str(entry["reason"]) for entry in record["log"] if entry.get("reason")}
        found |= {sql for entry in record["log"] for sql in entry.get("granted", ())}
    return {secret for secret in found if secret and secret not in public}


def test_a_failed_episode_is_told(birdenv: Command, run: Path) -> None:
    ran = birdenv("show", run, "library_2")
    assert ran.code == 0
    record = records(run, "runs")[1]
    assert record["example"]["scenario"]["question"] in flat(ran.out)
    for event in record["example"]["events"]:
        assert flat(event["data"]) in flat(ran.out) and flat(event["metadata"]["reply"]) in flat(ran.out)
    assert "3 rows missing, 3 rows extra, 5 cells wrong; 12 expected, 12 rows returned" in flat(ran.out)
    assert "Phase 1, debug attempt wrong result 0" in flat(ran.out)
    assert "Outcome: wrong result; reward 0; the agent is at fault" in ran.out


def test_private_parts_are_shown_only_when_asked_for(birdenv: Command, run: Path) -> None:
    public = "".join(birdenv("show", run, name).out for name in ("library_1", "library_2", "library_3"))
    found = {secret for secret in secrets_of(run) if flat(secret) in flat(public)}
    assert not found and "Bela" not in public  # a row that only the gold has
    private = birdenv("show", run, "library_2", "--private").out
    of_task = records(run, "private")[1]
    assert flat(of_task["gold_sql"][0]) in flat(private) and flat(of_task["clear_query"]) in flat(private)
    assert "open term 'active members': not asked, not answered, not in the SQL" in private
    assert "missing 2 Bela 2" in flat(private) and "PRIVATE" in private


def test_a_right_result_has_used_every_open_term(birdenv: Command, tmp_path: Path) -> None:
    """The SQL says `EXISTS` where the annotation says `IN`; the text alone does not show the term."""
    birdenv("c-interact", "--agent", "asks-first", "--instances", "library_2", "-o", tmp_path / "a")
    shown = flat(birdenv("show", tmp_path / "a" / "latest", "--private", "library_2").out)
    assert "open term 'active members': asked, answered, in the SQL" in shown


def test_a_task_that_changes_the_database_says_why_no_rows_differ(birdenv: Command, tmp_path: Path) -> None:
    birdenv("c-interact", "--agent", "never-asks", "--instances", "library_M_1", "-o", tmp_path / "m")
    shown = flat(birdenv("show", tmp_path / "m" / "latest", "library_M_1").out)
    assert shown.count("test cases judge this statement, so no rows are compared") == 2


def test_without_an_instance_there_is_a_list_that_names_the_command(birdenv: Command, run: Path) -> None:
    ran = birdenv("show", run)
    assert ran.code == 0 and all(record["instance_id"] in ran.out for record in records(run, "runs"))
    command = ran.out.strip().splitlines()[-1].removeprefix("To read one: birdenv ").split()
    assert birdenv(*command).code == 0


def test_the_end_of_a_run_names_the_command(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("bird", "--agent", "never-asks", "-n", "1", "-o", tmp_path)
    [line] = [line for line in ran.out.splitlines() if line.startswith("To read a dialogue: ")]
    shown = birdenv(*line.removeprefix("To read a dialogue: birdenv ").split())
    assert shown.code == 0 and "submit_sql" in shown.out


def test_a_dialogue_of_people_games_shows_what_the_seats_know(birdenv: Command, tmp_path: Path) -> None:
    players = ("--players", "rulebased", "rulebased")
    assert birdenv("selfplay", "bargain", *players, "-n", "1", "-o", tmp_path).code == 0
    [record] = records(tmp_path / "latest", "runs")
    ran = birdenv("show", tmp_path, record["instance_id"])
    assert ran.code == 0
    assert "What the seat buyer knows" in ran.out and "Agree on a price." in ran.out
    assert record["example"]["events"][0]["data"] in flat(ran.out)


def test_repeats_of_a_task_are_shown_together_or_one_by_one(birdenv: Command, tmp_path: Path) -> None:
    assert birdenv("bird", "--agent", "never-asks", "-n", "1", "--repeats", "2", "-o", tmp_path).code == 0
    assert birdenv("show", tmp_path, "1").out.count("submit_sql") == 2
    assert birdenv("show", tmp_path, "1 repeat 1").out.count("submit_sql") == 1


@pytest.mark.parametrize("kind", HOSTILE)
def test_text_of_an_agent_does_nothing_to_the_terminal(birdenv: Command, run: Path, kind: str) -> None:
    lines = records(run, "runs")
    for event in lines[1]["example"]["events"]:
        event["data"] = HOSTILE[kind]
    lines[1]["example"]["agents"]["0"] = HOSTILE[kind]
    write(run, "runs", lines)
    ran = birdenv("show", run, "library_2")
    assert ran.code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out)
    assert len(ran.out) < 60_000
    if kind in ("markup", "html"):
        assert HOSTILE[kind] in ran.out


def test_without_the_databases_it_says_so(birdenv: Command, run: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(config | {"db_dir": "/nowhere", "data_file": "/nowhere"}))
    ran = birdenv("show", run, "library_2", "--private")
    assert ran.code == 0
    assert "The databases are missing" in ran.out and "The task file is missing" in ran.out


def test_without_private_records_it_says_so(birdenv: Command, run: Path) -> None:
    (run / "private.jsonl").unlink()
    ran = birdenv("show", run, "library_2")
    assert ran.code == 0 and "private.jsonl is missing" in ran.out


def test_a_torn_run_is_shown_as_far_as_it_is(birdenv: Command, run: Path) -> None:
    whole = (run / "runs.jsonl").read_text().splitlines(keepends=True)
    (run / "runs.jsonl").write_text("".join(whole[:2]) + whole[2][:40])
    ran = birdenv("show", run)
    assert ran.code == 0 and "library_2" in ran.out and "library_3" not in ran.out


@pytest.mark.parametrize("damage", ({"agents": 3}, {"events": [5]}, {"events": [{"agent": 0}]}))
def test_a_damaged_record_is_named(birdenv: Command, run: Path, damage: dict[str, Any]) -> None:
    lines = records(run, "runs")
    lines[1]["example"] |= damage
    write(run, "runs", lines)
    ran = birdenv("show", run, "library_2")
    assert (ran.code, ran.out) == (2, "") and "the record of library_2 is damaged" in ran.err
    assert birdenv("show", run, "library_1").code == 0


def test_what_is_not_there_is_named(birdenv: Command, run: Path, tmp_path: Path) -> None:
    assert "no episode 'library_99'" in birdenv("show", run, "library_99").err
    (tmp_path / "empty").mkdir()
    assert birdenv("show", tmp_path / "empty").code == 2
    (run / "runs.jsonl").write_text("")
    assert "no episode has finished yet" in birdenv("show", run).err
