"""Scoring official result files as the published scripts leave them (BIRD-Interact §4.5, §5.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.errors import InputError
from birdenv.runs.official.score import score_official

STAGES = ("", "_debug", "_fu", "_fu_debug")
WAYS: dict[str, tuple[str | None, str | None, float]] = {
    "both at once": ("first", "first", 1.0),
    "debug, at once": ("debug", "first", 0.8),
    "at once, debug": ("first", "debug", 0.9),
    "both after debug": ("debug", "debug", 0.7),
    "at once, then not": ("first", None, 0.7),
    "debug, then not": ("debug", None, 0.5),
    "never": (None, None, 0.0),
}
"""The ways through a task: where each phase was passed, and what that earns (§8)."""


def row(name: str, passed: bool, **fields: Any) -> dict[str, Any]:
    """A line as the published evaluator writes it; `asked` and `max_turn` of the conversation."""
    asked = fields.pop("asked", 1)
    database = name.rsplit("_", 1)[0].removesuffix("_M")
    turns = {f"prediction_turn_{number}": f"<s>Question {number}?</s>" for number in range(1, asked + 1)}
    turns[f"prediction_turn_{asked + 1}"] = "<t>```postgresql\nSELECT 1\n```</t>"
    return {
        "instance_id": name,
        "selected_database": database,
        "category": "Management" if "_M_" in name else "Query",
        "high_level": False,
        "difficulty_tier": "Easy",
        "user_query_ambiguity": {
            "critical_ambiguity": [{"term": "t", "sql_snippet": "s", "type": "intent_ambiguity"}],
            "non_critical_ambiguity": [],
        },
        "knowledge_ambiguity": [],
        "max_turn": 4,
        "final_turn": asked + 1,
        "pred_sqls": ["SELECT 1"],
        **turns,
        "status": "success" if passed else "failed",
        "error_msg": "" if passed else "[exec_err_flg] - Execution_Error: True",
        **fields,
    }


def write(folder: Path, name: str, records: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def stage(folder: Path, number: int, records: Sequence[Mapping[str, Any]]) -> Path:
    return write(folder, f"sql_results{STAGES[number]}_output_with_status.jsonl", records)


def write_ways(folder: Path, ways: Mapping[str, str], *, all_in_debug: bool, order: Random) -> None:
    """The four files of a batch, each in an order of its own."""
    stages: list[list[dict[str, Any]]] = [[], [], [], []]
    for name, way in ways.items():
        phase_1, phase_2, _ = WAYS[way]
        stages[0].append(row(name, phase_1 == "first"))
        if all_in_debug or phase_1 != "first":
            stages[1].append(row(name, phase_1 is not None))
        if phase_1 is not None:
            stages[2].append(row(name, phase_2 == "first"))
            if phase_2 != "first":
                stages[3].append(row(name, phase_2 == "debug"))
    for number, records in enumerate(stages):
        order.shuffle(records)
        stage(folder, number, records)


def official(folder: Path, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = score_official(folder, **options).to_json()["official"]
    return found


def notes(folder: Path) -> list[str]:
    return list(score_official(folder).results.notes)


@given(
    ways=st.lists(st.sampled_from(sorted(WAYS)), min_size=1, max_size=12),
    all_in_debug=st.booleans(),
    order=st.randoms(use_true_random=False),
)
def test_the_score_is_the_mean_of_what_the_tasks_earn(
    tmp_path_factory: pytest.TempPathFactory, ways: list[str], all_in_debug: bool, order: Random
) -> None:
    folder = tmp_path_factory.mktemp("batch")
    batch = {f"db_{number}": way for number, way in enumerate(ways)}
    write_ways(folder, batch, all_in_debug=all_in_debug, order=order)
    found = official(folder)
    earned = [WAYS[way][2] for way in ways]
    assert found["normalized_reward"] == pytest.approx(sum(earned) / len(earned))
    counts = [sum(WAYS[way][phase] == at for way in ways) for phase in (0, 1) for at in ("first", "debug")]
    assert [found[name] for name in "abcd"] == counts
    assert found["phase_2_of_reached"]["total"] == sum(WAYS[way][0] is not None for way in ways)


def test_every_figure(tmp_path: Path) -> None:
    batch = {f"db_{'M_' if number % 2 else ''}{number}": way for number, way in enumerate(WAYS)}
    write_ways(tmp_path, batch, all_in_debug=True, order=Random(0))
    made = score_official(tmp_path).to_json()
    found = made["official"]
    assert (found["tasks"], found["valid"], found["left_out"]) == (7, 7, {})
    assert [found[name] for name in "abcd"] == [3, 3, 2, 2]
    assert found["normalized_reward"] == pytest.approx((0.7 * 3 + 0.5 * 3 + 0.3 * 2 + 0.2 * 2) / 7)
    rates = {
        name: (rate["passed"], rate["total"]) for name, rate in found.items() if name.startswith("phase_")
    }
    assert rates == {
        "phase_1_first": (3, 7),
        "phase_1": (6, 7),
        "phase_1_debug_gain": (3, 7),
        "phase_2_first": (2, 7),
        "phase_2": (4, 7),
        "phase_2_debug_gain": (2, 7),
        "phase_2_of_reached": (4, 6),
    }
    assert found["phase_1"]["interval"] == pytest.approx([0.48687, 0.97432], abs=1e-5)  # Wilson
    assert {name: group["tasks"] for name, group in made["by_category"].items()} == {
        "Management": 3,
        "Query": 4,
    }
    assert {
        kind: list(made[f"by_{kind}"]) for kind in ("database", "difficulty", "high_level", "ambiguity")
    } == {
        "database": ["db"],
        "difficulty": ["Easy"],
        "high_level": ["detailed"],
        "ambiguity": ["intent_ambiguity"],
    }
    assert (made["questions_asked"], made["questions_allowed"], made["answers"]) == (1, 3, None)


def test_the_calls_of_the_user(tmp_path: Path) -> None:
    """Not the call for the last turn: the pipeline asks its user about the SQL, too."""
    stage(tmp_path, 0, [row("db_1", True, asked=3), row("db_2", False, asked=0)])
    calls = ['labeled("t")', "unlabeled('a.b')", " unanswerable() ", 'labeled("the SQL")']
    said = {f"prediction_turn_{number}": f"<s>{call}</s>" for number, call in enumerate(calls, 1)}
    write(tmp_path, "user_1_interaction.jsonl", [{"instance_id": "db_1"} | said, {"instance_id": "db_2"}])
    made = score_official(tmp_path).to_json()
    assert made["answers"] == {"labelled": 1, "unlabelled": 1, "unanswerable": 1}
    write(tmp_path, "user_1_interaction.jsonl", [{"instance_id": "db_1", "prediction_turn_1": "What?"}])
    assert "1 answer of the user without any of the three calls" in " ".join(notes(tmp_path))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("<s>Q?</s>", 1),
        ("<s>Q</s> ... <t>SELECT 1</t>", 1),
        ("<t>SELECT 1</t>", 0),
        ("a hallucination ### Turn 3 <s>Q?</s>", 0),
    ],
)
def test_what_counts_as_a_question(tmp_path: Path, text: str, asked: int) -> None:
    stage(tmp_path, 0, [row("db_1", True, asked=0) | {"prediction_turn_1": text}])
    assert score_official(tmp_path).results.questions_asked == asked


def test_debug_may_hold_all_tasks_or_those_that_failed(tmp_path: Path) -> None:
    for all_in_debug in (True, False):
        folder = tmp_path / str(all_in_debug)
        write_ways(
            folder, {"db_1": "debug, at once", "db_2": "never"}, all_in_debug=all_in_debug, order=Random(1)
        )
        assert [official(folder)[name] for name in "abcd"] == [0, 1, 1, 0]


def test_a_pass_that_fails_when_it_is_graded_again_counts(tmp_path: Path) -> None:
    stage(tmp_path, 0, [row("db_1", True)])
    stage(tmp_path, 1, [row("db_1", False)])
    assert official(tmp_path)["normalized_reward"] == 0.7
    assert any("the first attempt passed but" in note and "db_1" in note for note in notes(tmp_path))


def test_follow_ups_of_tasks_that_failed_are_not_counted(tmp_path: Path) -> None:
    """Where no task reached phase 2, the pipeline grades all of phase 1's SQL as follow-ups (§2.4)."""
    stage(tmp_path, 0, [row("db_1", False)])
    stage(tmp_path, 1, [row("db_1", False)])
    stage(tmp_path, 2, [row("db_1", True)])
    found = official(tmp_path)
    assert (found["normalized_reward"], found["c"], found["phase_2_of_reached"]["total"]) == (0.0, 0, 0)
    assert any("there is a follow-up although phase 1 failed" in note for note in notes(tmp_path))
    stage(tmp_path, 2, [row("db_1", False, error_msg="DB reset error: busy")])
    assert official(tmp_path)["left_out"] == {}


