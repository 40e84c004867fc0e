"""Kinds of thing: what a question asks for, and what a piece of SQL settles."""

from __future__ import annotations

import re

from birdenv.users._brief import Ambiguity
from birdenv.users.sql_in_words._lexer import Token, tokenize

KINDS: tuple[str, ...] = (
    "threshold",
    "formula",
    "category",
    "period",
    "order",
    "round",
    "null",
    "tie",
    "distinct",
    "limit",
    "output",
    "group",
    "count",
    "unmatched",
    "name",
    "change",
    "extreme",
)
"""All kinds, in the order of the weights."""

_NUMBER = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)"
_PATTERNS: dict[str, str] = {
    "threshold": (
        r"how (?:many|much|high|low|large|big|great|small|long|old|recent|recently|fast|slow|far|close|late|early"
        r"|often|few|strong|serious|severe|bad|exact)|minimum|maximum|at (?:least|most)|cut ?offs?|cut off|thresholds?"
        r"|above|below|more than|less than|over which|under which|exceed\w*|boundar\w+|bounds?"
        r"|(?:from|up to|starting (?:at|from)|after|beyond|until|which|what) (?:\w+ ){0,3}?"
        r"(?:values?|amounts?|levels?|numbers?|scores?|sums?|speeds?|share|percentages?|price|ratio|size|points?)"
        r"|from (?:what|which|when|how)|in(?:clusive|clusively)|limits?|enough|qualif\w+|counts? as|required?|requirements?"
    ),
    "formula": (
        r"calculat\w*|comput\w*|formulas?|formulae|equations?|work(?:ed|ing)? (?:it |this |that )?out|deriv\w*|divid\w*"
        r"|denominators?|numerators?|multipl\w*|weights?|weighted|weighting|ratio|measured?|relative to|in relation to"
        r"|minus|plus|differences?|made up of|composed|components?|determined?|combin\w*|defin\w*|definition"
        r"|how (?:do|does|should|shall|can|would) (?:i|we|you) (?:get|judge|score|assess|compare|find|tell|recognise"
        r"|recognize)|what goes into|go into|goes into|enters?|add up|quantif\w*|compared? (?:with|to)|expressed"
    ),
    "category": (
        r"(?:which|what) (?:\w+ ){0,2}?(?:stat(?:us|uses|e|es)|kinds?|types?|categor(?:y|ies)|class(?:es)?|plans?|tiers?"
        r"|reasons?|groups?|districts?|cities|town|regions?|values?|conditions?|levels?|labels?|ones|combinations?)"
        r"|count(?:s|ed)?|includ\w*|belong\w*|fall|falls|part of|cover(?:s|ed)?|as well|too|leave out|left out|exclud\w*"
        r"|only|also|just|considered?|treat(?:ed)?|qualif\w+|mean(?:s|t)?|refers?|labels?|rules?"
    ),
    "period": (
        r"when|dates?|years?|months?|weeks?|days?|hours?|since|recent|recently|period|time ?frame|time ?span|time window"
        r"|how (?:old|long|recent|recently|late|early)|after which|before which|past|last|calendar|quarter|season"
        r"|o'clock|time of day|begin|began|start|starts|ended?|during|until|latest|earliest"
    ),
    "order": (
        r"sort(?:s|ed|ing)?|order(?:ed|ing)|(?:in|the|an|any|some|what|which|particular|preferred|specific|certain|do|shall i|should i|i) order"
        r"|order (?:by|of|them|the|it|matter)|rank(?:s|ed|ing)?|ascending|descending|sequence|arrang\w*|alphabetical\w*"
        r"|(?:come|comes|go|goes|be|listed|be listed|placed) (?:first|last)|first or last|on top|at the (?:top|bottom|end|beginning)"
        r"|(?:highest|largest|biggest|best|worst|heaviest|newest|oldest|earliest|latest|longest|greatest|most \w+) (?:\w+ ){0,3}?first"
        r"|high(?:est)? to low(?:est)?|low(?:est)? to high(?:est)?|first to last|begin with|positioned"
    ),
    "extreme": r"first|last|top|highest|lowest|largest|smallest|biggest|best|worst|most|least|heaviest|newest|oldest",
    "round": (
        r"round(?:ed|ing)?|decimals?|decimal places?|digits?|precis\w*|whole numbers?|whole percent|exact figure"
        r"|places|integers?|how (?:exact|precise|accurate)|two places|significant|after the (?:decimal )?(?:point|comma)"
    ),
    "null": (
        r"missing|nulls?|empty|blanks?|unknown|not recorded|unrecorded|absent|unrated|nobody rated|no (?:value|values|entry"
        r"|entries|data|information|score|rating|cost|address|date|status)|without (?:a |an |any )?\w+|is ?n ?t available"
        r"|not available|unavailable|placeholder|aren t known|not known|wasn t recorded|lacks?|lacking"
    ),
    "tie": r"ties?|tied|tie ?break\w*|equal|same (?:value|score|share|number|rank|rate|total|amount)|second (?:sort )?key",
    "distinct": (
        r"duplicat\w*|distinct|unique\w*|once|twice|repeat(?:s|ed|edly)?|different|separate(?:ly)?|same \w+ twice"
        r"|more than once|several times|deduplicat\w*|only one|just one"
    ),
    "limit": (
        r"how many (?:\w+ ){0,3}?(?:rows|results|records|entries|lines|items)|how many (?:\w+ ){1,4}?(?:return\w*|list(?:ed)?|shown?"
        r"|see|want|have)|top (?:\w+ )?(?:n|few|results|ones|" + _NUMBER + r")|limit(?:s|ed)?|cap(?:ped)?"
        r"|only (?:the |want the )?(?:first|top|best|worst|few|latest)|(?:maximum|max) (?:number|length)"
        r"|first (?:few|"
        + _NUMBER
        + r")|cut (?:the list )?off|all of them|entire list|just the (?:top|first)|batch|at most"
    ),
    "output": (
        r"columns?|fields?|attributes?|outputs?|display\w*|show(?:s|n)?|return\w*|details|information|list(?:ed)?"
        r"|(?:what|which) (?:\w+ ){0,3}?(?:see|want to know|include|present)|identifiers?|ids?|besides|next to|beside"
    ),
    "group": (
        r"group(?:s|ed|ing)? by|grouped|(?:figure|row|line|total|number|one|per|for) (?:\w+ )?(?:per|each)|per \w+|one (?:figure|total)|by (?:calendar )?(?:year|month)|break ?downs?|broken down|split|aggregat\w*|one (?:line|row)|level of detail"
        r"|separately for|by (?:what|which)|overall"
    ),
    "count": (
        r"count(?:s|ed|ing)?|number of|how many|sum(?:med)?|totals?|averages?|mean of|percentages?|shares?|rate"
        r"|absolute|proportions?|amount|money|pieces|quantit(?:y|ies)|revenue|median"
    ),
    "unmatched": (
        r"without (?:any|a|an)|with no|no match\w*|unmatched|appear(?:s)? (?:as well|too)|(?:be )?(?:kept|keep|drop(?:ped)?)"
        r"|that have none|nobody|never|zero|still (?:appear|listed|shown)"
    ),
    "name": r"(?:be )?(?:named|called)|names?|titled?|call it",
    "change": r"set|become|turned? into|chang\w*|updat\w*|new value|delet\w*|remov\w*|insert\w*|add(?:ed)?|move|copy|copying",
}
_ASKED = tuple((kind, re.compile(rf"\b(?:{_PATTERNS[kind]})\b")) for kind in KINDS)


