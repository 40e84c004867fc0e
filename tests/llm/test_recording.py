"""Recorded calls: none is repeated, none is shared between scopes, and a miss is an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY

from birdenv.errors import InputError, RunEndedError
from birdenv.llm import ContextOverflowError, Models, ReplayMissError
from birdenv.llm._recording import recorded_dialogues
from birdenv.testing.openai_server import ScriptedDialogue, ScriptedTurn, Server, ServerScript, Trouble

Start = Callable[..., Server]
Make = Callable[..., Models]
CALLS = "private_calls.jsonl"


def said(*words: str) -> Any:
    return [{"role": "user", "content": each} for each in words]


def recorded(make: Make, url: str, folder: Path, *scopes: str, **settings: Any) -> list[str]:
    """Each scope asks the same twice; what it hears."""
    models = make(url, **settings)
    models.record_in(folder)
    heard = []
    for scope in scopes:
        chat = models.chat("agent", "m", scope)
        heard += [chat.complete(said("hello")).content for _ in range(2)]
    models.close()
    models.sort_calls()
    return heard


def test_a_call_is_made_once_for_each_scope_and_repetition(
    server: Start, models: Make, tmp_path: Path
) -> None:
    running = server(ScriptedTurn(content="hi"))
    recorded(models, running.url, tmp_path, "a/0/system", "b/0/system")
    assert len(running.requests) == 4
    before = (tmp_path / CALLS).read_bytes()
    running.script = ServerScript(
        dialogues=(ScriptedDialogue(turns=(ScriptedTurn(content="something else"),)),)
    )
    assert recorded(models, running.url, tmp_path, "b/0/system", "a/0/system") == ["hi"] * 4
    assert len(running.requests) == 4 and (tmp_path / CALLS).read_bytes() == before


def test_a_replay_is_offline_and_a_miss_says_what_was_asked(
    server: Start, models: Make, tmp_path: Path
) -> None:
    (first := tmp_path / "first").mkdir(), (second := tmp_path / "second").mkdir()
    recorded(models, server(ScriptedTurn(content="hi")).url, first, "a/0/system")
    nowhere = "http://127.0.0.1:9/v1"
    assert recorded(models, nowhere, second, "a/0/system", replay=first) == ["hi"] * 2
    assert (first / CALLS).read_bytes() == (second / CALLS).read_bytes()
    with pytest.raises(ReplayMissError, match="call 1 of b/0/system"):
        recorded(models, nowhere, second, "b/0/system", replay=first)
    with pytest.raises(InputError, match="no recorded calls"):
        models(nowhere, replay=tmp_path)


def test_a_cache_serves_other_runs_and_keeps_endpoints_apart(
    server: Start, models: Make, tmp_path: Path
) -> None:
    one, other, cache = (
        server(ScriptedTurn(content="hi")),
        server(ScriptedTurn(content="ho")),
        tmp_path / "cache",
    )
    folders = [tmp_path / name for name in "xyz"]
    for folder in folders:
        folder.mkdir()
    recorded(models, one.url, folders[0], "a/0/system", cache=cache)
    assert recorded(models, one.url, folders[1], "a/0/system", cache=cache) == ["hi"] * 2
    assert recorded(models, other.url, folders[2], "a/0/system", cache=cache) == ["ho"] * 2
    assert len(one.requests) == 2
    resumed = models(one.url)
    resumed.record_in(folders[1])
    assert resumed.ledger.totals() == (0.0, 0)  # the second run paid nothing


def test_a_torn_last_line_is_one_call_to_make_again(server: Start, models: Make, tmp_path: Path) -> None:
    running = server(ScriptedTurn(content="hi"))
    recorded(models, running.url, tmp_path, "a/0/system")
    whole = (tmp_path / CALLS).read_bytes()
    (tmp_path / CALLS).write_bytes(whole[:-20])
    assert recorded(models, running.url, tmp_path, "a/0/system") == ["hi"] * 2
    assert len(running.requests) == 3 and (tmp_path / CALLS).read_bytes() == whole


def test_another_damaged_line_is_named(models: Make, tmp_path: Path) -> None:
    (tmp_path / CALLS).write_bytes(b"damaged\n")
    with pytest.raises(InputError, match="line 1 is not a recorded call"):
        models("http://127.0.0.1:9/v1").record_in(tmp_path)


NO_MESSAGES: list[Any] = [
    "hi",
    {"content": 5},
    {"content": {"text": "hi"}},
    {"refusal": True},
    {"tool_calls": "submit_sql"},
    {"tool_calls": {"function": {}}},
    {"content": "half a character: \ud800"},
    {"extra": json.loads("[" * 30 + "]" * 30)},
]
CALL = {"key": "k", "scope": "s", "n": 0, "kept": 0, "messages": [], "message": {}}


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000 + "]" * 100_000,
        json.dumps(CALL | {"scope": 5}),
        json.dumps(CALL | {"n": None}),
        json.dumps(CALL | {"key": ["k"]}),
        *(json.dumps(CALL | {"message": message}) for message in NO_MESSAGES),
        json.dumps({name: value for name, value in CALL.items() if name != "scope"}),
        *(json.dumps(CALL)[:-1] + f', "cost_usd": {cost}}}' for cost in ("NaN", "1e999", "-1", "9" * 400)),
    ],
    ids=lambda line: line[-40:],
)
def test_a_file_of_calls_of_somebody_else_may_hold_anything(models: Make, tmp_path: Path, line: str) -> None:
    """A cost that is no number would lift the run's budget."""
    (tmp_path / CALLS).write_text(f"{line}\n")
    with pytest.raises(InputError, match="line 1 is not a recorded call"):
        models("http://127.0.0.1:9/v1").record_in(tmp_path)
    with pytest.raises(InputError, match="line 1 is not a recorded call"):
        recorded_dialogues(tmp_path / CALLS)


