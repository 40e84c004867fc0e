"""The rule-based user in the user's seat of a dialogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv.users._brief import Answer, Brief
from birdenv.users._conversation import Conversation, one_by_one
from birdenv.users._decoder import OUT_OF_SCOPE, RuleUser, decode, said_again
from birdenv.users._proposal import agreed
from birdenv.users._styles import chatty
from birdenv.users._temperaments import NO_TIME, UNSURE, Temperament, misremembered, read_temperament

_CONFIRM = re.compile(
    r"(?i)\b(?:confirm|(?:are|is) (?:you|that|this|it) (?:sure|certain|right|correct)|you sure)\b"
)


class RulePlayer:
    """Answers each question by rules; the trace of a move says which snippets it draws on.

    Where the game's protocol has a conversation (`Brief.converses`), it remembers what was asked, says yes or
    no to proposals, and asks back. Otherwise each question is answered by itself and nothing is asked back.
    """

    def __init__(
        self, briefs: Sequence[Brief], temperament: Temperament | None = None, rng: Random | None = None
    ) -> None:
        self._briefs = briefs
        self._temperament = temperament or Temperament()
        self._conversations = [Conversation(brief) for brief in briefs]
        self._rng = rng or Random(0)
        self._answered = 0

    def move(self, view: View) -> Move:
        """Answer the last question."""
        at = min(view.phase, len(self._briefs)) - 1
        question = _last_question(view)
        brief = self._briefs[at]
        if brief.converses:
            answer = self._in_conversation(self._conversations[at], question)
        else:
            answer = RuleUser().answer(brief, question)
            if answer.call == "unclear":
                answer = Answer(OUT_OF_SCOPE, "unanswerable")
        text = answer.text
        if brief.style == "chatty" and answer.granted:
            text = chatty(text, self._rng)
        trace = {"call": answer.call, "target": answer.target, "granted": list(answer.granted)}
        return Move("answer", text, trace)

    def _in_conversation(self, conversation: Conversation, question: str) -> Answer:
        temper = self._temperament
        if temper.questions is not None and self._answered >= temper.questions:
            return Answer(NO_TIME, "unanswerable")
        self._answered += 1
        choice = conversation.understand(question)
        if choice.call in ("unclear", "unanswerable") and conversation.told and _CONFIRM.search(question):
            choice = conversation.told[-1]
        if temper.name == "literal":
            choice = one_by_one(choice)[0]
        again = conversation.was_told(choice)
        conversation.remember(choice)
        if temper.name == "vague" and choice.call == "labelled" and not again:
            term = " ".join(choice.items[0].term.split())
            return Answer(
                f"By '{term}' I mean the usual thing. Do you need it exactly?",
                "labelled",
                choice.target,
            )
        granted = choice.granted()
        if temper.name == "mistaken" and not again and len(choice.items) == 1:
            wrong = misremembered(choice.items[0].snippet)
            if wrong is not None:
                item = replace(choice.items[0], snippet=wrong)
                text = decode(replace(choice, items=(item,)), conversation.brief)
                return Answer(f"{text} {UNSURE}", choice.call, choice.target, granted)
        text = decode(choice, conversation.brief)
        said = agreed(conversation.asked or question, choice, conversation.brief)
        if said and temper.name == "literal":
            text = f"{said}."
        elif temper.name == "mistaken" and again:
            text = f"I have looked it up. {text}"
        elif said:
            text = f"{said}. {text}"
        elif again:
            text = said_again(choice, conversation.brief)
        return Answer(text, choice.call, choice.target, granted)


def _last_question(view: View) -> str:
    for event in reversed(view.heard):
        if event.action == "clarify":
            return event.data if isinstance(event.data, str) else ""
    return view.message


@plays("c-interact", "a-interact")
def rule_player(argument: str, context: PlayerContext) -> RulePlayer:
    """Make the user `rule`, or one of another temperament, `rule:NAME`.

    Raises:
        InputError: there is no such temperament, or the game tells this seat nothing that the rules can use.
    """
    temperament = read_temperament(argument)
    briefs = context.brief
    if not isinstance(briefs, tuple) or not all(isinstance(brief, Brief) for brief in briefs):
        raise InputError(
            f"the user `rule` plays the user's seat of c-interact and a-interact, not {context.game}"
        )
    return RulePlayer(briefs, temperament, context.rng)
