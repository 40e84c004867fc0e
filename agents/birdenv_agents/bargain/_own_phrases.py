"""The phrase bank of the rule-based Bargain player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

ACTS: Final[Mapping[str, set[str]]] = {
    "greet": {"title"},
    "ask": {"title"},
    "answer": set(),
    "open": {"price", "price_words", "title"},
    "counter": {"price", "price_words", "title"},
    "insist": {"price", "price_words", "title"},
    "better": {"title"},
    "agree": {"price", "price_words", "title"},
}
"""The acts, with the slots that their phrases may have. `about` is the role: buyer or seller.

`ask` asks about the item, `better` asks for a better price without naming one, and `agree` accepts the price
that the other player named. Prices have no sign: write "${price}" or "{price} dollars".
"""

PHRASES: Final[list[dict[str, Any]]] = [
    {"act": "answer", "text": "It is as described."},
    {"act": "answer", "about": "buyer", "text": "I see."},
    {"act": "open", "about": "buyer", "text": "Hi, I am interested. Would you take ${price}?"},
    {"act": "open", "about": "buyer", "text": "Hello! I like it. I could pay ${price}."},
    {"act": "open", "about": "seller", "text": "Hi! I am selling it for ${price}."},
    {"act": "open", "about": "seller", "text": "Hello, it is in good shape, and the price is ${price}."},
    {"act": "counter", "about": "buyer", "text": "That is more than I wanted to spend. How about ${price}?"},
    {"act": "counter", "about": "buyer", "text": "I could go up to ${price}."},
    {"act": "counter", "about": "seller", "text": "That is a bit low. I could come down to ${price}."},
    {"act": "counter", "about": "seller", "text": "How about ${price}?"},
    {"act": "insist", "text": "${price} is the best I can do."},
    {"act": "insist", "text": "I would like to stay at ${price}."},
]
