"""What tokens cost: a file of the user's, else `genai-prices` if it is installed; else it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import read_json
from birdenv.llm._completion import Completion

_PER: Final = 1_000_000  # prices are for a million tokens
_FIELDS: Final = ("input", "output", "cached_input")


class TokenPrices:
    """US dollars of an answer."""

    def __init__(self, file: Path | None = None) -> None:
        """Read a file `{"MODEL": {"input": 0.15, "output": 0.6, "cached_input": 0.075}}`.

        Prices are US dollars for a million tokens; `cached_input` may be left out.

        Raises:
            InputError: the file cannot be read, or a price is no number from 0.
        """
        self._own: Mapping[str, Mapping[str, float]] = {} if file is None else _read(file)

    def cost(self, model: str, url: str, completion: Completion) -> float | None:
        """Return the price of an answer; None if the price or the tokens are not known."""
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
        """Return whether the price of a model is known."""
        return model in self._own or _listed(model, url, 1, 1, 0) is not None


def _read(file: Path) -> Mapping[str, Mapping[str, float]]:
    found: Any = read_json(file)
    if not isinstance(found, dict):
        raise InputError(f"{file}: expected a JSON object of models and their prices")
    for model, prices in found.items():
        good = isinstance(prices, dict) and {"input", "output"} <= set(prices) <= set(_FIELDS)
        if not good or not all(_is_price(price) for price in prices.values()):
            raise InputError(
                f"{file}: {model!r} needs the prices `input` and `output`, and may have `cached_input`: "
                "US dollars for a million tokens"
            )
    return found


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def _listed(model: str, url: str, prompt: int, answer: int, cached: int) -> float | None:
    """The price by `genai-prices`, told the URL: what a server of one's own costs is not known."""
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
