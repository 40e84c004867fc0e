"""Runs held against each other: only like with like, paired by task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from written_runs import bird_record, dialogue_record, write_run

from birdenv.errors import InputError
from birdenv.runs.summaries import RecordedRun, compare, comparison_text, read_run

DATABASES = ("one", "two", "three", "four")


def recorded(folder: Path, passed: Sequence[bool], **config: Any) -> RecordedRun:
    records = [
        bird_record(f"t{n}", value, database=DATABASES[n * 4 // len(passed)])
        for n, value in enumerate(passed)
    ]
    return read_run(write_run(folder, records, **config))


@pytest.fixture
def pair(tmp_path: Path) -> list[RecordedRun]:
    """Of 21 tasks both solve 1, only A solves 1, only B solves 7: the airway data of the literature."""
    a = [True, True] + [False] * 19
    b = [True, False] + [True] * 7 + [False] * 12
    return [recorded(tmp_path / "a", a), recorded(tmp_path / "b", b)]


def test_rates_of_tasks_played_once(pair: list[RecordedRun]) -> None:
    """Fagerland et al. 2014: 2/21 and 8/21, difference 0.286 (0.026 to 0.507); exact McNemar 0.070."""
    found = compare(pair).to_json()["differences"]["ex"]["B-A"]
    assert found["value"] == 0.285714
    assert found["interval_over_tasks"] == pytest.approx([0.0256, 0.5069], abs=1e-4)
    assert found["p_over_tasks"] == 0.070312
    assert found["test_over_tasks"] == "McNemar's test, exact"
    assert found["p_over_databases"] >= 0.125
    assert found["better"] == [f"t{n}" for n in range(2, 9)]
    assert found["worse"] == ["t1"]


def test_the_text_names_test_and_counts(pair: list[RecordedRun]) -> None:
    text = comparison_text(compare(pair), everything=True)
    assert "p = 0.0703 (McNemar's test, exact)" in text
    assert "solved by B only: 7, solved by A only: 1" in text
    assert "2/21" in text
    assert "t2" not in text.replace(str(pair[0].path.parent), "")
    assert "EX 9.5 % 38.1 % +28.6 +2.6 .. +50.7 0.0703" in " ".join(comparison_text(compare(pair)).split())
    listed = comparison_text(compare(pair), tasks=True)
    assert "solved by B only: t2, t3, t4, t5, t6, t7, t8\n" in listed
    assert "solved by A only: t1\n" in listed


def test_three_runs_are_held_against_the_first(pair: list[RecordedRun]) -> None:
    made = compare([*pair, pair[0]])
    found = made.to_json()
    assert list(found["runs"]) == ["A", "B", "C"]
    assert list(found["differences"]["ex"]) == ["B-A", "C-A"]
    same = found["differences"]["ex"]["C-A"]
    assert (same["value"], same["p_over_tasks"], same["p_over_databases"]) == (0.0, 1.0, 1.0)
    assert "  C - A" in comparison_text(made)


def test_rewards_by_paired_bootstrap(tmp_path: Path) -> None:
    """B earns 0.2 more on every task: whatever is resampled, the difference is 0.2."""

    def play(name: str, attempt: str, reward: float) -> RecordedRun:
        records = [
            dialogue_record(f"t{n}", (1, attempt, reward), database=DATABASES[n % 4]) for n in range(12)
        ]
        return read_run(write_run(tmp_path / name, records, game="c-interact"))

    found = compare([play("a", "debug", 0.5), play("b", "first", 0.7)]).to_json()["differences"]
    reward = found["reward"]["B-A"]
    assert reward["value"] == 0.2
    assert reward["interval_over_tasks"] == reward["interval_over_databases"] == [0.2, 0.2]
    assert reward["test_over_tasks"] == "paired bootstrap"
    assert reward["p_over_tasks"] == 0.000488  # 2 / 2^12
    assert reward["p_over_databases"] == 0.125  # 2 / 2^4
    assert found["phase_1_first"]["B-A"]["value"] == 1.0
    assert found["phase_1"]["B-A"]["value"] == 0.0


def test_repeats_count_with_their_mean(tmp_path: Path) -> None:
    once = recorded(tmp_path / "a", [False] * 8)
    records = [
        bird_record(f"t{n}", repeat == 0, repeat=repeat, database=DATABASES[n // 2])
        for n in range(8)
        for repeat in range(4)
    ]
    made = compare([once, read_run(write_run(tmp_path / "b", records, repeats=4))])
    found = made.to_json()["differences"]["ex"]["B-A"]
    assert (found["value"], found["test_over_tasks"]) == (0.25, "paired bootstrap")
    assert found["interval_over_tasks"] == [0.25, 0.25]
    assert any("repeats (1 and 4)" in note for note in made.notes)
    assert "better in B: 8, better in A: 0" in comparison_text(made, everything=True)


def test_repeats_that_say_nothing_are_left_out_of_the_mean(tmp_path: Path) -> None:
    once = recorded(tmp_path / "a", [True] * 4)
    records = [
        bird_record(f"t{n}", not repeat, repeat=repeat, status="infra_error" if repeat else "completed")
        for n in range(4)
        for repeat in range(2)
    ]
    made = compare([once, read_run(write_run(tmp_path / "b", records, repeats=2))])
    assert made.differences[0].value == 0.0
    assert made.figures[1][0].count == 4


def test_two_games_are_never_compared(tmp_path: Path) -> None:
    a = read_run(write_run(tmp_path / "a", [bird_record("x", True)]))
    b = read_run(write_run(tmp_path / "b", [dialogue_record("x")], game="c-interact"))
    with pytest.raises(InputError, match=r"different games: bird \(A\) and c-interact \(B\)"):
        compare([a, b], allow_different=True)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"data_sha256": "other"}, r"the task file \(data_sha256\)"),
        ({"databases_sha256": {"club": "other"}}, r"the databases \(databases_sha256\) of club"),
        ({"databases_sha256": None}, r"the databases \(databases_sha256\) of all databases"),
        ({"notes_sha256": {"club": "x"}}, "knowledge"),
        ({"grader": "2"}, r"the grader's version \(1 and 2\)"),
    ],
)
def test_other_data_or_grader_is_an_error(tmp_path: Path, config: dict[str, Any], says: str) -> None:
    runs = [recorded(tmp_path / "a", [True] * 4), recorded(tmp_path / "b", [False] * 4, **config)]
    with pytest.raises(InputError, match=rf"A and B differ in .*{says}.*--allow-different"):
        compare(runs)
    made = compare(runs, allow_different=True)
    assert "A and B differ" in made.notes[0]
    assert len(made.tasks) == 4


def test_other_tasks_are_an_error_and_the_common_ones_are_compared(tmp_path: Path) -> None:
    names = [f"t{n}" for n in range(6)]
    a, b = (
        read_run(write_run(tmp_path / label, [bird_record(name, True) for name in chosen]))
        for label, chosen in (("a", names[:5]), ("b", names[3:]))
    )
    with pytest.raises(InputError, match="3 only in the first, 1 only in the second"):
        compare([a, b])
    assert compare([a, b], allow_different=True).tasks == ("t3", "t4")


def test_an_unfinished_run_is_an_error(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a", [True] * 4)
    b = recorded(tmp_path / "b", [True] * 3, tasks=["t0", "t1", "t2", "t3"])
    with pytest.raises(InputError, match="B is not finished: 3 of 4 episodes"):
        compare([a, b])
    assert compare([a, b], allow_different=True).tasks == ("t0", "t1", "t2")


def test_tasks_that_one_run_does_not_rate_are_left_out(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a", [True, False, True])
    records = [
        bird_record("t0", True),
        bird_record("t1", True, status="infra_error"),
        bird_record("t2", False),
    ]
    made = compare([a, read_run(write_run(tmp_path / "b", records))])
    assert made.tasks == ("t0", "t2")
    assert made.figures[0][0].count == made.figures[1][0].count == 2
    assert made.notes == ("Left out: 1 common task not rated (no gold, broken) in at least one run",)


def test_nothing_in_common(tmp_path: Path) -> None:
    a = read_run(write_run(tmp_path / "a", [bird_record("x", True)]))
    b = read_run(write_run(tmp_path / "b", [bird_record("y", True)]))
    with pytest.raises(InputError, match="no task is rated in all of these runs"):
        compare([a, b], allow_different=True)


def test_settings_that_differ_are_said_not_refused(tmp_path: Path) -> None:
    runs = [
        recorded(tmp_path / "a", [True] * 4, no_evidence=False),
        recorded(tmp_path / "b", [True] * 4, no_evidence=True, seed=7),
    ]
    assert compare(runs).notes == (
        "A and B differ in the setting no_evidence (False and True)",
        "A and B differ in the setting seed (0 and 7)",
    )


def test_one_database_has_no_interval_over_databases(tmp_path: Path) -> None:
    runs = [
        read_run(write_run(tmp_path / name, [bird_record(f"t{n}", n % 2 == side) for n in range(6)]))
        for side, name in enumerate("ab")
    ]
    made = compare(runs)
    found = made.to_json()["differences"]["ex"]["B-A"]
    assert found["interval_over_databases"] is None
    assert found["p_over_databases"] is None
    assert "only one database" in comparison_text(made, everything=True)


def test_runs_with_different_users_say_so(tmp_path: Path) -> None:
    rule = {"kind": "rule", "style": "plain", "digest": "1"}
    a, b, c, d = (
        recorded(tmp_path / name, [True] * 4, **config)
        for name, config in (
            ("a", {"user_facts": rule}),
            ("b", {"user_facts": {**rule, "style": "terse", "digest": "2"}}),
            ("c", {"user_facts": rule}),
            ("d", {}),
        )
    )
    assert compare([a, b]).notes == ("A and B had different users: style (plain and terse)",)
    assert compare([a, c]).notes == ()
    assert compare([a, d]).notes == ("A and B may have had different users: B does not record its user",)
