"""One seat's model calls in one episode, with their keys and usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from birdenv.llm._completion import Completion, whole_characters
from birdenv.llm._recording import call_key
from birdenv.llm._settings import ModelSettings

Answer: TypeAlias = Callable[[str, dict[str, Any], dict[str, Any], Sequence[str]], Completion]
"""A function that returns the answer to a request (see `Models.answer` for its arguments)."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The usage of several calls. A field is None if its value is unknown for any of the calls.

    Attributes:
        calls: the number of calls.
        prompt_tokens: the number of prompt tokens.
        completion_tokens: the number of completion tokens.
        cost_usd: the cost in US dollars.
    """

    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0


class Chat:
    """One seat's model calls in one episode. Instances are not thread-safe.

    Attributes:
        model: the name of the model.
        spent: the usage of the calls so far, including calls with recorded answers.
        keys: the keys under which the calls so far are recorded, in order.
    """

    def __init__(
        self, settings: ModelSettings, answer: Answer, model: str, scope: str, seed: int | None
    ) -> None:
        self.model = model
        self.spent = Spent()
        self.keys: list[str] = []
        self._settings = settings
        self._answer = answer
        self._scope = scope
        self._seed = seed
        self._seen: Counter[str] = Counter()
        self._calls = 0
        self._thoughts: list[str] = []
        self._before: list[Any] = []
        self._params: dict[str, Any] = {}

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        temperature: float | None = None,
    ) -> Completion:
        """Return the model's answer to a dialogue.

        Args:
            messages: the dialogue in OpenAI's format. Lone surrogates are replaced.
            tools: schemas of the tools that the model may call.
            temperature: the temperature for this call; None to use the temperature in the settings.

        Raises:
            ContextOverflowError: the messages do not fit in the model's context.
            InfrastructureError: the endpoint does not answer, or a budget is spent.
        """
        settings = self._settings
        wanted = {
            "model": self.model,
            "messages": list(messages),
            "tools": list(tools) or None,
            "seed": self._seed,
            "temperature": settings.temperature if temperature is None else temperature,
            "max_tokens": settings.answer_tokens,
            "service_tier": settings.service_tier,
        }
        body = whole_characters({name: value for name, value in wanted.items() if value is not None})
        plain = call_key(self._scope, body, 0)
        again = self._seen[plain]
        self._seen[plain] += 1
        key = plain if not again else call_key(self._scope, body, again)
        self.keys.append(key)
        completion = self._answer(key, body, self._entry(body), self._thoughts)
        self._thoughts.append(completion.reasoning)
        self._count(completion)
        return completion

    def _entry(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the form in which a request is recorded: its difference from the previous request.

        A request with a single message starts a new dialogue, so it is recorded completely.
        """
        sent = body["messages"]
        kept = 0
        while len(sent) > 1 and kept < min(len(sent), len(self._before)) and sent[kept] == self._before[kept]:
            kept += 1
        params = {name: value for name, value in body.items() if name != "messages"}
        entry: dict[str, Any] = {"scope": self._scope, "n": self._calls, "kept": kept}
        entry["messages"] = sent[kept:]
        if params != self._params:
            entry["params"] = params
        self._before, self._params = list(sent), params
        self._calls += 1
        return entry

    def _count(self, completion: Completion) -> None:
        spent = self.spent
        self.spent = Spent(
            spent.calls + 1,
            _sum(spent.prompt_tokens, completion.prompt_tokens),
            _sum(spent.completion_tokens, completion.completion_tokens),
            None
            if spent.cost_usd is None or completion.cost_usd is None
            else round(spent.cost_usd + completion.cost_usd, 10),
        )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
