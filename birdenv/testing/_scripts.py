"""Scripts of the scripted OpenAI server: what its models say, and what goes wrong on the way.

A script is a JSON object:

    {"models": ["scripted"],
     "dialogues": [{"when": ["text in the request"],
                    "turns": [{"calls": [{"name": "clarify", "arguments": {"question": "Which year?"}}]},
                              {"content": "words", "faults": [{"status": 500}, {"drop": true}]}]}]}

The first dialogue whose texts all stand in a request answers it. The number of the model's own messages in
the request says which turn it is; the last turn answers all later ones. So the server keeps no state between
the turns of a dialogue, and a client may go on after a restart.

The script `demo` plays the demo benchmark as a model that asks well and is right, and as its user.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from birdenv.dialogue import make_game
from birdenv.errors import InputError
from birdenv.files import read_json
from birdenv.users import Brief, RuleUser
from birdenv.users.decoder import OUT_OF_SCOPE


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Call(_Strict):
    """One tool call of a reply. `arguments` that are text are sent as they are, so they may be no JSON."""

    name: str
    arguments: Any = Field(default_factory=dict)
    id: str | None = None

    def to_json(self, number: int) -> dict[str, Any]:
        """Return the call in OpenAI's form."""
        text = self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)
        function = {"name": self.name, "arguments": text}
        return {"id": self.id or f"call_{number}", "type": "function", "function": function}


class Trouble(_Strict):
    """Trouble with an answer, on purpose: delays, errors, broken bytes.

    Attributes:
        delay: seconds before it.
        status: HTTP status; from 400 the body is an error.
        code: `error.code` of the body.
        message: `error.message` of the body; `{key}` is replaced by the key that the client sent.
        headers: further headers, such as `Retry-After`.
        body: the whole body, in place of a completion or an error; `content_type` is its type.
        drop: close the connection without an answer.
        cut: close the connection after half of the body.
        drip: seconds between the bytes of the body.
    """

    delay: float = 0.0
    status: int = 200
    code: str | None = None
    message: str = "The script says so."
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    content_type: str = "application/json"
    drop: bool = False
    cut: bool = False
    drip: float = 0.0


