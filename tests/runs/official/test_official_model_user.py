"""Official files of a run whose user is a language model: the prompts as sent, and the raw answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import birdenv
from birdenv.dialogue import Arena, make_game
from birdenv.errors import InputError
from birdenv.llm import ModelSettings
from birdenv.run_settings import RunSettings
from birdenv.runs import RunDirectory, RunPlan, prepare, run
from birdenv.runs.official.score import score_official
from birdenv.runs.official.write import write_official_files
from birdenv.testing.openai_server import ScriptedDialogue, ScriptedTurn, Server

Start = Callable[..., Server]
QUESTIONS = (
    "What do you mean by 'roomy branches'?",
    "What is the weather?",
    "What do you mean by 'roomy branches'?",
)
WORDS = "With at least 40 seats."


def agent(view: Any) -> Any:
    asked = sum(event.action == "clarify" for event in view.heard)
    return birdenv.clarify(QUESTIONS[asked]) if asked < len(QUESTIONS) else birdenv.submit_sql("SELECT 1")


def script() -> tuple[ScriptedDialogue, ...]:
    """An encoder that is asked again at first and refuses the weather; a decoder that leaks at first."""
    return (
        ScriptedDialogue(
            when=("Decide what one question", "weather"),
            turns=(ScriptedTurn(content="<s>unanswerable()</s>"),),
        ),
        ScriptedDialogue(
            when=("Decide what one question",),
            turns=(
                ScriptedTurn(content="<think>Hm.</think>It is A1."),
                ScriptedTurn(content="Then labelled(A1)."),
            ),
        ),
        ScriptedDialogue(
            when=("This is all that you may tell",),
            turns=(ScriptedTurn(content="WHERE b.seats >= 40"), ScriptedTurn(content=WORDS)),
        ),
        ScriptedDialogue(when=("in stiff words",), turns=(ScriptedTurn(content=WORDS),)),
    )


def played(server: Server, folder: Path, user: str) -> tuple[RunDirectory, Arena]:
    arena = make_game("c-interact", limit=1)
    models = ModelSettings(base_url=server.url, pause_seconds=0.001)
    plan = RunPlan(arena, {0: agent, 1: user}, RunSettings(models=models))
    directory = RunDirectory.create(folder)
    prepare(directory, plan.config(), resume=False)
    run(plan, directory)
    return directory, arena


def written(directory: RunDirectory, arena: Arena) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = write_official_files(directory, arena)
    first, second = (json.loads((folder / f"user_{n}_interaction.jsonl").read_text()) for n in (1, 2))
    return first, second


def sent(server: Server) -> list[list[str]]:
    return [[message["content"] for message in request.body["messages"]] for request in server.requests]


def test_prompts_are_the_requests_and_predictions_the_raw_answers(server: Start, tmp_path: Path) -> None:
    running = server(dialogues=script())
    directory, arena = played(running, tmp_path, "llm:u")
    first, second = written(directory, arena)
    asked = sent(running)
    assert [len(messages) for messages in asked] == [1, 3, 1, 3, 1, 1, 3, 1, 3]
    for number, encoder, decoder in ((1, 1, 3), (3, 6, 8)):
        assert first[f"prompt_turn_{number}"] == "\n\n".join(asked[encoder])
        assert first[f"prediction_turn_{number}"] == "Then labelled(A1)."
        assert first[f"birdenv_call_turn_{number}"] == 'labeled("roomy branches")'
        assert second[f"prompt_turn_{number}"] == "\n\n".join(asked[decoder])
        assert second[f"prediction_turn_{number}"] == WORDS
    assert first["prompt_turn_2"] == asked[4][0] and first["prediction_turn_2"] == "<s>unanswerable()</s>"
    assert second["prompt_turn_2"] == "" and second["prediction_turn_2"].startswith("<s>Sorry")
    assert "birdenv_call_turn_2" not in first and "birdenv_call_turn_1" not in second
    own = json.loads((directory.path / "overall.json").read_text())
    found = score_official(directory.path).to_json()
    assert found["answers"] == own["answers"] and found["questions_asked"] == own["questions_asked"]


def test_thoughts_stay_in_raw_answers(server: Start, tmp_path: Path) -> None:
    thinking = "<think>roomy?</think>labelled(A1)"
    running = server(
        dialogues=(
            ScriptedDialogue(when=("Decide what one question",), turns=(ScriptedTurn(content=thinking),)),
            ScriptedDialogue(when=("This is all that you may tell",), turns=(ScriptedTurn(content=WORDS),)),
        )
    )
    first, _ = written(*played(running, tmp_path, "llm:u"))
    assert first["prediction_turn_1"] == thinking


@pytest.mark.parametrize("user", ["rule+llm:u", "llm-one-prompt:u"])
def test_users_of_one_call_have_a_prompt_in_the_second_stage(
    server: Start, tmp_path: Path, user: str
) -> None:
    running = server(dialogues=(*script(), ScriptedDialogue(turns=(ScriptedTurn(content=WORDS),))))
    first, second = written(*played(running, tmp_path, user))
    assert first["prompt_turn_1"] == "" and first["prediction_turn_1"] == '<s>labeled("roomy branches")</s>'
    assert second["prompt_turn_1"] == sent(running)[0][0] and second["prediction_turn_1"] == WORDS


def test_calls_that_are_gone_are_named(server: Start, tmp_path: Path) -> None:
    running = server(dialogues=script())
    directory, arena = played(running, tmp_path, "llm:u")
    file = directory.path / "private_calls.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:1]))
    with pytest.raises(InputError, match="lacks the call"):
        write_official_files(directory, arena)
