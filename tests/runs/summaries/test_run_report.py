"""What `birdenv summary` says: the run's own figures with intervals, and what is left out."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from arenas import a_interact, bird, c_interact, play
from written_runs import bird_record, dialogue_record, write_run

from birdenv.errors import InputError
from birdenv.report.plots import plot
from birdenv.runs.summaries import compare, comparison_text, first_screen, read_run, report


@pytest.mark.parametrize("make", [bird, c_interact, a_interact])
def test_the_run_leaves_the_report_of_its_own_records(demo: Path, tmp_path: Path, make: Any) -> None:
    directory = play(make(demo, 5), "random", tmp_path)
    made = report(read_run(directory.path))
    assert json.loads((directory.path / "overall.json").read_text()) == json.loads(json.dumps(made.to_json()))
    assert (directory.path / "summary.txt").read_text() == made.text()


def test_a_game_that_nobody_registered_has_a_summary(tmp_path: Path) -> None:
    """Episodes, statuses, the mean reward with its interval, usage; also with repeats."""
    records = [
        {"instance_id": n, "status": "completed", "reward": reward, "usage": {"calls": 3}, "repeat": repeat}
        for n, reward in (("a", -1), ("b", 5), ("c", 2))
        for repeat in range(2)
    ]
    records[-1] |= {"status": "infra_error"}
    made = report(read_run(write_run(tmp_path / "run", records, game="chess", repeats=2)))
    found = made.to_json()
    assert (found["game"], found["status"]) == ("chess", {"completed": 5, "infra_error": 1})
    assert found["figures"]["reward"]["value"] == 2.0
    assert found["figures"]["reward"]["interval_over_tasks"] is not None
    assert found["usage"]["calls"] == {"episodes": 6, "total": 18, "mean": 3.0}
    assert "over databases" not in made.text() and "3 tasks, 2 times each" in made.text()
    same = compare([made.run, made.run])
    assert [difference.value for difference in same.differences] == [0.0, 0.0]
    assert "3 tasks compared\n" in comparison_text(same)


@pytest.mark.parametrize("make", [bird, c_interact, a_interact])
def test_both_texts_name_the_engine_once(demo: Path, tmp_path: Path, make: Any) -> None:
    directory = play(make(demo, 2), "oracle", tmp_path)
    made = report(read_run(directory.path))
    line = f"Engine                  {f'SQLite {sqlite3.sqlite_version}':>13}"
    for text in ((directory.path / "summary.txt").read_text(), made.text()):
        assert text.splitlines()[3] == line
        assert text.count("SQLite") == 1
    assert made.to_json()["engine"] == f"SQLite {sqlite3.sqlite_version}"


def test_a_run_of_before_the_engine_was_recorded(tmp_path: Path) -> None:
    made = report(read_run(write_run(tmp_path / "run", [bird_record("a", True)])))
    assert "Engine" not in made.text() and made.to_json()["engine"] is None


def test_rates_by_wilson_and_over_databases(tmp_path: Path) -> None:
    """9 of 10 by Wilson: 0.5958 to 0.9821. Two databases, 5 of 5 and 4 of 5: resampled 0.8, 0.9 or 1."""
    records = [bird_record(str(n), n != 0, database="one" if n < 5 else "two") for n in range(10)]
    found = report(read_run(write_run(tmp_path / "run", records))).to_json()["figures"]["ex"]
    assert found["interval_over_tasks"] == pytest.approx([0.5958, 0.9821], abs=1e-4)
    assert found["interval_over_databases"] == [0.8, 1.0]


def test_dialogues_worked_out_by_hand(tmp_path: Path) -> None:
    records = [
        dialogue_record("a", (1, "first", 0.7), (2, "debug", 0.2)),
        dialogue_record("b", (1, "debug", 0.5)),
        dialogue_record("c", (1, "first", 0.7), follow_up="ungraded"),
        dialogue_record("d", (1, "first", 0.7), follow_up="none"),
        dialogue_record("e"),
        dialogue_record("g", follow_up="none"),
        dialogue_record("f", status="test_error"),
    ]
    made = report(read_run(write_run(tmp_path / "run", records, game="c-interact")))
    found = {name: (f["value"], f["total"]) for name, f in made.to_json()["figures"].items()}
    assert found == {
        "phase_1_first": (0.5, 6),
        "phase_1": (0.666667, 6),
        "phase_1_debug_gain": (0.166667, 6),
        "phase_2_first": (0.0, 3),
        "phase_2": (0.333333, 3),
        "phase_2_debug_gain": (0.333333, 3),
        "phase_2_of_reached": (0.5, 2),
        "solved": (0.5, 6),
        "reward": (0.466667, 6),
    }
    assert made.to_json()["left_out"] == {"test_error": 1}
    text = made.text()
    assert "1 task without test cases that run: not counted" in text
    assert "1 follow-up without gold: not asked or counted" in text
    assert "2 tasks without a follow-up can earn 0.7 at most: the rates of phase 2 are over the 3" in text
    assert "only one database" in text


def test_a_gold_that_fails_is_left_out_beside_the_references_number(tmp_path: Path) -> None:
    records = [bird_record(name, name == "a") for name in "abcd"]
    records[3]["result"] |= {"verdict": "gold_error"}
    made = report(read_run(write_run(tmp_path / "run", records)))
    figures = made.to_json()
    for name in ("ex", "ex_bird"):
        assert (figures["figures"][name]["value"], figures["figures"][name]["total"]) == (0.333333, 3)
    assert figures["table"]["ex"]["total"] == 25.0
    assert "(golds that fail count as failed, as in the reference)" in made.text()
    assert "The gold SQL of 1 task fails or is too slow" in made.text()


def test_episodes_that_say_nothing_are_left_out_and_counted(tmp_path: Path) -> None:
    records = [bird_record("a", True), bird_record("b", False, status="skipped")]
    records += [bird_record("c", False, status="infra_error"), bird_record("d", False, status="task error")]
    made = report(read_run(write_run(tmp_path / "run", records)))
    found = made.to_json()
    assert (found["figures"]["ex"]["passed"], found["figures"]["ex"]["total"]) == (1, 2)
    assert found["left_out"] == {"infra_error": 1, "skipped": 1}
    for says in ("1 task without gold: skipped", "1 episode not played or graded", "counted as failed"):
        assert says in made.text()


def test_exclusions_are_counted_for_each_agent_with_the_first_reason(tmp_path: Path) -> None:
    lost = {"status": "infra_error", "error": "the server\nis lost"}
    records = [bird_record("a", True), bird_record("b", False) | lost, bird_record("c", False) | lost]
    one = read_run(write_run(tmp_path / "one", records, agent="greedy"))
    two = read_run(write_run(tmp_path / "two", [bird_record(name, True) for name in "abc"]))
    three = read_run(write_run(tmp_path / "three", records, agent="sly"))
    said = "2 episodes of greedy are excluded; the first, b: the server is lost"
    assert said in report(one).text()
    assert report(one).to_json()["exclusions"] == {
        "episodes": 2,
        "first": "b",
        "reason": "the server is lost",
    }
    assert "excluded" not in report(two).text() and "exclusions" not in report(two).to_json()
    beside = compare([two, one, three])
    assert said in comparison_text(beside)
    assert "2 episodes of sly are excluded" in comparison_text(beside)
    assert [run.get("exclusions", {}).get("episodes", 0) for run in beside.to_json()["runs"].values()] == [
        0,
        2,
        2,
    ]


def test_the_first_screen_omits_figures_that_some_episodes_do_not_report(tmp_path: Path) -> None:
    used: list[dict[str, Any]] = [
        {"calls": 2, "prompt_tokens": 9, "cost_usd": 0.5},
        {"calls": 3, "prompt_tokens": 5},
    ]
    records = [bird_record(n, True) | {"usage": usage} for n, usage in zip("ab", used, strict=True)]
    records.append(bird_record("c", False, status="infra_error"))  # has no usage
    screen = first_screen(report(read_run(write_run(tmp_path / "run", records))))
    [line] = [line for line in screen.splitlines() if line.startswith("Cost, agent")]
    assert line.endswith("  5 model calls, 14 prompt tokens")


def test_the_first_screen_wraps_the_note_about_exclusions(tmp_path: Path) -> None:
    why = "the server is lost " * 9
    records = [bird_record("a", True), bird_record("b", False) | {"status": "infra_error", "error": why}]
    screen = first_screen(report(read_run(write_run(tmp_path / "run", records))))
    assert all(len(line) <= 100 for line in screen.splitlines() if not line.startswith("Next"))
    assert why.strip() in " ".join(screen.split())


def test_the_reason_of_an_exclusion_tells_nothing_of_the_gold(tmp_path: Path) -> None:
    records = [dialogue_record("a"), dialogue_record("b", status="test_error")]
    run = read_run(write_run(tmp_path / "run", records, game="c-interact"))
    assert (
        "is excluded: b: the benchmark's own SQL or test cases do not run (private.jsonl"
        in report(run).text()
    )


def test_a_run_without_any_gold_has_no_rates(tmp_path: Path) -> None:
    made = report(read_run(write_run(tmp_path / "run", [bird_record("a", False, status="ungraded")])))
    assert made.to_json()["figures"]["ex"]["value"] is None
    assert made.to_json()["by"] == {"difficulty": {}, "database": {}}
    assert "neither graded nor counted" in made.text()


def test_an_unfinished_run_says_so_and_does_not_depend_on_the_order_so_far(tmp_path: Path) -> None:
    records = [bird_record(str(n), n % 3 == 0, database=str(n % 4)) for n in range(12)]
    names = [str(n) for n in range(20)]
    one = report(read_run(write_run(tmp_path / "one", records, tasks=names)))
    two = report(read_run(write_run(tmp_path / "two", records[::-1], tasks=names)))
    assert "UNFINISHED: 12 of 20 episodes" in one.text()
    assert not one.to_json()["finished"]
    assert one.text() == two.text()
    assert one.to_json() == two.to_json()


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [bird_record("a", True), bird_record("b", True)])
    runs = folder / "runs.jsonl"
    runs.write_text(runs.read_text()[:-20])
    assert report(read_run(folder)).to_json()["episodes"] == {"expected": 2, "finished": 1, "rated": 1}


def test_groups_stand_in_the_order_of_the_summary(tmp_path: Path) -> None:
    levels = ("challenging", "simple", "unknown", "moderate")
    records = [bird_record(level, True, difficulty=level) for level in levels]
    found = report(read_run(write_run(tmp_path / "run", records))).to_json()["by"]["difficulty"]
    assert list(found) == ["simple", "moderate", "challenging", "unknown"]


def test_latest_is_taken(tmp_path: Path) -> None:
    write_run(tmp_path / "run-1", [bird_record("a", True)])
    (tmp_path / "latest").symlink_to("run-1")
    assert read_run(tmp_path).path == tmp_path / "run-1"
    (tmp_path / "latest").unlink()
    write_run(tmp_path / "latest", [bird_record("a", True)])
    assert read_run(tmp_path).path == tmp_path / "latest"


def damaged(**fields: Any) -> dict[str, Any]:
    record = bird_record("a", True)
    return record | {"result": record["result"] | fields}


@pytest.mark.parametrize(
    ("record", "config", "says"),
    [
        (damaged(ex="yes"), {}, "the record of a is damaged: a value is not a number"),
        (damaged(ex=None), {}, "a value is not a number"),
        (damaged(ex=7), {}, "not between 0 and 1"),
        (damaged(ex=float("nan")), {}, "not between 0 and 1"),
        (damaged(db_id=5), {}, "must be text"),
        ({"instance_id": "a", "status": "completed"}, {}, "`difficulty` is missing"),
        (bird_record("a", True, repeat="1"), {}, "`repeat` must be a whole number"),
        (bird_record("a", True, repeat=3), {}, "config.json does not name: a"),
        (bird_record("a", True), {"tasks": ["b"]}, "config.json does not name: a"),
        (bird_record("a", True), {"tasks": "a"}, "`tasks` must be a list"),
        (bird_record("a", True), {"game": 5}, "`game` must be text"),
        (bird_record("a", True), {"agent": None}, "`agent` must be text"),
        (bird_record("a", True), {"repeats": 0}, "`repeats` must be"),
        (bird_record("a", True), {"repeats": True}, "`repeats` must be"),
        (bird_record("a", True), {"game": "c-interact"}, "`category` is missing"),
        (dialogue_record("a") | {"attempts": [3]}, {"game": "c-interact"}, "not a number"),
    ],
)
def test_damaged_runs(tmp_path: Path, record: dict[str, Any], config: dict[str, Any], says: str) -> None:
    folder = write_run(tmp_path / "run", [record, bird_record("z", True)])
    settings = json.loads((folder / "config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(InputError) as caught:
        read_run(folder)
    assert says in str(caught.value)


def test_runs_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        read_run(tmp_path)
    with pytest.raises(InputError, match="is not a run"):
        read_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no episode has finished yet"):
        read_run(write_run(tmp_path / "empty", [], tasks=["a"]))
    (tmp_path / "empty" / "runs.jsonl").unlink()
    with pytest.raises(InputError, match="no episode has finished yet"):
        read_run(tmp_path / "empty")
    (tmp_path / "empty" / "config.json").write_text("[]")
    with pytest.raises(InputError, match="expected a JSON object; this is not the config"):
        read_run(tmp_path / "empty")


@pytest.mark.slow
def test_same_run_same_bytes_in_every_process(tmp_path: Path) -> None:
    records = [
        dialogue_record(str(n), *([(1, "first", 0.7)] if n % 3 else []), database=str(n % 5))
        for n in range(40)
    ]
    folder = write_run(tmp_path / "run", records, game="c-interact")
    code = (
        "import sys, json; from pathlib import Path; from birdenv.runs.summaries import read_run, report;"
        "made = report(read_run(Path(sys.argv[1]))); print(json.dumps(made.to_json()), made.text())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code, str(folder)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


@pytest.mark.slow
def test_the_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    records = [bird_record(str(n), n % 3 > 0, database="$a$_" if n % 2 else "b") for n in range(12)]
    made = report(read_run(write_run(tmp_path / "run", records, agent="predictions:$x_$")))
    picture = plot(made)
    assert picture.startswith(b"\x89PNG")
    assert plot(made) == picture
    empty = report(read_run(write_run(tmp_path / "none", [bird_record("a", False, status="ungraded")])))
    assert plot(empty).startswith(b"\x89PNG")


def test_ex_by_difficulty_has_all_tasks(tmp_path: Path) -> None:
    kinds = ["unknown", "moderate", "unknown", "easy"]
    records = [bird_record(str(i), i > 0, difficulty=kind) for i, kind in enumerate(kinds)]
    shown = report(read_run(write_run(tmp_path / "run", records, game="bird"))).details.screen
    expected = "moderate 100.0 % of 1, easy 100.0 % of 1, unknown 50.0 % of 2"
    assert shown == {"EX by difficulty": expected}


def test_bird_has_the_names_of_the_reference_harness(demo: Path, tmp_path: Path) -> None:
    records = [bird_record(str(i), 0 < i < 4) for i in range(5)]
    records[1]["result"]["ex_bird"], records[4]["result"]["ex_bird"] = 0, 1
    records[3] |= {"status": "infra_error"}
    made = report(read_run(write_run(tmp_path / "run", records, game="bird")))
    found = made.to_json()
    assert found["total"] == 5, "also what broke off"
    assert found["overall"] == {"passed": 3, "failed": 2, "accuracy": 0.6}
    assert set(found["status"]) >= {"completed", "context_limit", "task_limit_reached", "task_error"}
    assert list(found["by_difficulty"]) == ["simple", "moderate", "challenging"]
    assert sum(of["total"] for of in found["by_difficulty"].values()) == 5
    assert all(of.keys() == {"total", "passed", "accuracy"} for of in found["by_database"].values())
    lines = made.text().splitlines()
    start = lines.index("Total:       5")
    assert lines[start + 1 : start + 4] == ["Passed (EX): 3", "Failed:      2", "Accuracy:    60.0%"]
    assert "By difficulty:" in lines and "By database:" in lines
    assert found["ex_differences"]["only_ex"]["float_tolerance"] == 1
    assert "Note: EX counts 1 answer that EX (BIRD set) does not: 1 by float tolerance." in lines
    assert "Note: EX (BIRD set) counts 1 answer that EX does not: 1 by row counts." in lines
    assert sum("execution accuracy" in line for line in lines) == 1


def test_one_episode_has_no_intervals_and_tables_have_headings(demo: Path, tmp_path: Path) -> None:
    one = report(read_run(play(c_interact(demo, 1), "oracle", tmp_path / "one").path))
    assert ".." not in one.text() and "95 %" not in one.text()
    assert "One episode: no intervals." in one.text()
    assert all(of["interval_over_tasks"] is None for of in one.to_json()["figures"].values())
    few = report(read_run(play(c_interact(demo, 3), "oracle", tmp_path / "few").path))
    assert "of fewer than 10 tasks" in few.text() and "by difficulty" not in few.text()
    assert few.to_json()["by"]["difficulty"]["Easy"]
    several = report(read_run(play(c_interact(demo, 10), "oracle", tmp_path / "several").path))
    heads = [line for line in several.text().splitlines() if line.endswith("100 %")]
    assert heads and all("95 % over tasks" in line for line in heads)
    assert "What happened (episodes)\n  request solved at once, follow-up solved at once" in several.text()
    assert sum(several.to_json()["what_happened"].values()) == 10


def test_plots_of_runs_side_by_side_and_long_names(demo: Path, tmp_path: Path) -> None:
    from birdenv.report.plots import comparison_rows, cut

    runs = [read_run(play(bird(demo, 4), agent, tmp_path / agent).path) for agent in ("oracle", "never-asks")]
    made = compare(runs)
    assert [name for name, _ in comparison_rows(made)][:3] == ["EX", "A oracle", "B never-asks"]
    assert plot(made).startswith(b"\x89PNG")
    assert cut("x" * 40) == "x" * 40
    assert len(cut("x" * 400)) == 40
