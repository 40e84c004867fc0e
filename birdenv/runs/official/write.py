"""Write a run as a result folder of the published c-Interact pipeline (`bird_interact_conv`).

Nine interaction files contain the prompts and answers of the system and of the user's two stages (1: classify
the question; 2: answer it). Eight result files contain the SQL of each stage, with and without verdicts. Each
line is the task's record, including ground truth, with the pipeline's fields:

* `prompt_turn_<i>`: the whole conversation up to the seat's move in turn i, word for word, with an empty line
  between messages: its instruction, then its own messages and the replies;
* `prediction_turn_<i>`: the seat's answer in turn i, in the pipeline's markup;
* `max_turn`: the turn limit by the published formula, the number of counted ambiguities plus the patience;
* `final_turn`: the number of the stage's last turn;
* `error_flg`: whether the episode ended early;
* `Terminate_flg`: whether any SQL was submitted;
* `pred_sqls`: the submitted SQL; `status`: its verdict (success or failed); `error_msg`: the reason for a
  failure in the pipeline's words, if the pipeline has words for it;
* if the user is a language model, the user's prompts are the messages of the stage's last call, word for
  word, and the predictions are the raw answers; the prompt is empty if the stage made no call;
* birdenv's own fields: `birdenv_status`, the episode's status in `runs.jsonl`, which distinguishes a fault of
  the benchmark or the machine from an incorrect answer; `birdenv_max_questions`, the number of questions that
  the profile allowed; `birdenv_free_questions`, the number of questions that cost nothing because the user
  asked back; `birdenv_call_turn_<i>`, the user's classification of the question, if the raw answer words it
  differently.

`sql_results` and `sql_results_debug` contain all tasks, `sql_results_fu` the tasks that reached the
follow-up, and `sql_results_fu_debug` the tasks that failed the first attempt at the follow-up. If the user is
not a language model, both stages have the prompts of the same player.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from birdenv.dialogue import Arena
from birdenv.errors import InputError
from birdenv.files import exists, read_records
from birdenv.llm import CALLS, CallFile
from birdenv.runs._run_folder import RunDirectory, episode_name
from birdenv.runs.official._pipeline_turns import PipelineDialogue, read_dialogue
from birdenv.tasks.c_interact import InteractTasks
from birdenv.tasks.interact.measures import passed
from birdenv.tasks.sql.markup_reading import fence_of

OFFICIAL_FOLDER = "private_official"
"""The folder of the official files in a run folder. It is private, because the files hold the gold."""

STAGES: Mapping[str, tuple[int, str]] = {
    "sql_results": (1, "first"),
    "sql_results_debug": (1, "debug"),
    "sql_results_fu": (2, "first"),
    "sql_results_fu_debug": (2, "debug"),
}
"""The pipeline's names of the result files, with the phase and attempt of each."""

_EXECUTION_ERROR = "[exec_err_flg] - Execution_Error: "
_RESET_ERROR = "DB reset error: "
_NO_SQL = "ERROR!"  # the pipeline's placeholder for an answer without SQL


@dataclass(frozen=True, slots=True)
class _Episode:
    task: Mapping[str, Any]
    run: Mapping[str, Any]
    dialogue: PipelineDialogue
    max_turn: int


_Rows = Iterator[dict[str, Any]]


def write_official_files(directory: RunDirectory, arena: Arena, repeats: int = 1) -> Path:
    """Write a finished run as the pipeline's seventeen files, and return the folder of these files.

    The files depend only on the stored records and the task file. If every task was played several times,
    each repeat has a separate folder.

    Raises:
        InputError: an episode is missing, or the run allowed `execute_sql`, which the pipeline cannot record.
    """
    tasks_played = cast(InteractTasks, arena._tasks)
    if getattr(arena.settings, "execute_sql", False):
        raise InputError(
            "official files cannot contain exploratory SQL: leave out --execute-sql or --official-files"
        )
    tasks = {record["instance_id"]: record for record in read_records(tasks_played.data_file)}
    runs, private = directory.read("runs"), directory.read("private")
    place, recorded = directory.path / OFFICIAL_FOLDER, directory.path / CALLS
    calls = CallFile(recorded, append=False) if exists(recorded) else None
    for repeat in range(repeats) if repeats > 1 else [None]:
        episodes = []
        for instance_id in arena.ids:
            name = episode_name(instance_id, repeat)
            if name not in runs or name not in private:
                raise InputError(f"{directory.path}: {name} is not finished; finish the run with --resume")
            run, where = runs[name], f"{directory.path}: {name}"
            dialogue = read_dialogue(
                run,
                private[name]["log"],
                (arena.instruction(instance_id), arena.instruction(instance_id, "user")),
                fence_of(tasks_played.source.dialect),
                where,
                calls,
            )
            counted = tasks_played.tasks[instance_id].public.counted_ambiguities
            max_turn = counted + tasks_played.settings.patience
            episodes.append(_Episode(tasks[instance_id], run, dialogue, max_turn))
        within = OFFICIAL_FOLDER if repeat is None else f"{OFFICIAL_FOLDER}/repeat_{repeat}"
        for file, rows in _FILES.items():
            lines = (json.dumps(row) + "\n" for episode in episodes for row in rows(episode))
            directory.write_text(f"{within}/{file}.jsonl", "".join(lines))
    if calls is not None:
        calls.close()
    return place


