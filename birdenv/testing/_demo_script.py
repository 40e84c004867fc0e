"""A script that plays the demo benchmark as a model that asks well and is right, and as its user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from birdenv.dialogue import make_game
from birdenv.testing._openai_script import Call, ScriptedDialogue, ScriptedTurn, ServerScript
from birdenv.users import Brief, RuleUser
from birdenv.users.decoder import OUT_OF_SCOPE


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
