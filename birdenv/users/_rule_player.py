"""The rule-based user as a player, and variants of it that answer differently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv.sql import tokens
from birdenv.users._bounds import bound_of
from birdenv.users._brief import Answer, Brief, Call
from birdenv.users._conversation import ORDINALS, Conversation, still_holds
from birdenv.users._proposal import agreed
from birdenv.users.decoder import OUT_OF_SCOPE, decode
from birdenv.users.understanding import ANSWERED, Choice, Part
from birdenv.users.understanding._question import Question

TEMPERAMENTS: Final = {
    "cooperative": "answers every question that it understands; the default",
    "literal": "says yes or no to a proposal and no more, and answers the first of several questions",
    "vague": "answers a first question about a point in general words; the second one gets the content",
    "busy": "leaves after 3 messages (`busy:N`: after N), and answers the first question of each",
    "mistaken": "gives a wrong number, says that it is not sure, and corrects itself when asked again",
}
"""The variants `rule:NAME` of the rule-based user, with descriptions."""

_QUESTIONS_OF_BUSY = 3
"""The number of messages that the user `rule:busy` answers before it leaves."""

_PLAIN = re.compile(r"\d+(?:\.\d+)?")

NO_TIME: Final = "Sorry, I have no more time for questions. Please go on with what you know."
"""The sentence that a busy user says instead of further answers."""

UNSURE: Final = "I am not sure of the number, so please ask me to confirm it."
"""The sentence that a mistaken user adds to a wrong number."""


@dataclass(frozen=True, slots=True)
class Temperament:
    """The way in which a rule-based user answers.

    Attributes:
        name: a key of `TEMPERAMENTS`.
        questions: the maximum number of messages that the user answers; None means no limit.
    """

    name: str = "cooperative"
    questions: int | None = None


def read_temperament(argument: str) -> Temperament:
    """Return the temperament for the text after `rule:`, such as `vague` or `busy:5`.

    Raises:
        InputError: there is no such temperament, or the text after `busy:` is not a number.
    """
    name, _, number = argument.partition(":")
    name = name or "cooperative"
    if name not in TEMPERAMENTS or (number and name != "busy"):
        known = ", ".join(f"rule:{one}" for one in TEMPERAMENTS)
        raise InputError(f"unknown user rule:{argument}; known users: {known}, rule:busy:N")
    if number and not re.fullmatch(r"[0-9]{1,4}", number):
        raise InputError(f"rule:busy:N takes a number of questions, got {number!r}")
    return Temperament(name, int(number or _QUESTIONS_OF_BUSY) if name == "busy" else None)


def misremembered(snippet: str) -> str | None:
    """Return a snippet with its last number changed, or None if it compares nothing with a number.

    A whole number is raised by one; a decimal number gets another digit. Text in quotation marks, such as a
    date, is not changed.

    >>> misremembered("b.seats >= 40 AND b.opened >= '2024-01-01'")
    "b.seats >= 41 AND b.opened >= '2024-01-01'"
    """
    numbers = [one for one in tokens(snippet) if one.kind == "number" and _PLAIN.fullmatch(one.text)]
    if not numbers or not re.search(r"[<>=]", snippet):
        return None
    *_, (_, number, end) = numbers
    wrong = f"{number}1" if "." in number else str(int(number) + 1)
    return snippet[: end - len(number)] + wrong + snippet[end:]


class RulePlayer:
    """A user that answers questions by rules. The trace of each move names the snippets behind the answer.

    If the protocol has a conversation (`Brief.converses`), the player remembers earlier questions, says yes
    or no to proposals, and asks the agent to rephrase unclear questions. Otherwise, it answers each message
    on its own and never asks for clarification. If a message contains several questions, the player answers
    the first two and says that the others wait.
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
        """Answer the first two questions in the last message."""
        at = min(view.phase, len(self._briefs)) - 1
        brief = self._briefs[at]
        conversation = self._conversations[at] if brief.converses else Conversation(brief)
        answer = self._reply(conversation, last_question(view))
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
        answers = [self._answer(conversation, part) for part in parts[:most] if part.choice is not None]
        return in_one_message(answers, len(parts))

    def _answer(self, conversation: Conversation, part: Part) -> Answer:
        """Answer one question."""
        brief, choice = conversation.brief, part.choice
        assert choice is not None
        if not brief.converses:
            if choice.call == "unclear":
                return Answer(OUT_OF_SCOPE, "unanswerable")
            return Answer(decode(choice, brief), choice.call, choice.target, choice.granted())
        asked = part.asked
        choice = bound_of(asked, choice, brief)
        again = conversation.was_told(choice)
        conversation.remember(choice)
        if self._temperament.name == "vague" and choice.call == "labelled" and not again:
            term = " ".join(choice.items[0].term.split())
            text = f"By '{term}' I mean the usual thing. Do you need it exactly?"
            return Answer(text, "labelled", choice.target)
        full = conversation.with_all_kept(asked, choice)
        text = self._words(choice, full, asked, again, brief)
        return Answer(text, choice.call, choice.target, full.granted())

    def _words(self, choice: Choice, full: Choice, asked: Question, again: bool, brief: Brief) -> str:
        """Return the answer to a question about `choice`, which tells all of `full`."""
        name, text = self._temperament.name, decode(full, brief)
        if name == "mistaken" and not again and len(choice.items) == 1:
            wrong = misremembered(choice.items[0].snippet)
            if wrong is not None:
                item = replace(choice.items[0], snippet=wrong)
                return f"{decode(replace(choice, items=(item,)), brief)} {UNSURE}"
        said = still_holds(asked, choice, brief) or agreed(asked, choice, brief)
        if said and name == "literal":
            return f"{said}."
        if name == "mistaken" and again:
            return f"I have looked it up. {text}"
        if said:
            return f"{said}. {text}"
        return f"To say it once more: {text}" if again and full == choice and not full.answer else text


