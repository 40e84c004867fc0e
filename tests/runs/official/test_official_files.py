"""The official pipeline's files of a run: names, fields, bytes, and the same score when read back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from arenas import c_interact, play

from birdenv.dialogue import Arena, Move, PlayerContext, View
from birdenv.errors import InputError
from birdenv.runs import RunDirectory
from birdenv.runs.official.score import score_official
from birdenv.runs.official.write import write_official_files
from birdenv.tasks.c_interact import PROFILES

sys.path.insert(0, str(Path(__file__).parents[2] / "tasks" / "c_interact"))
from toy_tasks import FOLLOW_UP_RIGHT, QUERY, RIGHT, WRONG, write_benchmark

ASK = Move("clarify", "What do you mean by grown?")
OFF_TOPIC = Move("clarify", "What is the weather like?")
REFUSED = "Sorry, that is nothing I can help you with. Please ask about what I meant by my question."
NONSENSE = Move("dance", "about architecture")
CRASH = Move("crash")


def sql(text: str) -> Move:
    return Move("submit_sql", text)


EPISODES: dict[str, list[Move]] = {
    "right": [ASK, sql(RIGHT), sql(FOLLOW_UP_RIGHT)],
    "all_after_debug": [OFF_TOPIC, ASK, sql(WRONG), sql(RIGHT), sql("SELECT"), sql(FOLLOW_UP_RIGHT)],
    "follow_up_fails": [sql(RIGHT), sql(WRONG), sql(WRONG)],
    "wrong": [sql(WRONG), sql("SELECT nothing FROM nowhere")],
    "left_at_once": [],
    "left_after_one": [ASK, sql(WRONG)],
    "left_before_follow_up": [sql(RIGHT)],
    "blank": [sql(""), sql(RIGHT), sql(FOLLOW_UP_RIGHT)],
    "nonsense": [NONSENSE, ASK, *[NONSENSE] * 3, NONSENSE, NONSENSE],
    "nonsense_at_last": [*[ASK] * 5, NONSENSE, sql(RIGHT), sql(FOLLOW_UP_RIGHT)],
    "crash": [ASK, CRASH],
    "crash_in_follow_up": [sql(RIGHT), CRASH],
    "no_follow_up": [sql(WRONG), sql(RIGHT)],
    "follow_up_withheld": [sql(RIGHT)],
    "no_gold": [ASK, sql(RIGHT)],
    "broken_gold": [sql(RIGHT)],
    "broken_follow_up": [sql(RIGHT), sql(FOLLOW_UP_RIGHT)],
}

CHANGES: dict[str, dict[str, Any]] = {
    "no_follow_up": {"follow_up": None},
    "follow_up_withheld": {"follow_up": QUERY["follow_up"] | {"sol_sql": []}},
    "no_gold": {"sol_sql": []},
    "broken_gold": {"sol_sql": ["SELECT nothing FROM nowhere"]},
    "broken_follow_up": {"follow_up": QUERY["follow_up"] | {"sol_sql": ["SELECT nothing FROM nowhere"]}},
}

INTERACTION = [
    f"{who}_interaction{part}"
    for who in ("system", "user_1", "user_2")
    for part in ("", "_prompt", "_response")
]
RESULTS = [
    f"sql_results{stage}{status}"
    for stage in ("", "_debug", "_fu", "_fu_debug")
    for status in ("", "_output_with_status")
]


SENT: dict[str, list[str]] = {}
"""What each episode's system was sent, one message for each of its turns."""


class Script:
    """Makes the moves it was given, then leaves."""

    def __init__(self, argument: str, context: PlayerContext) -> None:
        self._moves = iter(EPISODES[context.instance_id])
        self._sent = SENT[context.instance_id] = []

    def move(self, view: View) -> Move:
        self._sent.append(view.message if self._sent else view.instruction)
        move = next(self._moves, Move("quit"))
        if move is CRASH:
            raise RuntimeError("the model is gone")
        return move


def game(folder: Path, profile: str = "strict", **settings: Any) -> Arena:
    records = [
        QUERY | {"instance_id": name, "high_level": name < "m"} | CHANGES.get(name, {}) for name in EPISODES
    ]
    made = write_benchmark(folder / "data", *records)
    return c_interact(made, profile=profile, ungraded="include", **settings)


def played(folder: Path, made: Arena, repeats: int = 1) -> RunDirectory:
    return play(made, Script, folder / "runs", repeats=repeats)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunDirectory, Arena, Path]:
    folder = tmp_path_factory.mktemp("written")
    made = game(folder)
    directory = played(folder, made)
    return directory, made, write_official_files(directory, made)


def rows(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    lines = (folder / f"{name}.jsonl").read_text().splitlines()
    return {row["instance_id"]: row for row in map(json.loads, lines)}


def overall(directory: RunDirectory) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory.path / "overall.json").read_text())
    return found


