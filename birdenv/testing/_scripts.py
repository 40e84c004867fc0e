"""Scripts for the scripted OpenAI server: its models' answers, and the faults that it simulates.

A script is a JSON object:

    {"models": ["scripted"],
     "dialogues": [{"when": ["text in the request"],
                    "turns": [{"calls": [{"name": "clarify", "arguments": {"question": "Which year?"}}]},
                              {"content": "words", "faults": [{"status": 500}, {"drop": true}]}]}]}

A request is answered by the first dialogue for which the request contains all `when` strings. The number of
assistant messages in the request selects the turn; the last turn is repeated if there are more messages. The
answer depends only on the request, so a client can continue after the server is restarted.

The script `demo` plays both seats of the demo benchmark: a model that asks good questions and submits correct
SQL, and the simulated user.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from birdenv.checks import read_as
from birdenv.dialogue import make_game
from birdenv.files import read_json
from birdenv.users import Brief, RuleUser
from birdenv.users.decoder import OUT_OF_SCOPE


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Call(_Strict):
    """A tool call in an answer.

    Attributes:
        name: the name of the tool.
        arguments: the arguments as a JSON value. A string is sent unchanged, even if it is not valid JSON.
        id: the id of the call; by default, `call_` and a number.
    """

    name: str
    arguments: Any = Field(default_factory=dict)
    id: str | None = None

    def to_json(self, number: int) -> dict[str, Any]:
        """Return the call in OpenAI's format."""
        text = self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)
        function = {"name": self.name, "arguments": text}
        return {"id": self.id or f"call_{number}", "type": "function", "function": function}


class Trouble(_Strict):
    """A deliberate fault in an answer, such as a delay, an error or a broken connection.

    Attributes:
        delay: the number of seconds to wait before the answer.
        status: the HTTP status. If it is 400 or more, the body is an error.
        code: the value of `error.code` in the body.
        message: the value of `error.message` in the body, with the client's API key in place of `{key}`.
        headers: additional headers, such as `Retry-After`.
        body: the whole body, to replace the completion or error; None for the usual body.
        content_type: the content type of the body.
        drop: True to close the connection without an answer.
        cut: True to close the connection after half of the body.
        drip: the number of seconds to wait after each byte of the body, to simulate a slow server.
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
    """A model's answer.

    Attributes:
        content: the text of the answer; None for no text.
        calls: the tool calls in the answer.
        reasoning: the value of `reasoning_content`; None to omit the field.
        refusal: the text of a refusal; None if the model does not refuse.
        finish_reason: the finish reason; by default, `tool_calls` or `stop`.
        usage: True if the answer contains the field `usage`.
        size: the length in characters to which the text is extended by repetition; 0 to leave it unchanged.
        faults: the faults that the server simulates in the first attempts at a request, one per attempt.
            Later attempts get the real answer.
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
        """Return the text of the answer, repeated if the turn has a `size`."""
        if not self.size:
            return self.content
        words = self.content or "x"
        return (words * (self.size // len(words) + 1))[: self.size]


class ScriptedDialogue(_Strict):
    """A model's answers in one dialogue.

    Attributes:
        when: the strings that a request must all contain to be answered by this dialogue.
        model: the name of the model; by default, any model.
        turns: the answers, in order.
    """

    when: tuple[str, ...] = ()
    model: str | None = None
    turns: tuple[ScriptedTurn, ...] = Field(min_length=1)


class ServerScript(_Strict):
    """A script for the server, which describes the answers from all its models.

    Attributes:
        dialogues: the dialogues in order of priority: the first that matches a request answers it.
        models: the names of the models; if empty, any name is accepted.
        latency: the number of seconds to wait before every answer.
        turn_mark: the text that begins each turn in a prompt that has no chat roles. The server counts its
            occurrences to select the turn.
        refused: the names of parameters to refuse with status 400.
        wants_reasoning: True to refuse a request, with status 400, if an assistant message in it has no
            `reasoning_content`.
        key: the only API key to accept; by default, every key is accepted.
    """

    dialogues: tuple[ScriptedDialogue, ...] = ()
    models: tuple[str, ...] = ()
    latency: float = 0.0
    turn_mark: str = "### Turn "
    refused: tuple[str, ...] = ()
    wants_reasoning: bool = False
    key: str | None = None

    def turn(self, body: dict[str, Any]) -> ScriptedTurn | None:
        """Return the turn that answers a request with this body, or None if no dialogue matches."""
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
        InputError: the file cannot be read, or a field is invalid; the message names the field.
    """
    return read_as(ServerScript, read_json(path), path)


def demo_script(model: str = "scripted") -> ServerScript:
    """Return a script for two models that solve every task in the demo benchmark.

    The model called `model` plays c-Interact, a-Interact and BIRD with tool calls. It also plays the
    simulated user, but can answer only the questions in this script. The model `<model>-markup` plays
    c-Interact with tags.
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
"""A text that occurs only in the prompt with which a simulated user classifies a question."""

_WORDING: Final = "Your answer, in stiff words:"
_ONE_PROMPT: Final = "You play a person who asked a data analyst"


def _user(brief: Brief, term: str, question: str, model: str) -> list[ScriptedDialogue]:
    """Return the dialogues in which a simulated user classifies and answers one question."""
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
