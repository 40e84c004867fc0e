"""The base class of all users that call a language model.

It makes the model calls, keeps the dialogue so far, and checks each answer with the leak guard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from birdenv.dialogue import Move, PlayerContext, Usage, View
from birdenv.llm import Chat, ContextOverflowError, Models, models_of, package_prompt
from birdenv.users._brief import STAGES, Brief
from birdenv.users._rule_player import briefs_of, last_question
from birdenv.users.leak_guard import guard_answer

_MOST_QUESTION: Final = 4000  # characters; what follows is not read
_MOST_ANSWER: Final = 2000  # characters; small models go round in circles
_MOST_EXCHANGES: Final = 6
_AGAIN: Final = (
    "This cannot be said. Say the same in other words: no SQL, no names of columns or tables, nothing about "
    "a reference, and only what you were asked about."
)


class ModelUser:
    """The base class of users that call a language model. An instance plays one episode."""

    def __init__(self, model: str, context: PlayerContext) -> None:
        """Create the user for one episode.

        Raises:
            InputError: this is not the seat of a user who made an ambiguous request; or the model, its key or
                its URL cannot be used.
        """
        self._briefs = briefs_of(context)
        self._request = getattr(context.scenario, "question", "")
        models: Models = models_of(context.models)
        scope = f"{context.instance_id}/{context.repeat}/{context.seat_name}"
        self._form = "" if models.settings.prompts == "full" else models.settings.prompts
        self._chat: Chat = models.chat("user", model, scope, context.rng.getrandbits(31))
        self._faults: Counter[str] = Counter()
        self._calls: dict[str, list[str]] = {stage: [] for stage in STAGES}

    def brief(self, view: View) -> Brief:
        """Return what the user knows in this phase."""
        return self._briefs[min(view.phase, len(self._briefs)) - 1]

    def question(self, view: View) -> str:
        """Return the system's question, shortened and on one line."""
        return _one_line(last_question(view))

    def dialogue(self, view: View) -> list[tuple[str, str]]:
        """Return the most recent earlier questions with their answers.

        The list is empty if the protocol answers each question on its own (BIRD-Interact §3.1).
        """
        if not self.brief(view).converses:
            return []
        found: list[tuple[str, str]] = []
        asked: str | None = None
        for event in view.heard:
            if event.action == "clarify" and isinstance(event.data, str):
                asked = _one_line(event.data)
            elif event.action == "answer" and asked is not None and isinstance(event.data, str):
                found.append((asked, event.data))
                asked = None
        return found[-_MOST_EXCHANGES:]

    def ask(self, prompt: str, *more: Mapping[str, Any], **values: Any) -> str:
        """Send a prompt made from one of this package's templates, and return the model's reply.

        The reply may be empty.

        Args:
            prompt: the template's name, such as `encoder`.
            *more: chat messages to send after the prompt.
            **values: values for the template's variables, in addition to `request`.
        """
        template = package_prompt("birdenv.users.model_user", prompt, self._form)
        text = template.render(request=self._request, **values)
        return self.send("encoder" if prompt == "encoder" else "decoder", text, *more)

    def send(self, stage: str, text: str, *more: Mapping[str, Any]) -> str:
        """Send text to the model and return its reply, which may be empty.

        Args:
            stage: the user's stage that makes the call, one of `STAGES`.
            text: the text to send.
            *more: additional messages.
        """
        try:
            completion = self._chat.complete([{"role": "user", "content": text}, *more], temperature=0.0)
        except ContextOverflowError:
            self.fault("context overflow")
            return ""
        finally:
            self._calls[stage] += self._chat.keys[-1:]
        if completion.finish_reason == "length":
            self.fault("cut off")
        return completion.content.strip()

    def answer(self, text: str, **trace: Any) -> Move:
        """Return a move with the answer, a trace, and the model calls made since the previous answer."""
        calls, self._calls = self._calls, {stage: [] for stage in STAGES}
        return Move("answer", text, {**trace, "calls": calls})

    def said(self, prompt: str, *more: Mapping[str, Any], **values: Any) -> str:
        """Send a prompt of this package, and return the reply, cut to the length of a person's answer."""
        return self.cut(self.ask(prompt, *more, **values))

    def cut(self, text: str) -> str:
        """Return a text, cut to the length of a person's answer."""
        if len(text) > _MOST_ANSWER:
            self.fault("cut off")
        return text[:_MOST_ANSWER]

    def guarded(
        self, prompt: str, brief: Brief, granted: Sequence[str], refusal: str, silence: str, **values: Any
    ) -> str:
        """Return a model's answer that passes the leak guard. The model has two attempts.

        Args:
            prompt: the name of the prompt, which contains the granted SQL and `values`.
            brief: what the user knows.
            granted: the SQL that the answer may draw on.
            refusal: the answer if both attempts leak.
            silence: the answer if the last reply is empty.
            **values: additional values for the prompt.
        """
        more: tuple[Mapping[str, Any], ...] = ()
        for attempt in range(2):
            said = self.said(prompt, *more, granted=granted, **values)
            guard = guard_answer(said, brief, granted)
            if said and not guard.reason:
                return guard.text
            self.fault("refused after two tries" if attempt else "leak" if said else "nothing said")
            more = retry(said, _AGAIN)
        return refusal if said else silence

    def fault(self, kind: str) -> None:
        """Count a mistake made by the model."""
        self._faults[kind] += 1

    def remember(self, view: View, move: Move) -> None:
        """Do nothing, because the view contains the whole dialogue."""

    def usage(self) -> Usage:
        """Return the usage of the model calls in this episode."""
        return Usage(**asdict(self._chat.spent))

    def faults(self) -> Mapping[str, int]:
        """Return how often the model made each kind of mistake."""
        return dict(sorted(self._faults.items()))


def retry(said: str, objection: str) -> tuple[Mapping[str, Any], ...]:
    """Return the messages that show a model its own reply and ask for another one."""
    return {"role": "assistant", "content": said}, {"role": "user", "content": objection}


def _one_line(asked: str) -> str:
    """Shorten a question to what a person would read, on one line, so that it cannot imitate a prompt."""
    shown = "".join(each if each.isprintable() else " " for each in asked[:_MOST_QUESTION])
    return " ".join(shown.split())