class ScriptedTurn(Trouble):
    """One answer of a model.

    Attributes:
        content: the words.
        calls: the tool calls.
        reasoning: `reasoning_content`.
        refusal: the words of a refusal.
        finish_reason: without it, `tool_calls` or `stop`.
        usage: `false` leaves it out.
        size: the words are repeated up to this many characters.
        faults: what the first requests of exactly this form get in its place, one after the other.
    """

    content: str | None = None
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None
    usage: bool = True
    size: int = 0
    faults: tuple[Trouble, ...] = ()

    def text(self) -> str | None:
        """Return the words in full."""
        if not self.size:
            return self.content
        words = self.content or "x"
        return (words * (self.size // len(words) + 1))[: self.size]


class ScriptedDialogue(_Strict):
    """The turns of a model in requests in which all of `when` stands, for one model or for all."""

    when: tuple[str, ...] = ()
    model: str | None = None
    turns: tuple[ScriptedTurn, ...] = Field(min_length=1)


class ServerScript(_Strict):
    """The script that the server plays.

    Attributes:
        models: the models that it has; every name if empty.
        dialogues: what they say.
        latency: seconds before every answer.
        turn_mark: text that opens a turn of a prompt without chat roles: the second one is the second turn.
        refused: parameters of a request that are answered with status 400.
        wants_reasoning: answers of the assistant's without `reasoning_content` are answered with status 400.
        key: the only key that is let in; every one without it.
    """

    dialogues: tuple[ScriptedDialogue, ...] = ()
    models: tuple[str, ...] = ()
    latency: float = 0.0
    turn_mark: str = "### Turn "
    refused: tuple[str, ...] = ()
    wants_reasoning: bool = False
    key: str | None = None

    def turn(self, body: dict[str, Any]) -> ScriptedTurn | None:
        """Return what answers a request; None if nothing does."""
        messages = [each for each in body.get("messages") or () if isinstance(each, dict)]
        said = "\n".join(_text(message) for message in messages)
        model = body.get("model")
        for dialogue in self.dialogues:
            if dialogue.model in (None, model) and all(each in said for each in dialogue.when):
                own = sum(message.get("role") == "assistant" for message in messages)
                count = own or max(said.count(self.turn_mark) - 1, 0)
                return dialogue.turns[min(count, len(dialogue.turns) - 1)]
        return None


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def read_script(path: Path) -> ServerScript:
    """Read a script from a JSON file.

    Raises:
        InputError: it cannot be read, or is no script; the message names the field.
    """
    try:
        return ServerScript.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {where}: {first['msg']}") from None


def demo_script(model: str = "scripted") -> ServerScript:
    """Return the script of two models that solve every task of the demo.

    `MODEL` plays c-Interact, a-Interact and BIRD by tool calls, and any user with a model: it answers the
    questions that it asks itself, and nothing else. `MODEL-markup` plays c-Interact by tags.
    """
    dialogues: list[ScriptedDialogue] = []
    with make_game("c-interact") as arena:
        for name in arena.ids:
            private, public = arena._tasks.private(name), arena._tasks.public(name)
            terms = [each.term for each in private.brief.ambiguities if each.kind != "non_critical"]
            questions = [f"What do you mean by '{term}'?" for term in dict.fromkeys(terms)]
            golds = [private.gold, *([private.follow_up.gold] if private.follow_up else [])]
            answers = [";\n".join(gold) for gold in golds]
            when = (f"Request: {public.question}",)
            dialogues.append(ScriptedDialogue(when=when, model=model, turns=_calls(questions, answers)))
            dialogues.append(
                ScriptedDialogue(when=when, model=f"{model}-markup", turns=_tags(questions, answers))
            )
            for term, question in zip(dict.fromkeys(terms), questions, strict=True):
                dialogues += _user(private.brief, term, question, model)
    dialogues += [
        ScriptedDialogue(when=(when,), model=model, turns=(ScriptedTurn(content=words),))
        for when, words in ((_ENCODER, "unanswerable()"), (_WORDING, ""), (_ONE_PROMPT, OUT_OF_SCOPE))
    ]
    with make_game("bird") as arena:
        for name in arena.ids:
            when = (f"Question: {arena._tasks.public(name).question}\n",)
            sql = ";\n".join(arena._tasks.private(name).gold)
            dialogues.append(ScriptedDialogue(when=when, model=model, turns=_calls([], [sql])))
    return ServerScript(models=(model, f"{model}-markup"), dialogues=tuple(dialogues))


_ENCODER: Final = "Decide what one question is about"
"""What only the prompt of a user's encoder says."""

_WORDING: Final = "Your answer, in stiff words:"
_ONE_PROMPT: Final = "You play a person who asked a data analyst"


def _user(brief: Brief, term: str, question: str, model: str) -> list[ScriptedDialogue]:
    """Return the user's side of one question: what it is about, and the rule-based user's words for it."""
    when = (f'"{brief.request}"', f"---\n{question}\n---")
    words = RuleUser().answer(brief, question).text
    return [
        ScriptedDialogue(
            when=(_ENCODER, *when), model=model, turns=(ScriptedTurn(content=f"labelled({term})"),)
        ),
        ScriptedDialogue(when=when, model=model, turns=(ScriptedTurn(content=words),)),
    ]


def _calls(questions: Sequence[str], answers: Sequence[str]) -> tuple[ScriptedTurn, ...]:
    asked = [Call(name="clarify", arguments={"question": each}) for each in questions]
    made = [Call(name="submit_sql", arguments={"sql": each}) for each in answers]
    return tuple(ScriptedTurn(calls=(call,)) for call in (*asked, *made))


def _tags(questions: Sequence[str], answers: Sequence[str]) -> tuple[ScriptedTurn, ...]:
    said = [f"<s>{each}</s>" for each in questions]
    said += [f"<t>```sqlite\n{each}\n```</t>" for each in answers]
    return tuple(ScriptedTurn(content=each) for each in said)
