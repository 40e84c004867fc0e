"""Compute text statistics: vocabulary, entropy, n-grams, templates, perplexity and characteristic words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import log, log2
from typing import Any, Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_START: Final = "<s>"
_END: Final = "</s>"
TOP: Final = 20
"""The number of n-grams and templates that are listed."""


def tokens(text: str) -> list[str]:
    """Return the words and numbers in text, in lower case.

    >>> tokens("Don't you think $1,200 is fair?")
    ["don't", 'you', 'think', '1,200', 'is', 'fair']
    """
    return _WORD.findall(text.lower())


def entropy(counts: Mapping[Any, int]) -> float | None:
    """Return the Shannon entropy, in bits, of a distribution given as counts; None if all counts are 0.

    >>> entropy({"a": 2, "b": 2})
    1.0
    """
    total = sum(counts.values())
    return -sum(n / total * log2(n / total) for n in counts.values() if n) + 0.0 if total else None


def ngrams(texts: Iterable[Sequence[str]], size: int) -> Counter[str]:
    """Count the n-grams of `size` words in messages that are already split into words."""
    return Counter(" ".join(words[i : i + size]) for words in texts for i in range(len(words) - size + 1))


def trigram_perplexity(texts: Sequence[Sequence[str]]) -> float | None:
    """Return the perplexity of a trigram model on its own training messages, or None if there are none.

    The model is fitted by maximum likelihood, with padding at the beginning of each message. A low perplexity
    means that the words are easy to predict.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    before: Counter[tuple[str, ...]] = Counter()
    for words in texts:
        padded = [_START, _START, *words, _END]
        for i in range(2, len(padded)):
            seen[tuple(padded[i - 2 : i + 1])] += 1
            before[tuple(padded[i - 2 : i])] += 1
    total = sum(seen.values())
    if not total:
        return None
    bits = -sum(n * log2(n / before[gram[:2]]) for gram, n in seen.items())
    return float(2 ** (bits / total))


def text_statistics(texts: Sequence[str], templates: Sequence[str]) -> dict[str, Any]:
    """Return word counts, entropy, perplexity and the most frequent n-grams of messages.

    Args:
        texts: the messages.
        templates: the same messages with slots for values and numbers.
    """
    worded = [tokens(text) for text in texts]
    words = Counter(chain.from_iterable(worded))
    total = words.total()
    bare = Counter(chain.from_iterable(tokens(re.sub(r"\{[^{}]*\}", " ", text)) for text in templates))
    counted = Counter(" ".join(text.lower().split()) for text in templates)
    return {
        "messages": len(texts),
        "words": total,
        "vocabulary": len(words),
        "vocabulary_without_entities": len(bare),
        "type_token_ratio": len(words) / total if total else None,
        "unigram_entropy_bits": entropy(words),
        "trigram_perplexity": trigram_perplexity(worded),
        "templates": len(counted),
        "top_words": _top(words),
        "top_bigrams": _top(ngrams(worded, 2)),
        "top_trigrams": _top(ngrams(worded, 3)),
        "top_templates": _top(counted),
    }


def _top(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:TOP]


def characteristic_words(groups: Mapping[str, Sequence[str]]) -> dict[str, list[tuple[str, float]]]:
    """Return the most characteristic words in each group of messages, by tf-idf over the groups."""
    counts = {name: Counter(chain.from_iterable(map(tokens, texts))) for name, texts in groups.items()}
    in_groups = Counter(chain.from_iterable(counts.values()))
    made = {}
    for name, words in counts.items():
        total = words.total()
        scores = {word: n / total * log(len(counts) / in_groups[word]) for word, n in words.items()}
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:TOP]
        made[name] = [(word, score) for word, score in ranked if score > 0]
    return made
