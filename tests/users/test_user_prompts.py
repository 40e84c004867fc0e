"""Prompts of others for the user `llm`: word for word, two calls for a question, nothing checked between."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from birdenv.errors import InputError
from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes
from birdenv.testing.openai_server import ScriptedDialogue, ScriptedTurn, Server
from birdenv.users.decoder import ASKING_BACK
from birdenv.users.model_user._encoder import PromptedPoint, read_published_choice

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "c_interact"))
from toy_tasks import QUERY, SCHEMA, write_benchmark

Start = Callable[..., Server]

ENCODER = "  first\n[[amb_json]]|[[SQL_Glot]]|[[DB_schema]]|[[clarification_Q]]\n<s>"
DECODER = "second {{ x }}\n[[clear_query]]|[[GT_SQL]]|[[SQL_Glot]]|[[Action]]|[[clarification_Q]]\n<s>"
GOLD = ["SELECT count(*) FROM member WHERE age >= 18", "SELECT 1 ORDER BY 1"]
QUESTION = "What is grown?\nAnd [[GT_SQL]]?"


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "encoder.txt").write_text(ENCODER)
    (folder / "decoder.txt").write_text(DECODER)
    return folder


def played(
    server: Server, prompts: Path, profile: str = "shell", game: str = "c-interact", **more: Any
) -> dict[str, Any]:
    """The record of a game in which one question is asked."""
    import birdenv

    def agent(view: Any) -> Any:
        asked = any(event.action == "clarify" for event in view.heard)
        return birdenv.submit_sql("SELECT 1") if asked else birdenv.clarify(QUESTION)

    folder = write_benchmark(prompts.parent / profile, QUERY | {"sol_sql": GOLD} | more)
    models = ModelSettings(base_url=server.url, user_prompts=prompts, pause_seconds=0.001)
    result = run_episodes(
        game, agent, user="llm:u", profile=profile, data_dir=str(folder), data=None, models=models
    )
    record: dict[str, Any] = result.records[0]
    return record


def said(record: Mapping[str, Any]) -> str:
    return next(event["data"] for event in record["example"]["events"] if event["agent"] == 1)


def saying(choice: str, words: str) -> tuple[ScriptedDialogue, ...]:
    return (
        ScriptedDialogue(when=("first",), turns=(ScriptedTurn(content=choice),)),
        ScriptedDialogue(when=("second",), turns=(ScriptedTurn(content=words),)),
    )


@pytest.mark.parametrize("profile", ["shell", "adk"])
def test_both_texts_are_sent_as_they_stand_with_the_published_values(
    server: Start, prompts: Path, profile: str
) -> None:
    running = server(dialogues=saying('labeled("grown")</s> or not', "At least 18.</s> <s>"))
    record = played(running, prompts, profile)
    first, second = (request.body["messages"][0]["content"] for request in running.requests)
    ambiguities = (
        "user_query_ambiguity: \n"
        + json.dumps(QUERY["user_query_ambiguity"], indent=4)
        + "\n\nknowledge_ambiguity: \n"
        + json.dumps(QUERY["knowledge_ambiguity"], indent=4)
    )
    gap, between = ("\n", "\n") if profile == "adk" else ("\n\n", "\n\n\n")
    slices = (
        "SELECT:\nSELECT count(*)\n\nFROM:\nFROM member\n\nWHERE:\nWHERE age >= 18"
        f"{between}===\nSELECT:\nSELECT 1\n\nORDER BY:\nORDER BY 1"
    )
    assert first == f"  first\n{ambiguities}|{slices}|{SCHEMA.strip()}|{QUESTION}\n<s>"
    gold = gap.join(GOLD)
    action = 'labeled("grown")'
    assert second == f"second {{{{ x }}}}\n{QUERY['query']}|{gold}|{slices}|{action}|{QUESTION}\n<s>"
    assert said(record) == "At least 18." and "model_faults" not in record
    assert all(request.body["temperature"] == 0 for request in running.requests)


def test_what_the_encoder_says_goes_on_unchecked_and_the_decoder_always_speaks(
    server: Start, prompts: Path
) -> None:
    running = server(dialogues=saying("I think\n<s>guess(this)</s>", "It is out of scope.\nReally."))
    record = played(running, prompts)
    assert "|guess(this)|" in running.requests[1].body["messages"][0]["content"]
    assert len(running.requests) == 2 and said(record) == "It is out of scope.\nReally."
    assert record["model_faults"]["user"] == {"no such choice": 1}


def test_the_service_takes_the_first_line_and_does_not_understand_words_without_tags(
    server: Start, prompts: Path
) -> None:
    running = server(dialogues=saying("unanswerable()\nbecause", "No tags."))
    record = played(running, prompts, "adk", game="a-interact")
    assert "|unanswerable()|" in running.requests[1].body["messages"][0]["content"]
    assert said(record) == ASKING_BACK


def test_without_a_clear_query_the_service_gives_the_ambiguous_one(server: Start, prompts: Path) -> None:
    for profile, clear in (("shell", ""), ("adk", QUERY["amb_user_query"])):
        running = server(dialogues=saying("unanswerable()", "<s>No.</s>"))
        played(running, prompts, profile, query="")
        assert (
            running.requests[1].body["messages"][0]["content"].startswith(f"second {{{{ x }}}}\n{clear}|SEL")
        )


def test_the_game_still_guards_what_is_said(server: Start, prompts: Path) -> None:
    running = server(dialogues=saying("unanswerable()", "<s>SELECT count(*) FROM member</s>"))
    assert "SELECT" not in said(played(running, prompts))


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("encoder.txt", None, "encoder.txt: no such file"),
        ("decoder.txt", None, "decoder.txt: no such file"),
        (
            "encoder.txt",
            "[[clarification_Q]] [[Action]]",
            r"no variable \[\[Action\]\]; choose from clarification_Q",
        ),
        ("decoder.txt", "[[clarification_Q]] [[Action]] [[DB_name]]", r"no variable \[\[DB_name\]\]"),
        ("encoder.txt", "[[amb_json]]", r"lacks the variable \[\[clarification_Q\]\]"),
        ("decoder.txt", "[[clarification_Q]]", r"lacks the variable \[\[Action\]\]"),
    ],
)
def test_prompts_that_cannot_be_used_are_told_before_anything_is_played(
    server: Start, prompts: Path, name: str, text: str | None, error: str
) -> None:
    (prompts / name).unlink()
    if text is not None:
        (prompts / name).write_text(text)
    running = server(dialogues=saying("unanswerable()", "No."))
    with pytest.raises(InputError, match=error):
        played(running, prompts)
    assert not running.requests


def test_they_need_a_folder_and_a_published_profile(server: Start, prompts: Path) -> None:
    running = server(dialogues=saying("unanswerable()", "No."))
    with pytest.raises(InputError, match="needs --profile shell or adk"):
        played(running, prompts, "strict")
    with pytest.raises(InputError, match="no such folder"):
        played(running, prompts / "nowhere")


def test_the_record_of_a_run_has_their_digest(prompts: Path) -> None:
    before = ModelSettings(user_prompts=prompts).config()["user_prompts_sha256"]
    assert list(before) == ["encoder.txt", "decoder.txt"]
    (prompts / "decoder.txt").write_text(DECODER + " ")
    now = ModelSettings(user_prompts=prompts).config()["user_prompts_sha256"]
    assert now["encoder.txt"] == before["encoder.txt"] and now["decoder.txt"] != before["decoder.txt"]


ANNOTATED = (PromptedPoint("A1", "top 5 (by days)", ("LIMIT 5",)),)
SLICES = (
    PromptedPoint("T1", "", ("SELECT name",), "select"),
    PromptedPoint("T2", "", ("WHERE days > 30\n  AND city IN ('Oslo')",), "where"),
    PromptedPoint("T3", "", ("ORDER BY days",), "order"),
    PromptedPoint("T4", "", ("WHERE age > 1",), "where"),
)


@pytest.mark.parametrize(
    ("action", "call", "granted"),
    [
        ('labeled("Top 5 (by days)")', "labelled", ("LIMIT 5",)),
        ('**labelled("nothing such")**', "labelled", ()),
        ("unlabeled(\"WHERE days > 30 AND city IN ('Oslo')\")", "unlabelled", SLICES[1].granted),
        ('unlabeled("ORDER BY")', "unlabelled", SLICES[2].granted),
        ("Action: unlabeled('where')", "unlabelled", SLICES[1].granted + SLICES[3].granted),
        ('unlabeled("GROUP BY city")', "unlabelled", ()),
        ("unlabeled()", "unlabelled", ()),
        ("unanswerable()", "unanswerable", ()),
    ],
)
def test_published_choices_name_terms_and_segments(action: str, call: str, granted: tuple[str, ...]) -> None:
    found = read_published_choice(action, ANNOTATED, SLICES)
    assert found is not None and (found.call, found.granted) == (call, granted)


@pytest.mark.parametrize("action", ["", "(", "labeled", "guess(x)", "()", ")("])
def test_what_is_no_published_choice(action: str) -> None:
    assert read_published_choice(action, ANNOTATED, SLICES) is None