def test_the_statuses_that_the_episodes_are_meant_to_have(written: Any) -> None:
    directory, *_ = written
    found = {name: record["status"] for name, record in directory.read("runs").items()}
    meant = dict.fromkeys(EPISODES, "completed") | {
        "left_at_once": "no_submission",
        "crash": "task error",
        "crash_in_follow_up": "task error",
        "no_gold": "ungraded",
        "broken_gold": "infra_error",
        "broken_follow_up": "infra_error",
    }
    assert found == meant


def test_nine_interaction_and_eight_result_files(written: Any) -> None:
    _, _, folder = written
    assert folder.name == "private_official"
    assert sorted(path.stem for path in folder.iterdir()) == sorted([*INTERACTION, *RESULTS])


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_read_back_it_is_the_score_of_the_run(tmp_path: Path, profile: str) -> None:
    made = game(tmp_path, profile)
    directory = played(tmp_path, made)
    write_official_files(directory, made)
    found, own = score_official(directory.path).to_json(), overall(directory)
    for name in ("official", "questions_asked", "questions_allowed", "answers"):
        assert found[name] == own[name], name
    rewards = [record["reward"] for record in directory.read("runs").values()]
    assert found["official"]["normalized_reward"] == pytest.approx(sum(rewards) / len(EPISODES))


def test_the_score_counts_all_tasks_and_says_which_are_valid(written: Any) -> None:
    directory, *_ = written
    official = overall(directory)["official"]
    assert (official["tasks"], official["valid"]) == (len(EPISODES), len(EPISODES) - 3)
    assert official["left_out"] == {"infra_error": 2, "ungraded": 1}
    # At once: right, follow_up_fails, left_before_follow_up, crash_in_follow_up, follow_up_withheld,
    # broken_follow_up. After debug: all_after_debug, blank, nonsense_at_last, no_follow_up.
    assert [official[name] for name in "abcd"] == [6, 4, 3, 1]
    assert official["normalized_reward"] == pytest.approx((0.7 * 6 + 0.5 * 4 + 0.3 * 3 + 0.2) / len(EPISODES))
    assert official["phase_2_of_reached"]["passed"] == 4
    assert official["phase_2_of_reached"]["total"] == 8


def test_which_tasks_are_in_which_result_file(written: Any) -> None:
    _, _, folder = written
    everything = list(EPISODES)
    followed = [
        name
        for name in EPISODES
        if name
        in {
            "right",
            "all_after_debug",
            "follow_up_fails",
            "left_before_follow_up",
            "blank",
            "nonsense_at_last",
            "crash_in_follow_up",
            "broken_follow_up",
        }
    ]
    failed = [name for name in followed if name not in {"right", "blank", "nonsense_at_last"}]
    for stage, expected in zip(
        ("", "_debug", "_fu", "_fu_debug"), (everything, everything, followed, failed), strict=True
    ):
        assert list(rows(folder, f"sql_results{stage}")) == expected
        assert list(rows(folder, f"sql_results{stage}_output_with_status")) == expected


def test_a_row_is_the_task_record_and_the_fields_of_the_pipeline(written: Any) -> None:
    _, made, folder = written
    record = next(
        task
        for task in map(json.loads, made._tasks.data_file.read_text().splitlines())
        if task["instance_id"] == "all_after_debug"
    )
    stages = [
        rows(folder, f"sql_results{stage}_output_with_status")["all_after_debug"]
        for stage in ("", "_debug", "_fu", "_fu_debug")
    ]
    for row in stages:
        assert {name: row[name] for name in record} == record
        assert (row["max_turn"], row["error_flg"], row["Terminate_flg"]) == (5, False, True)
        assert row["birdenv_max_questions"] == 5
    assert [row["final_turn"] for row in stages] == [3, 4, 5, 6]
    assert [row["pred_sqls"] for row in stages] == [[WRONG], [RIGHT], ["SELECT"], [FOLLOW_UP_RIGHT]]
    assert [row["status"] for row in stages] == ["failed", "success", "failed", "success"]
    assert [row["error_msg"] for row in stages][1:] == ["", "[exec_err_flg] - Execution_Error: True", ""]
    assert stages[0]["error_msg"] and "exec_err" not in stages[0]["error_msg"]
    first = stages[0]
    assert first["prediction_turn_2"] == f"<s>{ASK.data}</s>"
    sent = [first["prompt_turn_1"], OFF_TOPIC.data, REFUSED]
    assert first["prompt_turn_2"] == "\n\n".join(sent)
    assert "prompt_turn_4" not in first and "prompt_turn_4" in stages[1]


def test_prompts_are_what_was_sent(written: Any) -> None:
    _, _, folder = written
    for name, row in rows(folder, "system_interaction").items():
        prompts = [row[key] for key in sorted(row) if key.startswith("prompt_turn_")]
        assert prompts[:1] == SENT[name][:1] or not prompts
        for before, prompt, message in zip(prompts, prompts[1:], SENT[name][1:], strict=False):
            assert prompt.startswith(f"{before}\n\n") and prompt.endswith(f"\n\n{message}")