_CALLS: Final[tuple[Call, ...]] = ("labelled", "unlabelled", "unanswerable", "unclear")


def in_one_message(answers: Sequence[Answer], asked: int) -> Answer:
    """Combine the answers to the first questions in a message, and say that the other questions wait.

    Args:
        answers: the answers, in the order of the questions.
        asked: the number of questions in the message.
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
    """Return the text about one of several questions. If it is not answered, the text says which it is."""
    if answer.call == "unanswerable":
        return f"Your {ORDINALS[place]} question is nothing I can help you with."
    if answer.call == "unclear":
        return f"I am not sure what your {ORDINALS[place]} question is about."
    return answer.text


def _waiting(answered: int, asked: int, told: bool) -> str:
    first = "your first question" if answered == 1 else "your first two questions"
    done = f"I have answered {first}." if told else f"That is all I can say to {first}."
    rest = (
        "Please ask the others one at a time." if asked - answered > 1 else "Please ask the other one again."
    )
    return f"{done} {rest}"


def last_question(view: View) -> str:
    """Return the system's last question verbatim."""
    asked = next((event.data for event in reversed(view.heard) if event.action == "clarify"), view.message)
    return asked if isinstance(asked, str) else ""


@plays("c-interact", "a-interact")
def rule_player(argument: str, context: PlayerContext) -> RulePlayer:
    """Create the rule-based user: `rule`, or `rule:NAME` for a variant with a different temperament.

    Args:
        argument: the text after `rule:`, such as `vague` or `busy:5`; empty for the default.
        context: the user's seat in a game.

    Raises:
        InputError: there is no such temperament, or the game has no ambiguous request.
    """
    temperament = read_temperament(argument)
    return RulePlayer(briefs_of(context), temperament, context.rng)


def knows_a_request(context: PlayerContext) -> bool:
    """Return True if this is the seat of a user who made an ambiguous request."""
    return isinstance(context.brief, tuple) and all(isinstance(each, Brief) for each in context.brief)


def briefs_of(context: PlayerContext) -> Sequence[Brief]:
    """Return what the user knows in each phase.

    Raises:
        InputError: this is not the seat of a user who made an ambiguous request.
    """
    if not knows_a_request(context):
        raise InputError(
            f"this user plays only the user's seat in c-interact and a-interact, not in {context.game}"
        )
    return tuple(context.brief)


_OPENINGS: Final = (
    "Sure!",
    "Good that you ask.",
    "Ah, right, I should have said that.",
    "Let me think... yes.",
    "Of course.",
    "Happy to explain.",
)
_ENDINGS: Final = (
    "",
    "I hope that helps!",
    "Just ask if anything else is unclear.",
    "Thanks for checking.",
)


def chatty(text: str, rng: Random) -> str:
    """Return `text` with randomly chosen small talk around it."""
    return " ".join(filter(None, (rng.choice(_OPENINGS), text, rng.choice(_ENDINGS))))
