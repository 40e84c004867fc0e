"""Read Bargain messages: prices, agreements, requests for a better price, and questions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from birdenv_agents._number_words import plain, with_digits

_SHORTHAND: Final = {
    "u": "you",
    "ur": "your",
    "urs": "yours",
    "r": "are",
    "abt": "about",
    "bout": "about",
    "wld": "would",
    "k": "ok",
    "kk": "ok",
    "ya": "yes",
    "ye": "yes",
    "sry": "sorry",
    "w": "with",
    "w/": "with",
}
"""Abbreviations that people use in chats."""
_DIGIT: Final = re.compile(r"\d")
_SHORT: Final = re.compile(rf"(?<![\w'$.,])(?:{'|'.join(map(re.escape, _SHORTHAND))})(?![\w'])")
_FOR: Final = re.compile(r"(?<![\w$.,])4(?= (?:sale|me|u|you|it|this|that|real|sure|free|the|a)\b(?! ?\d))")
_TO: Final = re.compile(r"(?<![\w$.,])2(?= (?:me|u|you|be|do|get|go|see|know|buy|sell|pick|pay|come)\b)")


class Reading(NamedTuple):
    """The content of a message.

    Attributes:
        price: the price that the message names, in dollars; None if it names no price.
        agrees: True if the message accepts the last price.
        refuses: True if the message refuses the last price or asks for a better price.
        asks: True if the message asks any other question.
        is_last: True if the message says that its offer is final.
    """

    price: float | None = None
    agrees: bool = False
    refuses: bool = False
    asks: bool = False
    is_last: bool = False


class Prices(NamedTuple):
    """The prices to which words such as `half way` or `ten off` refer.

    Attributes:
        listed: the list price.
        own: the last price that the reader of the message named; None before the first price.
        others: the last price that the other player named; None before the first price.
    """

    listed: float
    own: float | None = None
    others: float | None = None


_LEAST: Final = 0.2
_MOST: Final = 1.7
"""A number is a price if it lies between these shares of the list price."""

_NUMBER: Final = re.compile(
    r"(?P<sign>[$€£]|usd ?)? ?(?P<digits>\d{1,3}(?:[, ]\d{3}\b)+(?:\.\d+)?|\d*\.\d+|\d+)(?P<k>k\b|"
    r" ?grand\b| ?thousand\b| ?hundred\b)?"
    r"(?P<unit> ?(?:[$€£]|dollars?\b|bucks?\b|usd\b))?(?P<after>(?:%| ?-?[a-z/\"']+)?)"
)
_NO_PRICE: Final = re.compile(
    r"^ ?-?(?:miles?|mi|km|years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|"
    r"inch(?:es)?|in(?:ch)?\b(?= size)|ft|feet|"
    r"gb|tb|mb|mp|lbs?|kg|speeds?|gears?|beds?|bed|bath|bedrooms?|br|sq|people|person|times?|am|pm|"
    r"chairs?|pieces?|seats?|shelves|years?|owners?|percent|%|x\d*|st|nd|rd|th|o'clock|cm|mm|m\b|\"|')"
)
_DROPPED: Final = re.compile(
    r"(?:instead of|rather than|(?:can't|cannot|can not|won't|not|don't|"
    r"never) (?:\w+ ){0,4}?(?:do|take|accept|pay|go with|afford|sell (?:it|this) for|be|give you|"
    r"let it go for)?(?: it)?(?: for)?|"
    r"not|than your|listed (?:it )?(?:at|for)|listing (?:of|at)|you(?:'re| are) asking|"
    r"asking price(?: of| is)?|your|(?<!if )(?:i|we) paid|bought it for|worth|"
    r"retails? (?:at|for)|new for|originally) ?$"
)
_TOO: Final = re.compile(
    r"^[ ,]*(?:\w+ ){0,3}?(?:too (?:low|high|much|little|steep|expensive)|out of|steep|"
    r"a bit (?:low|high|much))"
)
_OFF: Final = re.compile(r"^ ?(?:\w+ ){0,2}?(?:off|less|lower|cheaper|discount|down)\b")
_KNOCK: Final = re.compile(
    r"(?:knock|take|drop|shave|cut|lower|reduce|come down|go down|discount(?: of)?|minus)\b[^.?!]{0,22}$"
)
_RAISE: Final = re.compile(r"(?:(?:come|go|move) up|add|raise(?: it| my offer)?)(?: by| another| an extra)?$")
_MORE: Final = re.compile(r"^ ?(?:more|extra|higher|on top)\b(?! \w+s\b)")
_HALFWAY: Final = re.compile(
    r"split the (?:difference|diff)|meet (?:me )?(?:in the middle|half ?-?way|halfway|"
    r"at the middle)|half ?-?way|"
    r"in the middle|middle ground|in between"
)
_FULL: Final = re.compile(
    r"(?:full|asking|list(?:ed|ing)?|original|posted|advertised|sticker|starting)[ -](?:price|"
    r"amount|rent)|what (?:you're|you are|i'm|i am) asking"
)
_BELOW: Final = re.compile(
    r"\b(?:below|under|less|lower|off|cheaper|too|flexib\w*|negotiab\w*|firm|is|was|why|drop|come down)\b"
)
_HALF_PRICE: Final = re.compile(r"\bhalf (?:the |of the |of that |off|price|of what|your)")
_AGREES: Final = re.compile(
    r"\b(?:deal|agreed?|sold|sounds? (?:good|great|fair|fine|reasonable|perfect|like a (?:deal|"
    r"plan))|works? for me|"
    r"(?:that|this|it) (?:works|will work|would work|'?ll do|is fine|is fair|is ok|is okay)|"
    r"that'?s (?:fine|fair|great|good|perfect|ok|okay|a deal|reasonable|doable)|"
    r"i(?:'?ll| will| would| can| could|'?d)? (?:gladly |happily |be happy to |"
    r"definitely )?(?:take (?:it|that)|accept|do (?:it|that)|go (?:with|for) (?:it|that)|"
    r"live with that|work with that|buy it|agree)|"
    r"you(?:'?ve)? (?:got|have) (?:yourself )?a (?:deal|buyer)|you got it|let'?s (?:do it|"
    r"do that|do this|go with that|shake|make it happen|close)|"
    r"(?:it'?s|its) (?:yours|a deal)|(?:we|you) have a deal|shake on it|done|alright then|"
    r"fair enough|good with (?:that|me)|fine by me|ok(?:ay)? (?:with me|by me)|all yours|"
    r"count me in|but (?:ok|okay|fine|sure|yes)|"
    r"(?:price|offer|amount) (?:is|sounds|works) (?:fine|good|great|ok|okay|fair|for me|reasonable))\b"
)
_YES: Final = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|fine|alright|all right|absolutely|perfect|great|"
    r"certainly|of course|you bet)\b"
)
_REFUSES: Final = re.compile(
    r"\b(?:too (?:low|high|much|steep|expensive|little)|(?:go|come|bring it|get|move|budge|"
    r"drop) (?:any |a (?:bit|little) |it |the price )?(?:lower|down|higher|up)|lower|cheaper|"
    r"higher|"
    r"wiggle|flexib\w*|negotia\w*|discount|best (?:price|offer|you can do)|do (?:any )?better|"
    r"better (?:price|deal|offer)|less|"
    r"no deal|no way|can'?t (?:do|accept|take|go|afford|agree)|cannot (?:do|accept|take|go|"
    r"afford|agree)|won'?t (?:work|do|take|accept)|doesn'?t work|not (?:going to|gonna) (?:work|"
    r"happen|do)|"
    r"(?:would|will) not|not (?:enough|good enough|possible|interested)|afraid not|"
    r"don'?t think (?:i|we|so|that)|(?:a (?:bit|little)|still|pretty|quite|very|"
    r"way) (?:too )?(?:high|low|much|steep|expensive)|insult\w*|"
    r"lowball|firm|out of my (?:budget|range)|more than i|budget|steep|pricey|hoping for (?:more|"
    r"less)|meet me)\b"
)
_NO_THANKS: Final = re.compile(r"\b(?:no(?= thank| way| chance|[.!]|$)|nope|nah|never)\b")
_NO: Final = re.compile(r"^\W*(?:no|nope|nah|sorry|hmm+|unfortunately|not really|i'm afraid)\b")
_LAST: Final = re.compile(
    r"\b(?:final|last (?:offer|price|word)|best i can|lowest i|highest i|as (?:low|high) as i|"
    r"max(?:imum)?|minimum|absolute|firm|take it or leave it|can'?t go (?:any )?(?:lower|higher|"
    r"below|above|over|under))\b"
)
_NOT_AGREED: Final = re.compile(
    r"\b(?:no deal|not? (?:\w+ ){0,2}(?:deal|agree|fair|work|sold|take)|(?:can'?t|cannot|won'?t|"
    r"don'?t|doesn'?t|wouldn'?t|couldn'?t|not) (?:\w+ ){0,3}?(?:do (?:it|that)|take (?:it|that)|"
    r"accept|agree|work|fair|good)|"
    r"(?:great|good|better|fair|sweet) deal|deal (?:breaker|with)|if (?:you|we|i)|would you|"
    r"could you|can you|but(?! (?:ok|okay|fine|sure|deal|yes))|how about|"
    r"what about|unless|done (?:any|with)|have you)\b"
)
_QUESTION: Final = re.compile(
    r"\?|^\W*(?:is|are|does|do|did|has|have|how|what|why|when|where|which|can i|may i|could i)\b"
)


def read(text: str, title: str, prices: Prices) -> Reading:
    """Return the content of a message.

    Args:
        text: the text of the message.
        title: the title of the item. Numbers in the title, such as years and models, are not prices.
        prices: the prices named so far.
    """
    said = _without(with_digits(_long(plain(text))), title)
    price = _price(said, prices)
    if price is not None and price == prices.own and _NO_THANKS.search(said):
        price = None  # the message only repeats the price that it refuses
    agrees = _NOT_AGREED.search(said) is None and (
        _AGREES.search(said) is not None
        or (_YES.search(said) is not None and not _REFUSES.search(said) and "?" not in said)
    )
    refuses = not agrees and (_REFUSES.search(said) is not None or _NO.search(said) is not None)
    asks = price is None and not refuses and _QUESTION.search(said) is not None
    return Reading(price, agrees, refuses, asks, _LAST.search(said) is not None)


def _long(text: str) -> str:
    """Spell out abbreviations that people use in chats (`u`, `4 sale`)."""
    text = _TO.sub("to", _FOR.sub("for", text))
    return _SHORT.sub(lambda found: _SHORTHAND[found.group()], text)


def _without(text: str, title: str) -> str:
    """Remove the title and its numbers (2006, 4runner) from a text."""
    sold = plain(title)
    if sold:
        text = text.replace(sold, "it")
    for word in filter(_DIGIT.search, re.findall(r"[\w.]+", sold)):
        text = re.sub(rf"(?<![\w$.,]){re.escape(word)}(?![\w.,]*\d)(?! ?(?:dollars|bucks|\$))", "", text)
    return text


def _price(text: str, prices: Prices) -> float | None:
    """Return the last price in digits that the message offers, or otherwise a price in words."""
    for in_thousands in (False, True):  # 8.5 may mean 8500 for a car, if nothing else is a price
        found = [_number(match, text, prices, in_thousands) for match in _NUMBER.finditer(text)]
        if named := [price for price in found if price is not None]:
            return named[-1]
    if _HALFWAY.search(text):
        own, others = prices.own or prices.listed, prices.others
        return None if others is None else round((own + others) / 2, 2)
    if _HALF_PRICE.search(text):
        return prices.listed / 2
    full = _FULL.search(text)
    near = text[max(0, full.start() - 30) : full.end() + 25] if full else ""
    return prices.listed if full and not _BELOW.search(near) and "?" not in text else None


def _number(match: re.Match[str], text: str, prices: Prices, in_thousands: bool) -> float | None:
    """Return the price that a number in a text means, or None if the number is not a price."""
    number = float(match.group("digits").replace(",", "").replace(" ", ""))
    factor = (match.group("k") or "").strip()
    number *= {"": 1, "hundred": 100}.get(factor, 1000)
    marked = bool(match.group("sign") or match.group("unit"))
    before, after = text[: match.start()].rstrip(), match.group("after") + text[match.end() :]
    tail = before[-40:]
    start = prices.own or prices.listed
    if after.startswith(("%", " percent")):
        rest = after.removeprefix("%").removeprefix(" percent")
        if _OFF.search(rest) or _KNOCK.search(tail):
            return prices.listed * (1 - number / 100)
        return prices.listed * number / 100 if rest.startswith(" of") else None
    if _NO_PRICE.search(after) and not marked:
        return None
    if (_OFF.search(after) or (_KNOCK.search(tail) and not tail.endswith(" to"))) and number < start * 0.6:
        return start - number
    if (_MORE.search(after) or _RAISE.search(tail)) and number < start * 0.6:
        return (prices.others or start) + number
    if in_thousands and not factor and number < _LEAST * prices.listed and prices.listed >= 1000:
        number *= 1000
    if not _LEAST * prices.listed <= number <= _MOST * prices.listed:
        return None
    if _DROPPED.search(before[-32:]) or _TOO.search(after):
        return None
    return number
