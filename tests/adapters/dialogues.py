"""Dialogues that are played through every adapter, and what must never be said in one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from birdenv import Move, View
from birdenv.dialogue import make_game
from birdenv.testing import AgentScript, Line, golden_transcript, play_script, tool_call
from birdenv.testing.openai_server import Call, ScriptedDialogue, ScriptedTurn, ServerScript, demo_script

ASK = tool_call("clarify", question="What do you mean by 'roomy branches'?")
WRONG = tool_call("submit_sql", sql="SELECT 1")


def slow_user(view: View) -> Move:
    """Answer after a while."""
    time.sleep(0.6)
    return Move("answer", "Those with many seats.")


def as_tags(message: Mapping[str, Any]) -> str:
    """Return a message as a model writes it that has no tools."""
    calls = message.get("tool_calls") or []
    if len(calls) != 1:
        return message.get("content") or ""
    function = calls[0]["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        return str(function["arguments"])
    if not isinstance(arguments, dict):
        return str(arguments)
    words = "|".join(map(str, arguments.values()))
    known = {"clarify": f"<s>{words}</s>", "submit_sql": f"<t>```sql\n{words}\n```</t>"}
    return known.get(function["name"], f"<{function['name']}>{words}</{function['name']}>")


def golden(script: AgentScript, *, tags: bool = False) -> tuple[Line, ...]:
    """Return what birdenv itself answers to a script, as tool calls or as tags."""
    if not tags:
        return golden_transcript(script)

    def make_step(script: AgentScript) -> Callable[[Mapping[str, Any]], tuple[str, float, bool]]:
        episode = make_game(script.game, **script.settings).episode(script.instance_id)

        def step(message: Mapping[str, Any]) -> tuple[str, float, bool]:
            made = episode.say(as_tags(message))
            return made.text, made.reward, made.done

        return step

    return play_script(script, make_step)


def breakdown(script: AgentScript, *, tags: bool = False) -> dict[int, float]:
    """Return what each phase of a golden dialogue earns."""
    episode = make_game(script.game, **script.settings).episode(script.instance_id)
    for message in script.messages:
        if not episode.done:
            episode.say(as_tags(message)) if tags else episode.call(message)
    return episode.breakdown


def as_turns(messages: Any, *, tags: bool = False) -> tuple[ScriptedTurn, ...]:
    """Return the turns of the server in which a model sends these messages."""
    turns = []
    for message in messages:
        calls = [(each["id"], each["function"]) for each in message.get("tool_calls") or ()]
        made = [Call(name=call["name"], arguments=call["arguments"], id=key) for key, call in calls]
        whole = ScriptedTurn(content=message.get("content"), calls=tuple(made))
        turns.append(ScriptedTurn(content=as_tags(message)) if tags else whole)
    return tuple(turns)


def as_script(messages_of: Mapping[str, Any], *, tags: bool = False) -> ServerScript:
    """Return a script of the server in which a model sends these messages in each task of c-Interact."""
    arena = make_game("c-interact")
    dialogues = [
        ScriptedDialogue(
            when=(f"Request: {arena._tasks.public(name).question}",), turns=as_turns(messages, tags=tags)
        )
        for name, messages in messages_of.items()
    ]
    return ServerScript(dialogues=tuple(dialogues))


def demo_messages() -> dict[str, list[Mapping[str, Any]]]:
    """Return the messages that solve each task of the demo's c-Interact."""
    script, found = demo_script(), {}
    for name in (arena := make_game("c-interact")).ids:
        with arena.episode(name) as episode:
            while not episode.done:
                turn = script.turn({"model": "scripted", "messages": episode.messages})
                assert turn is not None
                calls = [call.to_json(number) for number, call in enumerate(turn.calls, 1)]
                episode.call({"role": "assistant", "content": turn.content, "tool_calls": calls})
            assert episode.reward == 1.0, (name, episode.status, episode.error)
            found[name] = [each for each in episode.messages if each["role"] == "assistant"]
    return found


def wrong_messages() -> dict[str, list[Mapping[str, Any]]]:
    """Return dialogues of each task that ask what is asked well, and are wrong until the end."""
    questions = {
        name: [each for each in messages if "clarify" in json.dumps(each)]
        for name, messages in demo_messages().items()
    }
    return {name: [*asked, *[WRONG] * 4] for name, asked in questions.items()}


def private_texts() -> set[str]:
    """Return what nobody may read who plays a task: gold, clear queries, candidates, deleted notes."""
    arena = make_game("c-interact")
    found: set[str] = set()
    for name in arena.ids:
        private = arena._tasks.private(name)
        found |= {private.brief.clear_query, *private.gold, *private.test_cases}
        found |= {each.snippet for each in private.brief.ambiguities if len(each.snippet) > 15}
        if private.follow_up is not None:
            found |= {*private.follow_up.gold, *private.follow_up.candidates}
        deleted = [note for note in private.notes.knowledge if note.id in private.deleted_knowledge]
        prompts = arena.instruction(name)
        found |= {note.definition for note in deleted if note.definition not in prompts}
    elsewhere = " ".join(row["prompt"] for row in arena.rows())  # a note may be deleted for some tasks only
    return {text for text in found if text not in elsewhere}


def assert_nothing_private(output: str) -> None:
    """Look for private texts, as they are and as JSON has them."""
    texts = private_texts()
    assert len(output) > 10_000 and len(texts) > 300
    once = {text: json.dumps(text)[1:-1] for text in texts}
    twice = {text: json.dumps(each)[1:-1] for text, each in once.items()}  # JSON in a text of JSON
    assert not {text for text in texts if text in output or once[text] in output or twice[text] in output}


def all_files(folder: Path) -> str:
    """Return the text of all files below a folder."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in found)