def asked_kinds(text: str) -> frozenset[str]:
    """Find the kinds of thing that a question asks for.

    Args:
        text: The words of the question in lower case, one space between.
    """
    return frozenset(kind for kind, pattern in _ASKED if pattern.search(text))


_BY_TYPE = (
    ("sort", {"order", "tie", "extreme"}),
    ("rank", {"order", "tie", "limit", "extreme"}),
    ("decimal", {"round"}),
    ("null", {"null"}),
    ("distinct", {"distinct"}),
    ("join", {"unmatched", "null"}),
    ("divide_zero", {"null"}),
    ("date_format", {"period"}),
)
_DATE = re.compile(r"\d{4}-\d\d|^\d\d?:\d\d|^[-+]\d+ (?:day|month|year)|^%[YmdH]|^(?:19|20)\d\d$")
_COMPARED = frozenset({">", "<", ">=", "<=", "BETWEEN"})
_CATEGORY = frozenset({"=", "<>", "!=", "IN", "LIKE", "=="})
_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "TOTAL", "MEDIAN"})
_MISSING = frozenset({"NULL", "COALESCE", "IFNULL", "NULLIF", "NULLS", "ISNULL", "NOTNULL"})
_TIMES = frozenset({"JULIANDAY", "STRFTIME", "DATE", "DATETIME", "TIMESTAMP", "EXTRACT", "INTERVAL"})


