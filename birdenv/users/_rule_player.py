"""The rule-based user in the user's seat of a dialogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv.users._brief import Answer, Brief, Call
from birdenv.users._conversation import Conversation, ordinal
from birdenv.users._proposal import agreed
from birdenv.users._styles import chatty
from birdenv.users._temperaments import NO_TIME, UNSURE, Temperament, misremembered, read_temperament
from birdenv.users.decoder import OUT_OF_SCOPE, decode, said_again
from birdenv.users.understanding import ANSWERED, Part

_CONFIRM = re.compile(
    r"(?i)\b(?:confirm|(?:are|is) (?:you|that|this|it) (?:sure|certain|right|correct)|you sure)\b"
)


class RulePlayer:
    """Answers each question by rules; the trace of a move says which snippets it draws on.

    Where the game's protocol has a conversation (`Brief.converses`), it remembers what was asked, says yes or
    no to proposals, and asks back. Otherwise each message is answered by itself and nothing is asked back.
    Of a message with several questions it answers the first two, and says that the others wait.
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
        """Answer the last message: the first two of its questions."""
        at = min(view.phase, len(self._briefs)) - 1
        brief = self._briefs[at]
        conversation = self._conversations[at] if brief.converses else Conversation(brief)
        answer = self._reply(conversation, _last_question(view))
        text = answer.text
        if brief.style == "chatty" and answer.granted:
            text = chatty(text, self._rng)
        trace = {"call": answer.call, "target": answer.target, "granted": list(answer.granted)}
        return Move("answer", text, trace)

    def _reply(self, conversation: Conversation, message: str) -> Answer:
        temper = self._temperament
        if temper.questions is not None and self._answered >= temper.questions:
            return Answer(NO_TIME, "unanswerable")
        self._answered += 1
        most = 1 if temper.name in ("literal", "busy") else ANSWERED
        parts = conversation.understand(message, most)
        answers = [self._answer(conversation, part) for part in parts[:most]]
        return in_one_message(answers, len(parts))

    def _answer(self, conversation: Conversation, part: Part) -> Answer:
        """Answer one question."""
        temper, choice = self._temperament, part.choice
        assert choice is not None
        if not conversation.brief.converses:
            if choice.call == "unclear":
                return Answer(OUT_OF_SCOPE, "unanswerable")
            return Answer(decode(choice, conversation.brief), choice.call, choice.target, choice.granted())
        if choice.call in ("unclear", "unanswerable") and conversation.told and _CONFIRM.search(part.text):
            choice = conversation.told[-1]
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
        said = agreed(part.asked or part.text, choice, conversation.brief)
        if said and temper.name == "literal":
            text = f"{said}."
        elif temper.name == "mistaken" and again:
            text = f"I have looked it up. {text}"
        elif said:
            text = f"{said}. {text}"
        elif again:
            text = said_again(choice, conversation.brief)
        return Answer(text, choice.call, choice.target, granted)


_CALLS: Final[tuple[Call, ...]] = ("labelled", "unlabelled", "unanswerable", "unclear")


def in_one_message(answers: Sequence[Answer], asked: int) -> Answer:
    """Put the answers to the first questions of a message together, and say that the others wait.

    Args:
        answers: the answers, in the order of the questions.
        asked: how many questions the message has.
    """
    if asked == 1:
        return answers[0]
    calls = {answer.call for answer in answers}
    texts = [_in_its_place(place, answer) for place, answer in enumerate(answers)]
    if len(calls) == 1 and not calls & {"labelled", "unlabelled"}:
        texts = [answers[0].text]
    if asked > len(answers):
        texts.append(_waiting(len(answers), asked, calls <= {"labelled", "unlabelled"}))
    targets = dict.fromkeys(answer.target for answer in answers if answer.target)
    granted = dict.fromkeys(sql for answer in answers for sql in answer.granted)
    call = next(call for call in _CALLS if call in calls)
    return Answer(" ".join(dict.fromkeys(texts)), call, " + ".join(targets), tuple(granted))


def _in_its_place(place: int, answer: Answer) -> str:
    """The words for one of several questions; one that is not answered is named."""
    if answer.call == "unanswerable":
        return f"Your {ordinal(place)} question is nothing I can help you with."
    if answer.call == "unclear":
        return f"I am not sure what your {ordinal(place)} question is about."
    return answer.text


def _waiting(answered: int, asked: int, told: bool) -> str:
    first = "your first question" if answered == 1 else "your first two questions"
    done = f"I have answered {first}." if told else f"That is all I can say to {first}."
    rest = (
        "Please ask the others one at a time." if asked - answered > 1 else "Please ask the other one again."
    )
    return f"{done} {rest}"


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
