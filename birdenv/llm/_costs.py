"""Count tokens and costs for each role in a run, and enforce the run's budgets.

Prices come from a price file if one is specified, and otherwise from the package `genai-prices`. Without
either, prices are unknown.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import read_json
from birdenv.llm._completion import Completion
from birdenv.llm._errors import BudgetSpentError
from birdenv.llm._settings import ModelSettings, Role

_PER: Final = 1_000_000  # prices are per million tokens
_FIELDS: Final = ("input", "output", "cached_input")


class TokenPrices:
    """The prices of models in US dollars per million tokens."""

    def __init__(self, file: Path | None = None) -> None:
        """Read prices from a file `{"MODEL": {"input": 0.15, "output": 0.6, "cached_input": 0.075}}`.

        The key `cached_input` may be missing.

        Raises:
            InputError: the file cannot be read, or a price is negative or not a number.
        """
        self._own: Mapping[str, Mapping[str, float]] = {} if file is None else _read(file)

    def cost(self, model: str, url: str, completion: Completion) -> float | None:
        """Return the cost of an answer in US dollars, or None if the prices or token counts are unknown."""
        prompt, answer = completion.prompt_tokens, completion.completion_tokens
        if prompt is None or answer is None:
            return None
        cached = min(completion.cached_tokens, prompt)
        own = self._own.get(model)
        if own is None:
            return _listed(model, url, prompt, answer, cached)
        cheap = own.get("cached_input", own["input"])
        return ((prompt - cached) * own["input"] + cached * cheap + answer * own["output"]) / _PER

    def are_known(self, model: str, url: str) -> bool:
        """Return True if the prices of a model are known."""
        return model in self._own or _listed(model, url, 1, 1, 0) is not None


def _read(file: Path) -> Mapping[str, Mapping[str, float]]:
    found: Any = read_json(file)
    if not isinstance(found, dict):
        raise InputError(f"{file}: expected a JSON object that maps models to their prices")
    for model, prices in found.items():
        good = isinstance(prices, dict) and {"input", "output"} <= set(prices) <= set(_FIELDS)
        if not good or not all(_is_price(price) for price in prices.values()):
            raise InputError(
                f"{file}: {model!r} requires the prices `input` and `output`, and may have `cached_input`, "
                "in US dollars per million tokens"
            )
    return found


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def _listed(model: str, url: str, prompt: int, answer: int, cached: int) -> float | None:
    """Return the cost from `genai-prices`, which identifies services by URL; None if the cost is unknown."""
    library = _library()
    if library is None:
        return None
    usage = library.Usage(input_tokens=prompt, output_tokens=answer, cache_read_tokens=cached or None)
    try:
        return float(library.calc_price(usage, model, provider_api_url=url).total_price)
    except LookupError:
        return None


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        import genai_prices
    except ImportError:
        return None
    return genai_prices


_LARGER: Final = "to continue, also specify a larger budget"


@dataclass(slots=True)
class Account:
    """The model usage of one role in a run.

    Attributes:
        calls: the number of answers from endpoints.
        prompt_tokens: the number of prompt tokens, as far as endpoints report it.
        completion_tokens: the number of completion tokens, as far as endpoints report it.
        cost_usd: the cost in US dollars, as far as prices are known.
        unpriced: the number of calls with an unknown cost.
        unmetered: the number of calls with an unknown token count.
        troubles: the number of failed requests, keyed by kind of failure.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    unmetered: int = 0
    troubles: Counter[str] = field(default_factory=Counter)