def settled_kinds(item: Ambiguity) -> frozenset[str]:
    """Find the kinds of thing that an annotated point settles."""
    if item.kind == "non_critical":
        for start, kinds in _BY_TYPE:
            if item.type.startswith(start):
                return frozenset(kinds)
    return kinds_of_sql(item.snippet)


def clause_kinds(sql: str) -> frozenset[str]:
    """Find which of ORDER BY, LIMIT and SELECT DISTINCT a snippet has as clauses."""
    text = " ".join(token.key for token in tokenize(sql))
    clauses = (("order", "ORDER BY"), ("limit", "LIMIT"), ("distinct", "SELECT DISTINCT"))
    return frozenset(kind for kind, words in clauses if words in text and "OVER" not in text)


def kinds_of_sql(sql: str, clause: str = "") -> frozenset[str]:
    """Find the kinds of thing that a piece of SQL settles; `clause` is where it stands, if that is known."""
    tokens = tokenize(sql)
    keys = [token.key for token in tokens]
    words = frozenset(keys)
    found = _of_values(tokens, words) | _of_clauses(keys, words)
    found |= {
        "order": {"order", "extreme"},
        "limit": {"limit", "extreme"},
        "group": {"group"},
        "distinct": {"distinct"},
        "output": {"output"},
        "join": {"unmatched"},
        "having": {"threshold"},
        "assign": {"change"},
        "values": {"change"},
        "create": {"name"},
        "column": {"output"},
        "columns": {"output"},
    }.get(clause, set())
    return frozenset(found) or frozenset({"output"})


def _of_values(tokens: list[Token], words: frozenset[str]) -> set[str]:
    found: set[str] = set()
    strings = [token.text for token in tokens if token.kind == "string"]
    dates = any(_DATE.search(text) for text in strings) or not words.isdisjoint(_TIMES)
    if dates:
        found.add("period")
    if not words.isdisjoint(_COMPARED):
        found.add("threshold")
    if (not words.isdisjoint(_CATEGORY) and strings and not dates) or "WHEN" in words:
        found.add("category")
    if not words.isdisjoint(_MISSING):
        found.add("null")
    return found


def _of_clauses(keys: list[str], words: frozenset[str]) -> set[str]:
    found: set[str] = set()
    operators = sum(key in ("*", "/", "-", "+") for key in keys)
    stars = sum(one == "(" and other == "*" for one, other in zip(keys, keys[1:], strict=False))
    if operators > stars:
        found.add("formula")
    if not words.isdisjoint(_AGGREGATES):
        found.add("count")
    if "ORDER" in words and "OVER" not in words:
        found |= {"order", "tie"} if "," in keys[keys.index("ORDER") :] else {"order"}
    for word, kind in (("LIMIT", "limit"), ("ROUND", "round"), ("DISTINCT", "distinct"), ("GROUP", "group")):
        if word in words:
            found.add(kind)
    if not words.isdisjoint({"MAX", "MIN", "RANK", "ROW_NUMBER", "DENSE_RANK", "LIMIT", "ORDER"}):
        found.add("extreme")
    if "LEFT" in words:
        found.add("unmatched")
    if not words.isdisjoint({"DELETE", "UPDATE", "INSERT", "SET"}):
        found.add("change")
    return found