@pytest.mark.parametrize(
    "part",
    [{"kept": "a"}, {"kept": -1}, {"kept": 2}, {"messages": 5}, {"params": []}, {"params": {"tools": [1]}}],
)
def test_a_dialogue_that_cannot_be_put_together_is_named(tmp_path: Path, part: dict[str, Any]) -> None:
    (tmp_path / CALLS).write_text(json.dumps(CALL | part) + "\n")
    with pytest.raises(InputError, match="line 1 is not a recorded call"):
        recorded_dialogues(tmp_path / CALLS)


def test_a_file_of_calls_that_is_no_text_is_named(models: Make, tmp_path: Path) -> None:
    (tmp_path / CALLS).write_bytes(b'{"key": "\xe9"}\n')
    with pytest.raises(InputError, match="line 1 is not a recorded call"):
        recorded_dialogues(tmp_path / CALLS)


def test_a_damaged_cache_is_told_before_anybody_plays(server: Start, models: Make, tmp_path: Path) -> None:
    url, cache = server(ScriptedTurn(content="hi")).url, tmp_path / "cache"
    recorded(models, url, tmp_path, "a/0/system", cache=cache)
    next(cache.iterdir()).write_text("damaged\n")
    with pytest.raises(InputError, match="line 1 is not a recorded call"):
        models(url, cache=cache).chat("agent", "m", "a/0/system")


def test_of_two_answers_to_one_call_the_first_counts(server: Start, models: Make, tmp_path: Path) -> None:
    """Two runs may have asked at the same time; whoever replays them hears one of them, always the same."""
    recorded(models, server(ScriptedTurn(content="hi")).url, tmp_path, "a/0/system")
    written = (tmp_path / CALLS).read_text()
    (tmp_path / CALLS).write_text(written + written.replace('"hi"', '"ho"'))
    (again := tmp_path / "again").mkdir()
    assert recorded(models, "http://127.0.0.1:9/v1", again, "a/0/system", replay=tmp_path) == ["hi"] * 2


def test_calls_that_change_while_they_are_replayed_end_the_run(
    server: Start, models: Make, tmp_path: Path
) -> None:
    recorded(models, server(ScriptedTurn(content="hi")).url, tmp_path, "a/0/system")
    chat = models("http://127.0.0.1:9/v1", replay=tmp_path).chat("agent", "m", "a/0/system")
    (tmp_path / CALLS).write_text("{}\n" + (tmp_path / CALLS).read_text())
    with pytest.raises(RunEndedError, match="was changed while it was in use"):
        chat.complete(said("hello"))


def test_an_overflow_is_recorded_too(server: Start, models: Make, tmp_path: Path) -> None:
    running = server(ScriptedTurn(faults=(Trouble(status=400, code="context_length_exceeded"),)))
    for _ in range(2):
        found = models(running.url)
        found.record_in(tmp_path)
        with pytest.raises(ContextOverflowError):
            found.chat("agent", "m", "scope").complete(said("hello"))
    assert len(running.requests) == 1


def test_a_dialogue_is_recorded_once_not_once_a_turn(server: Start, models: Make, tmp_path: Path) -> None:
    found = models(server(ScriptedTurn(content="hi")).url)
    found.record_in(tmp_path)
    chat = found.chat("agent", "m", "scope")
    chat.complete(said("one"))
    chat.complete(said("one", "two"))
    entries = [json.loads(line) for line in (tmp_path / CALLS).read_text().splitlines()]
    assert [(e["kept"], [m["content"] for m in e["messages"]]) for e in entries] == [
        (0, ["one"]),
        (1, ["two"]),
    ]
    assert "params" in entries[0] and "params" not in entries[1]


def test_a_key_is_in_no_file_either_where_json_spells_it_otherwise(
    server: Start, models: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a/secret+<key>")
    spelled = [
        r"a\/secret+<key>",
        r"a/s\u0065cret\u002B\u003ckey\u003e",
        r"\u0061/secret\\u002B<key>",  # in a call's arguments
        "a/secret+&lt;key&#x3E;",
        "a%2Fsecret%2b%3ckey%3E",
    ]
    body = '{"choices": [{"message": {"content": "' + " ".join(spelled) + '"}}]}'
    recorded(models, server(ScriptedTurn(body=body)).url, tmp_path, "a/0/system")
    text = (tmp_path / CALLS).read_text()
    assert "secret" not in text
    assert json.loads(text.splitlines()[0])["message"]["content"] == " ".join(["[key]"] * 5)


def test_a_key_that_a_server_repeats_is_in_no_file(server: Start, models: Make, tmp_path: Path) -> None:
    recorded(models, server(ScriptedTurn(content=f"Your key is {KEY}.")).url, tmp_path, "a/0/system")
    assert KEY not in (tmp_path / CALLS).read_text() and "[key]" in (tmp_path / CALLS).read_text()


def test_calls_that_cannot_be_written_end_the_run(server: Start, models: Make, tmp_path: Path) -> None:
    found = models(server(ScriptedTurn(content="hi")).url)
    found.record_in(tmp_path / "missing")
    with pytest.raises(RunEndedError, match="cannot be written"):
        found.chat("agent", "m", "scope").complete(said("hello"))


def test_a_run_that_has_ended_makes_no_further_call(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"))
    found = models(running.url)
    chat = found.chat("agent", "m", "scope")
    found.close()
    with pytest.raises(RunEndedError, match="has ended"):
        chat.complete(said("hello"))
    assert not running.requests