def _state(episode: _Episode, turns: int) -> dict[str, Any]:
    """Return the task's record with the first turns of its conversation."""
    state = dict(episode.task)
    for number, turn in enumerate(episode.dialogue.turns[:turns], 1):
        state |= {f"prompt_turn_{number}": turn.prompt, f"prediction_turn_{number}": turn.prediction}
    return state | {
        "max_turn": episode.max_turn,
        "birdenv_max_questions": episode.run["max_questions"],
        "birdenv_free_questions": episode.run.get("free_questions", 0),
        **_flags(episode, turns),
    }


def _flags(episode: _Episode, turns: int) -> dict[str, Any]:
    return {
        "final_turn": turns,
        "error_flg": "error" in episode.run,
        "Terminate_flg": (1, "first") in episode.dialogue.attempts,
    }


def _system(episode: _Episode) -> _Rows:
    yield _state(episode, len(episode.dialogue.turns))


def _last_of_system(part: str, episode: _Episode) -> _Rows:
    """Yield the last turn of a task with its `prompt` or its `response`."""
    turns = episode.dialogue.turns
    if turns:
        state = _state(episode, len(turns))
        said = state.pop(f"prediction_turn_{len(turns)}")
        yield state | {part: turns[-1].prompt if part == "prompt" else said}


def _user(stage: int, episode: _Episode) -> _Rows:
    yield _user_state(stage, episode)


def _last_of_user(stage: int, part: str, episode: _Episode) -> _Rows:
    asked = [number for number, turn in enumerate(episode.dialogue.turns, 1) if turn.user]
    if asked:
        state = _user_state(stage, episode)
        said = state.pop(f"prediction_turn_{asked[-1]}")
        yield state | {part: state[f"prompt_turn_{asked[-1]}"] if part == "prompt" else said}


def _user_state(stage: int, episode: _Episode) -> dict[str, Any]:
    state = dict(episode.task)
    for number, turn in enumerate(episode.dialogue.turns, 1):
        if turn.user:
            prompt, response = turn.user[stage - 1]
            state |= {f"prompt_turn_{number}": prompt, f"prediction_turn_{number}": response}
            if stage == 1 and response != f"<s>{turn.call}</s>":
                state[f"birdenv_call_turn_{number}"] = turn.call
    return state | _flags(episode, len(episode.dialogue.turns))


def _results(stage: str, with_status: bool, episode: _Episode) -> _Rows:
    phase, attempt = STAGES[stage]
    run = episode.run
    if phase == 2 and not (passed(run, 1) and run["follow_up"] == "graded"):
        return
    if (phase, attempt) == (2, "debug") and passed(run, 2, "first"):
        return
    turns, sql, status, message = _outcome(episode, phase, attempt)
    row = _state(episode, turns) | {"pred_sqls": [sql]}
    if with_status:
        row |= {"status": status, "error_msg": message, "birdenv_status": run["status"]}
    yield row


def _outcome(episode: _Episode, phase: int, attempt: str) -> tuple[int, str, str, str]:
    """Return the number of turns, the SQL, success or failed, and the message of an attempt.

    If the first attempt passed, the debug attempt repeats it.
    """
    made = episode.dialogue.attempts
    if attempt == "debug" and (phase, attempt) not in made and passed(episode.run, phase, "first"):
        attempt = "first"
    handed = made.get((phase, attempt))
    if handed is None:
        return len(episode.dialogue.turns), _NO_SQL, "failed", _why_none(episode.run)
    sql = _NO_SQL if handed.sql is None else handed.sql
    if handed.status == "passed":
        return handed.turn, sql, "success", ""
    return handed.turn, sql, "failed", _message(handed.status, handed.reason)


def _message(status: str, reason: str) -> str:
    if status in ("sql_error", "malformed", "no_submission"):
        return f"{_EXECUTION_ERROR}True"
    if status == "sql_timeout":
        return f"{_EXECUTION_ERROR}timeout_error"
    return f"{_RESET_ERROR}{reason}" if status == "infra_error" else reason or status


def _why_none(run: Mapping[str, Any]) -> str:
    status = run["status"]
    known = ("infra_error", "partner error", "task error", "skipped", "ungraded")
    return _message(status, run.get("error", "")) if status in known else f"{_EXECUTION_ERROR}True"


_FILES: Mapping[str, Callable[[_Episode], _Rows]] = {
    "system_interaction_prompt": partial(_last_of_system, "prompt"),
    "system_interaction_response": partial(_last_of_system, "response"),
    "system_interaction": _system,
    "user_1_interaction_prompt": partial(_last_of_user, 1, "prompt"),
    "user_1_interaction_response": partial(_last_of_user, 1, "response"),
    "user_1_interaction": partial(_user, 1),
    "user_2_interaction_prompt": partial(_last_of_user, 2, "prompt"),
    "user_2_interaction_response": partial(_last_of_user, 2, "response"),
    "user_2_interaction": partial(_user, 2),
    **{stage: partial(_results, stage, False) for stage in STAGES},
    **{f"{stage}_output_with_status": partial(_results, stage, True) for stage in STAGES},
}
