"""Grading a stored run again: what was submitted is judged, nothing is played, nothing is done twice."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arenas import bird, c_interact, play

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.errors import InputError
from birdenv.runs import RunDirectory
from birdenv.runs.regrade import (
    bird_regrade_text,
    regrade_bird,
    regrade_interact,
    regrade_record,
    regrade_text,
)
from birdenv.runs.regrade._bird import BirdRegrade
from birdenv.runs.regrade._interact import AS_PLAYED, Regrade
from birdenv.tasks.c_interact import PROFILES

sys.path.insert(0, str(Path(__file__).parents[2] / "tasks" / "c_interact"))
from toy_tasks import FOLLOW_UP_RIGHT, QUERY, RIGHT, WRONG, write_benchmark

DOUBLED = f"{RIGHT} UNION ALL {RIGHT}"
"""Right as a set of rows, as shell and adk compare them; strictly it is wrong."""

HOLE = "UPDATE member SET age = 1; SELECT 0"
BROKEN_BY_SHELL = "SELECT count(*) FROM member WHERE (age >= 18) IS NOT DISTINCT FROM TRUE"
"""Strictly right; without the word DISTINCT it is no SQL."""


class Scripted:
    """Makes players that submit what they were given, then leave."""

    def __init__(self, scripts: dict[str, list[str]]) -> None:
        self._scripts = scripts

    def __call__(self, argument: str, context: PlayerContext) -> _Script:
        return _Script(iter(self._scripts[context.instance_id]))


class _Script:
    def __init__(self, moves: Iterator[str]) -> None:
        self._moves = moves

    def move(self, view: View) -> Move:
        sql = next(self._moves, None)
        return Move("quit") if sql is None else Move("submit_sql", sql)


EPISODES = {
    "right": [RIGHT, FOLLOW_UP_RIGHT],
    "right_after_debug": [WRONG, RIGHT, WRONG, FOLLOW_UP_RIGHT],
    "wrong": [WRONG, "SELECT"],
    "doubled": [DOUBLED, DOUBLED],
    "doubled_then_right": [DOUBLED, RIGHT, FOLLOW_UP_RIGHT],
    "hole": [HOLE, WRONG],
    "broken_by_shell": [BROKEN_BY_SHELL, FOLLOW_UP_RIGHT],
    "left_at_once": [],
    "left_after_one": [WRONG],
    "blank": ["", RIGHT, FOLLOW_UP_RIGHT],
}


def played(folder: Path, episodes: dict[str, list[str]] = EPISODES) -> RunDirectory:
    data = write_benchmark(folder / "data", *(QUERY | {"instance_id": name} for name in episodes))
    return play(c_interact(data), Scripted(episodes), folder / "runs")


def again(directory: RunDirectory, *profiles: str, **options: Any) -> Regrade:
    chosen = [PROFILES[name] for name in profiles or PROFILES]
    return regrade_interact(directory, chosen, **options)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return played(tmp_path_factory.mktemp("regrade"))


def test_the_profile_that_was_played_gives_its_own_figures_again(stored: RunDirectory) -> None:
    found = again(stored)
    figures = found.figures
    assert figures["strict"] == figures[AS_PLAYED]
    overall = json.loads((stored.path / "overall.json").read_text())
    own = overall["figures"]
    for name in ("phase_1_first", "phase_1", "phase_2_first", "phase_2"):
        assert getattr(figures["strict"], name) == own[name]["passed"]
    assert figures["strict"].tasks == own["phase_1"]["total"] == len(EPISODES)
    assert figures["strict"].mean_reward == pytest.approx(own["reward"]["value"], abs=1e-6)


def test_profiles_side_by_side(stored: RunDirectory) -> None:
    found = again(stored)
    strict, shell, adk = (found.figures[name] for name in ("strict", "shell", "adk"))
    assert (strict.phase_1_first, strict.phase_1, strict.phase_2_first, strict.phase_2) == (2, 5, 4, 5)
    assert (shell.phase_1_first, shell.phase_1, shell.phase_2_first, shell.phase_2) == (4, 6, 3, 4)
    assert adk == shell
    judged = {(d.episode, d.phase, d.attempt): d.verdicts for d in found.disagreements}
    assert set(judged) == {
        ("doubled", 1, "first"),
        ("doubled", 1, "debug"),
        ("doubled_then_right", 1, "first"),
        ("hole", 1, "first"),
        ("broken_by_shell", 1, "first"),
    }
    hole = judged["hole", 1, "first"]
    assert {name: verdict.status for name, verdict in hole.items()} == {
        AS_PLAYED: "sql_error",
        "strict": "sql_error",
        "shell": "passed",
        "adk": "passed",
    }
    assert hole["shell"].flags == ("integrity",) and hole["strict"].flags == ()


def test_an_episode_that_was_never_played_to_its_end_is_told(stored: RunDirectory) -> None:
    found = again(stored)
    assert found.cut_short["strict"] == {}
    for profile in ("shell", "adk"):
        assert sorted(found.cut_short[profile]) == ["broken_by_shell", "doubled", "hole"]
    assert "phase 2 was never played" in found.cut_short["shell"]["doubled"]
    assert "debug attempt was never made" in found.cut_short["shell"]["broken_by_shell"]
    text = regrade_text(found)
    assert "lower bounds" in text and "shell: hole: it passes phase 1" in text
    assert "lower bounds" not in regrade_text(again(stored, "strict"))


def test_only_reasons_are_private(stored: RunDirectory) -> None:
    found = again(stored)
    gold = "age >= 18"
    assert "duplicate rows" not in regrade_text(found) and gold not in regrade_text(found)
    assert "duplicate rows differ" in regrade_text(found, reasons=True)
    assert "passed (integrity)" in regrade_text(found)
    public = json.dumps(regrade_record(found))
    assert "duplicate rows" not in public and gold not in public
    assert not (stored.path / "grades.jsonl").exists()


def test_grading_once_more_gives_the_same(tmp_path: Path) -> None:
    directory = played(tmp_path)
    first, second = again(directory), again(directory)
    assert (second.figures, second.disagreements) == (first.figures, first.disagreements)
    assert again(directory, "shell", parallel=2).figures["shell"] == first.figures["shell"]


def change_database(data: Path) -> None:
    connection = sqlite3.connect(data / "club" / "club.sqlite")
    connection.execute("DELETE FROM member")
    connection.commit()
    connection.close()


def change_tasks(data: Path) -> None:
    file = data / "c_interact.jsonl"
    file.write_text(file.read_text() + "\n")


@pytest.mark.parametrize(
    ("change", "named"),
    [(change_database, "the database club"), (change_tasks, "c_interact.jsonl")],
    ids=["a database", "the task file"],
)
def test_changed_data_are_an_error_that_says_so(tmp_path: Path, change: Any, named: str) -> None:
    directory = played(tmp_path, {"right": EPISODES["right"]})
    change(tmp_path / "data")
    with pytest.raises(InputError, match=named) as caught:
        again(directory)
    assert "--allow-changed" in str(caught.value)
    found = again(directory, allow_changed=True)
    assert any(named in text for text in found.changes)
    assert named in regrade_text(found)


def test_moved_data_are_found_by_option(tmp_path: Path) -> None:
    directory = played(tmp_path, {"right": EPISODES["right"]})
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="--data-dir"):
        again(directory)
    found = again(directory, folder=moved, task_file=moved / "c_interact.jsonl")
    assert found.figures["strict"].mean_reward == 1.0


def test_a_task_that_is_gone_is_left_out_and_told(tmp_path: Path) -> None:
    directory = played(tmp_path, {name: EPISODES[name] for name in ("right", "wrong")})
    file = tmp_path / "data" / "c_interact.jsonl"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    found = again(directory, allow_changed=True)
    assert (found.left_out, found.figures[AS_PLAYED].tasks) == (("wrong",), 1)
    assert "no longer in the task file: wrong" in regrade_text(found)


def test_a_record_that_does_not_fit_is_named(tmp_path: Path) -> None:
    directory = played(tmp_path, {"right": EPISODES["right"]})
    runs = directory.file("runs")
    record = json.loads(runs.read_text())
    record["attempts"] *= 2
    runs.write_text(json.dumps(record) + "\n")
    with pytest.raises(InputError, match="right"):
        again(directory)


def test_a_benchmark_that_does_not_run_is_left_out_of_the_profile(tmp_path: Path) -> None:
    """Under strict rules; the published evaluators count it as failed."""
    directory = played(tmp_path, {"right": EPISODES["right"]})
    change_database(tmp_path / "data")
    connection = sqlite3.connect(tmp_path / "data" / "club" / "club.sqlite")
    connection.execute("DROP TABLE member")
    connection.close()
    figures = again(directory, allow_changed=True).figures
    assert (figures["strict"].tasks, figures["shell"].tasks) == (0, 1)


# --- BIRD

ASKED = [
    {"question_id": 0, "db_id": "club", "question": "?", "SQL": RIGHT},
    {"question_id": 1, "db_id": "club", "question": "?", "SQL": RIGHT},
    {"question_id": 2, "db_id": "club", "question": "?", "SQL": RIGHT},
    {"question_id": 3, "db_id": "club", "question": "?", "SQL": ""},
]
ANSWERS = {"0": [RIGHT], "1": [f"```sql\n{RIGHT}\n```"], "2": [DOUBLED], "3": [RIGHT]}


def played_bird(folder: Path) -> RunDirectory:
    data = write_benchmark(folder / "data", QUERY)
    (data / "bird.json").write_text(json.dumps(ASKED))
    return play(bird(data, file=data / "bird.json"), Scripted(ANSWERS), folder / "runs")


def bird_again(directory: RunDirectory, **options: Any) -> BirdRegrade:
    return regrade_bird(directory, **options)


def test_bird_is_graded_again(tmp_path: Path) -> None:
    found = bird_again(played_bird(tmp_path))
    assert found.different == []
    text = bird_regrade_text(found)
    assert "EX, now                      1/3" in text
    assert "EX (BIRD set), now           2/3" in text


def test_bird_cleaned(tmp_path: Path) -> None:
    directory = played_bird(tmp_path)
    found = bird_again(directory, clean=True)
    assert found.different == ["1"]
    assert "sql_error (EX 0, set 0) -> passed (EX 1, set 0)" in bird_regrade_text(found)
    assert "EX, now, cleaned             2/3" in bird_regrade_text(found)


def test_doubtful_answers_of_bird_fail_if_that_is_asked(tmp_path: Path) -> None:
    data = write_benchmark(tmp_path / "data", QUERY)
    (data / "bird.json").write_text(json.dumps(ASKED[:1]))
    spelled = Scripted({"0": ["SELECT 2"]})
    run = play(bird(data, file=data / "bird.json"), spelled, tmp_path / "runs")
    assert bird_again(run).different == []
    found = bird_again(run, fail_doubtful=True)
    assert found.different == ["0"] and "with fail_doubtful" in bird_regrade_text(found)
    careful = play(bird(data, file=data / "bird.json", fail_doubtful=True), spelled, tmp_path / "careful")
    assert bird_again(careful).different == [] and bird_again(careful).now["0"]["ex"] == 0


def test_bird_on_changed_data(tmp_path: Path) -> None:
    directory = played_bird(tmp_path)
    change_database(tmp_path / "data")
    with pytest.raises(InputError, match="the database club"):
        bird_again(directory)
    assert bird_again(directory, allow_changed=True).changes == ("the database club",)