@pytest.mark.parametrize("message", ["DB reset error: no template", "DB connection error: refused"])
def test_faults_count_as_failed_and_are_told_apart(tmp_path: Path, message: str) -> None:
    broken = row("db_2", False, error_msg=message)
    stage(tmp_path, 0, [row("db_1", True), broken, row("db_3", False, error_msg=message)])
    stage(tmp_path, 1, [row("db_1", True), broken, row("db_3", True)])
    found = official(tmp_path)
    assert (found["tasks"], found["valid"], found["left_out"]) == (3, 2, {"infra_error": 1})
    assert found["normalized_reward"] == pytest.approx(1.2 / 3)
    assert found["normalized_reward_valid"] == pytest.approx(1.2 / 2)
    assert any(
        "the machine or the database was at fault" in note and "db_2" in note for note in notes(tmp_path)
    )


def test_stages_that_are_missing_are_noted(tmp_path: Path) -> None:
    stage(tmp_path, 0, [row("db_1", True), row("db_2", False)])
    assert official(tmp_path)["normalized_reward"] == 0.35
    told = " ".join(notes(tmp_path))
    assert all(f"sql_results{name}_output_with_status.jsonl is missing" in told for name in STAGES[1:])


def test_tasks_without_a_verdict_count_as_failed(tmp_path: Path) -> None:
    path = stage(tmp_path, 0, [row("db_1", True), row("db_2", True)])
    write(tmp_path, "sql_results.jsonl", [row(name, True) for name in ("db_1", "db_2", "db_3")])
    path.write_text(path.read_text()[:-30])
    found = official(tmp_path)
    assert (found["tasks"], found["valid"], found["a"]) == (3, 1, 1)
    told = notes(tmp_path)
    assert any("the last line is incomplete" in note for note in told)
    assert any("has no verdict" in note and "db_2, db_3" in note for note in told)