def test_faults_are_told_in_the_words_of_the_pipeline(written: Any) -> None:
    _, _, folder = written
    found = rows(folder, "sql_results_output_with_status")
    assert found["broken_gold"]["error_msg"].startswith("DB reset error: ")
    assert found["broken_gold"]["birdenv_status"] == "infra_error"
    assert found["left_at_once"]["pred_sqls"] == found["nonsense"]["pred_sqls"] == ["ERROR!"]
    assert found["crash"]["error_flg"] is True
    assert "the model is gone" in found["crash"]["error_msg"]


def test_the_pipeline_finds_the_sql_in_the_last_prediction(written: Any) -> None:
    """As its extraction does: the highest turn, cut at the mark of the next, from fence to fence."""
    _, _, folder = written
    seen = 0
    for stage in ("", "_debug", "_fu", "_fu_debug"):
        for name, row in rows(folder, f"sql_results{stage}").items():
            last = max((int(key[16:]) for key in row if key.startswith("prediction_turn_")), default=0)
            text = row.get(f"prediction_turn_{last}", "").partition("### Turn ")[0]
            _, fence, rest = text.partition("```sqlite")
            found = rest.partition("```")[0].strip() if fence else "ERROR!"
            if row["pred_sqls"] != ["ERROR!"] or not fence:
                assert [found] == row["pred_sqls"], (stage, name)
                seen += 1
    assert seen > 30


def test_the_users_files_hold_questions_calls_and_answers(written: Any) -> None:
    _, _, folder = written
    parsed, answered = (rows(folder, f"user_{stage}_interaction")["all_after_debug"] for stage in (1, 2))
    assert parsed["prediction_turn_1"] == "<s>unanswerable()</s>"
    assert parsed["prediction_turn_2"] == '<s>labeled("grown")</s>'
    assert parsed["prompt_turn_2"].endswith(f"\n\n{OFF_TOPIC.data}\n\n{REFUSED}\n\n{ASK.data}")
    assert answered["prompt_turn_2"] == parsed["prompt_turn_2"]
    assert "18" in answered["prediction_turn_2"]
    assert "prediction_turn_3" not in parsed
    last = rows(folder, "user_1_interaction_response")
    assert last["all_after_debug"]["response"] == '<s>labeled("grown")</s>'
    assert "prediction_turn_2" not in last["all_after_debug"] and "wrong" not in last


def test_the_systems_last_turn_is_in_the_prompt_and_response_files(written: Any) -> None:
    _, _, folder = written
    whole = rows(folder, "system_interaction")["right"]
    prompt, response = (
        rows(folder, f"system_interaction_{part}")["right"] for part in ("prompt", "response")
    )
    assert (prompt["prompt"], response["response"]) == (whole["prompt_turn_3"], whole["prediction_turn_3"])
    assert "left_at_once" not in rows(folder, "system_interaction_prompt")


def test_written_again_they_are_the_same_bytes(written: Any) -> None:
    directory, made, folder = written
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_official_files(directory, made)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_ambiguity_stays_out_of_the_public_records(written: Any) -> None:
    directory, *_ = written
    assert "ambiguity" not in directory.file("runs").read_text()
    assert overall(directory)["by"]["ambiguity"].keys() == {"knowledge_ambiguity", "semantic_ambiguity"}
    assert overall(directory)["by"]["high_level"].keys() == {"high level", "detailed"}


def test_each_repeat_has_its_own_folder(tmp_path: Path) -> None:
    made = game(tmp_path)
    directory = played(tmp_path, made, repeats=2)
    folder = write_official_files(directory, made, repeats=2)
    assert sorted(path.name for path in folder.iterdir()) == ["repeat_0", "repeat_1"]
    with pytest.raises(InputError, match="repeat_0"):
        score_official(directory.path)
    scores = [score_official(folder / name).to_json()["official"] for name in ("repeat_0", "repeat_1")]
    own = overall(directory)["official"]
    assert own["tasks"] == 2 * scores[0]["tasks"]
    mean = sum(score["normalized_reward"] for score in scores) / 2
    assert own["normalized_reward"] == pytest.approx(mean)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    made = game(tmp_path)
    directory = played(tmp_path, made)
    directory.rewrite(["right"])
    with pytest.raises(InputError, match="all_after_debug is not finished"):
        write_official_files(directory, made)
    with pytest.raises(InputError, match="leave out --execute-sql"):
        write_official_files(directory, game(tmp_path / "tool", execute_sql=True))


def test_records_that_do_not_belong_together(tmp_path: Path) -> None:
    made = game(tmp_path)
    directory = played(tmp_path, made)
    lines = directory.file("runs").read_text().splitlines()
    record = json.loads(lines[0])
    record["attempts"] = record["attempts"][:1]
    directory.file("runs").write_text("\n".join([json.dumps(record), *lines[1:]]) + "\n")
    with pytest.raises(InputError, match="right: these are not c-Interact episode records"):
        write_official_files(directory, made)
