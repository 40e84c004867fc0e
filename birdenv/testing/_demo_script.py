"""A script that plays the demo benchmark as a model that asks well and is right."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.dialogue import make_game
from birdenv.testing._openai_script import Call, Dialogue, Script, Turn


def demo_script(model: str = "scripted") -> Script:
    """Return the script of two models that solve every task of the demo.

    `MODEL` plays c-Interact, a-Interact and BIRD by tool calls. `MODEL-markup` plays c-Interact by tags.
    """
    dialogues: list[Dialogue] = []
    with make_game("c-interact") as arena:
        for name in arena.ids:
            private, public = arena._tasks.private(name), arena._tasks.public(name)
            terms = [each.term for each in private.brief.ambiguities if each.kind != "non_critical"]
            questions = [f"What do you mean by '{term}'?" for term in dict.fromkeys(terms)]
            golds = [private.gold, *([private.follow_up.gold] if private.follow_up else [])]
            answers = [";\n".join(gold) for gold in golds]
            when = (f"Request: {public.question}",)
            dialogues.append(Dialogue(when=when, model=model, turns=_calls(questions, answers)))
            dialogues.append(Dialogue(when=when, model=f"{model}-markup", turns=_tags(questions, answers)))
    with make_game("bird") as arena:
        for name in arena.ids:
            when = (f"Question: {arena._tasks.public(name).question}\n",)
            sql = ";\n".join(arena._tasks.private(name).gold)
            dialogues.append(Dialogue(when=when, model=model, turns=_calls([], [sql])))
    return Script(dialogues=tuple(dialogues))


def _calls(questions: Sequence[str], answers: Sequence[str]) -> tuple[Turn, ...]:
    asked = [Call(name="clarify", arguments={"question": each}) for each in questions]
    made = [Call(name="submit_sql", arguments={"sql": each}) for each in answers]
    return tuple(Turn(calls=(call,)) for call in (*asked, *made))


def _tags(questions: Sequence[str], answers: Sequence[str]) -> tuple[Turn, ...]:
    said = [f"<s>{each}</s>" for each in questions]
    said += [f"<t>```sqlite\n{each}\n```</t>" for each in answers]
    return tuple(Turn(content=each) for each in said)