def test_of_several_lines_for_a_task_the_last_counts(tmp_path: Path) -> None:
    stage(tmp_path, 0, [row("db_1", True), row("db_2", True), row("db_1", False)])
    found = official(tmp_path)
    assert (found["tasks"], found["a"]) == (2, 1)
    assert any("several lines for a task" in note and "db_1" in note for note in notes(tmp_path))


def test_a_task_that_only_a_later_stage_has_is_left_out(tmp_path: Path) -> None:
    stage(tmp_path, 0, [row("db_1", True)])
    stage(tmp_path, 1, [row("db_1", True), row("db_9", True)])
    assert official(tmp_path)["tasks"] == 1
    assert any("left out: db_9" in note for note in notes(tmp_path))


def test_a_path_that_makes_the_evaluator_take_everything_for_follow_ups(tmp_path: Path) -> None:
    folder = tmp_path / "bird_full"
    stage(folder, 0, [row("db_1", True)])
    assert any("`_fu`" in note for note in notes(folder))
    stage(folder, 0, [row("db_1", True, birdenv_status="completed")])
    assert not any("`_fu`" in note for note in notes(folder))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", "line 2 is not a task record"),
        ('{"status": "success"}', "line 2 is not a task record"),
        ('{"instance_id": "db_2"}', r"line 2 \(db_2\): the field `status`"),
        ('{"instance_id": "db_2", "status": true}', r"line 2 \(db_2\): the field `status`"),
        ('{"instance_id": "db_2", "sta', "line 2 is not JSON"),
    ],
)
def test_damaged_lines(tmp_path: Path, line: str, message: str) -> None:
    path = stage(tmp_path, 0, [row("db_1", True)])
    path.write_text(path.read_text() + line + "\n" + json.dumps(row("db_3", True)) + "\n")
    with pytest.raises(InputError, match=message):
        score_official(tmp_path)


