"""Users with a model: `llm` (two calls, BIRD-Interact §3.1), `llm-one-prompt` and `rule+llm`.

The decoder of `llm` gets the granted SQL and the dialogue. It never gets the gold SQL or the clear request,
so it cannot reveal them. `llm-one-prompt` makes a single call that sees everything, as in the older protocol.
In `rule+llm`, rules decide what is granted and word the answer, and the model only rewords the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from birdenv.dialogue import Move, Player, PlayerContext, View
from birdenv.dialogue.players import AGENTS, PlayerSpec, plays
from birdenv.llm import models_of
from birdenv.users._brief import Brief
from birdenv.users._rule_player import knows_a_request, rule_player
from birdenv.users.decoder import ASKING_BACK, OUT_OF_SCOPE
from birdenv.users.leak_guard._leak_guard import CANNED
from birdenv.users.model_user._encoder import (
    UNANSWERABLE,
    ModelReading,
    annotated_points,
    first_line,
    is_far_fetched,
    makes_the_choice,
    other_points,
    read_choice,
)
from birdenv.users.model_user._model_user import ModelUser, retry
from birdenv.users.model_user._published import PublishedUser

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_SENSES: Final = (
    re.compile(r"\b(?:at least|more|above|over|greater|higher|minimum|exceed\w*|after|later|since|longer)\b"),
    re.compile(r"\b(?:at most|less|below|under|fewer|lower|maximum|before|earlier|until|up to|shorter)\b"),
    re.compile(r"\b(?:more than|above|over|exceed\w*|less than|below|under|fewer than)\b"),
    re.compile(r"n't\b|\b(?:not?|never|none|without|except\w*|exclud\w*|other than|all but)\b"),
)
"""Senses that rewording must not change: upwards, downwards, without the bound itself, and exclusion."""


@plays("c-interact", "a-interact")
class WordedRuleUser(ModelUser):
    """The rule-based user with answers that a model rewords. Refusals are not reworded.

    The model's words are discarded if their numbers differ from the numbers in the answer, or if they reverse
    the meaning of the answer.
    """

    def __init__(self, model: str, context: PlayerContext) -> None:
        super().__init__(model, context)
        self._rules = rule_player("", context)

    def move(self, view: View) -> Move:
        """Answer the last question."""
        made = self._rules.move(view)
        granted, plain = made.trace["granted"], made.data
        if not granted:
            return self.answer(plain, **made.trace)
        values = {"question": self.question(view), "answer": plain}
        text = self.guarded("wording", self.brief(view), granted, plain, plain, **values)
        if set(_NUMBER.findall(text)) != set(_NUMBER.findall(plain)):
            self.fault("other numbers")
            text = plain
        elif _senses(text) != _senses(plain):
            self.fault("other sense")
            text = plain
        return self.answer(text, **made.trace)

    def remember(self, view: View, move: Move) -> None:
        """Let the rule-based user remember the question. The model is not called."""
        self._rules.move(view)


def _senses(text: str) -> list[bool]:
    return [sense.search(text.casefold()) is not None for sense in _SENSES]


@plays("c-interact", "a-interact")
class OnePromptUser(ModelUser):
    """A user that shows a model the clear request, the annotations and the gold SQL in a single prompt.

    Only the leak guard in the game's rules checks the answers, so its log shows how often the user leaks.
    """

    def move(self, view: View) -> Move:
        """Answer the last question."""
        brief = self.brief(view)
        text = self.said(
            "one_prompt",
            question=self.question(view),
            dialogue=self.dialogue(view),
            clear=brief.clear_query,
            annotated=annotated_points(brief),
            gold=brief.gold,
        )
        if not text:
            self.fault("nothing said")
        return self.answer(text)


worded_rule_user, one_prompt_user = WordedRuleUser, OnePromptUser
"""The names of the entry points for these users."""

_AGAIN = "That is none of the choices. Reply with exactly one of them, with an id from the lists."


class TwoStageUser(ModelUser):
    """A user that calls a model twice: to decide what a question is about, and to word the answer."""

    def move(self, view: View) -> Move:
        """Answer the last question."""
        brief, question = self.brief(view), self.question(view)
        reading = self._read(brief, question)
        text = OUT_OF_SCOPE
        if reading.granted:
            text = self.guarded(
                "decoder",
                brief,
                reading.granted,
                CANNED,
                ASKING_BACK if brief.first_line else CANNED,
                question=question,
                dialogue=self.dialogue(view),
                term=reading.target if reading.call == "labelled" else "",
            )
        return self.answer(text, call=reading.call, target=reading.target, granted=list(reading.granted))

    def _read(self, brief: Brief, question: str) -> ModelReading:
        if not question.strip():
            return UNANSWERABLE
        annotated, others = annotated_points(brief), other_points(brief)
        if makes_the_choice(question, brief.request, annotated + others):
            self.fault("told what to choose")
            if brief.converses:
                return UNANSWERABLE
        values = {"question": question, "annotated": annotated, "others": others}
        line = first_line if brief.first_line else str
        more: tuple[Mapping[str, Any], ...] = ()
        for fault in ("no such choice", "no choice after two tries"):
            said = self.ask("encoder", *more, **values)
            if reading := read_choice(line(said), annotated, others):
                if is_far_fetched(question, reading, brief):
                    self.fault("granted without a shared word")
                return reading
            self.fault(fault)
            more = retry(said, _AGAIN)
        return UNANSWERABLE


def llm_user(argument: str, context: PlayerContext) -> Player:
    """Create the user `llm:MODEL`. In games without ambiguous requests, it plays by tool calls, like agents.

    Raises:
        InputError: the model or the prompts cannot be used.
    """
    models = models_of(context.models)
    if models.settings.user_prompts is not None:
        return PublishedUser(argument, context, models.settings.user_prompts)
    if knows_a_request(context):
        return TwoStageUser(argument, context)
    factory, _ = PlayerSpec("llm", AGENTS).load()
    return factory(argument, context)