class Ledger:
    """The budgets of a run, and its model usage for each role. The methods are thread-safe."""

    def __init__(self, settings: ModelSettings) -> None:
        self._max_cost, self._run_tokens = settings.max_cost, settings.run_tokens
        self._accounts: dict[Role, Account] = {}
        self._before = (0.0, 0)
        self._calls_before, self._unpriced_before, self._unmetered_before = 0, 0, 0
        self._lock = threading.Lock()

    def begin_with(self, calls: int, cost: float, tokens: int, unpriced: int, unmetered: int) -> None:
        """Count the usage of an earlier part of the run towards the budgets.

        Args:
            calls: the number of earlier calls.
            cost: the cost of the earlier calls in US dollars, as far as it is known.
            tokens: the number of tokens in the earlier calls.
            unpriced: the number of earlier calls with an unknown cost.
            unmetered: the number of earlier calls with an unknown token count.
        """
        with self._lock:
            self._before = (cost, tokens)
            self._calls_before, self._unpriced_before, self._unmetered_before = calls, unpriced, unmetered

    def add(self, role: Role, completion: Completion, *, reused: bool) -> None:
        """Add an answer to the account of a role. Reused answers cost nothing and are not counted."""
        with self._lock:
            account = self._accounts.setdefault(role, Account())
            if reused:
                return
            account.calls += 1
            account.prompt_tokens += completion.prompt_tokens or 0
            account.completion_tokens += completion.completion_tokens or 0
            account.cost_usd += completion.cost_usd or 0.0
            account.unpriced += completion.cost_usd is None
            account.unmetered += completion.prompt_tokens is None or completion.completion_tokens is None

    def trouble(self, role: Role, kind: str) -> None:
        """Count a failed request for a role."""
        with self._lock:
            self._accounts.setdefault(role, Account()).troubles[kind] += 1

    def check(self) -> None:
        """Raise `BudgetSpentError` if a budget is spent, or if most answers do not report their usage.

        Without reported usage, no budget can be enforced. Calls in progress are not counted.
        """
        cost, tokens = self.totals()
        budget = "--max-cost" if self._max_cost is not None else "--max-tokens"
        if self._max_cost is not None or self._run_tokens is not None:
            accounts = self.accounts().values()
            if 2 * sum(a.unmetered for a in accounts) > sum(a.calls for a in accounts):
                raise BudgetSpentError(f"{budget} cannot be enforced: the endpoint does not report tokens")
        if self._max_cost is not None and cost >= self._max_cost:
            raise BudgetSpentError(
                f"--max-cost is reached: {cost:.4f} of {self._max_cost:g} US dollars ({_LARGER})"
            )
        if self._run_tokens is not None and tokens >= self._run_tokens:
            raise BudgetSpentError(
                f"--max-tokens is reached: {tokens} of {self._run_tokens} tokens ({_LARGER})"
            )

    def totals(self) -> tuple[float, int]:
        """Return the total cost of the run so far in US dollars, and the total number of tokens."""
        with self._lock:
            accounts = self._accounts.values()
            tokens = sum(a.prompt_tokens + a.completion_tokens for a in accounts)
            return self._before[0] + sum(a.cost_usd for a in accounts), self._before[1] + tokens

    def accounts(self) -> dict[Role, Account]:
        """Return the account of each role, excluding earlier parts of the run."""
        with self._lock:
            return dict(sorted(self._accounts.items()))

    def line(self) -> str:
        """Return a one-line summary of the run so far, or an empty string if there were no calls."""
        accounts = self.accounts().values()
        if not accounts and not self._calls_before:
            return ""
        cost, tokens = self.totals()
        unpriced = self._unpriced_before + sum(a.unpriced for a in accounts)
        price = "cost unknown" if unpriced and not cost else f"${cost:.4f}{'+' if unpriced else ''}"
        failed = sum(sum(a.troubles.values()) for a in accounts)
        again = f", {failed} failed request{'s' if failed > 1 else ''}" if failed else ""
        unmetered = self._unmetered_before + sum(a.unmetered for a in accounts)
        took = f"{tokens}{'+' if unmetered else ''} tokens" if tokens or not unmetered else "tokens unknown"
        return f"{self._calls_before + sum(a.calls for a in accounts)} calls, {took}, {price}{again}"