def test_what_is_no_results_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        score_official(tmp_path / "nowhere")
    with pytest.raises(InputError, match="play it with --official-files"):
        score_official(tmp_path)
    write(tmp_path, "sql_results.jsonl", [row("db_1", True)])
    with pytest.raises(
        InputError, match=r"sql_results_output_with_status.jsonl: no such file; let the pipeline"
    ):
        score_official(tmp_path)
    stage(tmp_path, 0, [row("db_1", True)])
    adk(tmp_path, [])
    with pytest.raises(InputError, match="specify that file"):
        score_official(tmp_path)


def test_tasks_that_should_be_there(tmp_path: Path) -> None:
    stage(tmp_path, 0, [row("db_1", True)])
    tasks = [row(name, False) | {"difficulty_tier": "Hard"} for name in ("db_1", "db_2")]
    made = score_official(tmp_path, tasks).to_json()
    found = made["official"]
    assert (found["tasks"], found["normalized_reward"]) == (2, 0.35)
    assert (found["valid"], found["left_out"], found["normalized_reward_valid"]) == (1, {"skipped": 1}, 0.7)
    assert made["by_difficulty"]["Hard"]["tasks"] == 2
    assert any("a task in --data has no result" in note and "db_2" in note for note in made["notes"])
    with pytest.raises(InputError, match="db_1 is not among the tasks in --data"):
        score_official(tmp_path, tasks[1:])


def adk(folder: Path, results: Sequence[Mapping[str, Any]], mode: str = "c-interact") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"eval_{mode}.json"
    path.write_text(json.dumps({"mode": mode, "metrics": {}, "results": list(results)}))
    return path


def served(name: str, phase_1: bool, phase_2: bool, reward: float, **fields: Any) -> dict[str, Any]:
    """A result as the tool-calling service writes it."""
    return {
        "task_id": name,
        "instance_id": name,
        "database": name.rsplit("_", 1)[0].removesuffix("_M"),
        "phase1_passed": phase_1,
        "phase2_passed": phase_2,
        "has_follow_up": True,
        "total_reward": reward,
    } | fields


def test_the_service_tells_attempts_by_the_reward(tmp_path: Path) -> None:
    results = [
        served(f"db_{number}", phase_1 is not None, phase_2 is not None, reward)
        for number, (phase_1, phase_2, reward) in enumerate(WAYS.values())
    ]
    results += [{"task_id": "db_M_9", "error": "timeout", "total_reward": 0}]
    path = adk(tmp_path, results)
    assert official(tmp_path) == official(path)
    found = official(path)
    assert [found[name] for name in "abcd"] == [3, 3, 2, 2]
    assert (found["tasks"], found["valid"], found["left_out"]) == (8, 7, {"infra_error": 1})
    assert found["normalized_reward"] == pytest.approx(sum(reward for *_, reward in WAYS.values()) / 8)
    assert list(score_official(path).to_json()["by_category"]) == ["Management", "Query"]


def test_a_reward_that_was_granted_twice(tmp_path: Path) -> None:
    """The published sample of 1.4: phase 1 rewarded twice, phase 2 not passed (§5.3)."""
    path = adk(tmp_path, [served("alien_8", True, False, 1.4), served("alien_9", True, True, 1.3)])
    found = official(path)
    assert [found[name] for name in "abcd"] == [1, 1, 0, 1]
    assert any("alien_8 1.4, alien_9 1.3" in note for note in notes(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "a list `results`"),
        ('{"results": [{}]}', "result 1 has no instance_id"),
        ('{"results": [{"task_id": "a", "phase1_passed": true}]}', r"result 1 \(a\): needs phase1_passed"),
        ('{"results": [', "cut off"),
    ],
)
def test_a_damaged_file_of_the_service(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "eval_c.json").write_text(text)
    with pytest.raises(InputError, match=message):
        score_official(tmp_path)


def test_several_files_of_the_service(tmp_path: Path) -> None:
    adk(tmp_path, [served("db_1", True, True, 1.0)])
    adk(tmp_path, [served("db_1", True, True, 1.0)], mode="a-interact")
    with pytest.raises(InputError, match=r"eval_a-interact.json and eval_c-interact.json; specify one"):
        score_official(tmp_path)
