"""Decide whether a proposal in a question ("Does high mean above 0.35?") agrees with the SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from birdenv.users._amounts import OUT, SPELT, TURNS, Verdict, moments_in, numbers_in, of_amounts
from birdenv.users._brief import Brief, BriefNotes
from birdenv.users.sql_in_words import (
    LexicalUnit,
    Names,
    Node,
    parse_fragment,
    split_words,
    tokenize,
    verbalise,
)
from birdenv.users.understanding import Choice
from birdenv.users.understanding._left_open import SAID
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import (
    GENERIC_STEMS,
    clean,
    content_words,
    stem,
    words,
)

_PROPOSAL = re.compile(
    r"^(?:(?:so|ok|okay|and|but|then|yes|no|hence|thus|just|only|meaning|ah|well)\W+)*"
    r"(?:is|are|was|were|do|does|did|should|shall|can|could|will|would"
    r"|must|has|have|may|you said|you mean|i take)\b"
    r"|^so\b|^(?:\w+ ){1,4}first\b"
)
_APPROVAL = re.compile(
    r"\b(?:right|correct|ok|okay|yes|true|agreed|enough|sufficient|complete|that's (?:it|all)|isn't it)\W*$"
)
CHOICE = re.compile(
    r"(?<!\bon )(?<!\bat )\bor\b"
    r"(?! (?:more|less|fewer|above|below|later|earlier|after|before|higher|lower|over|under|not)\b)"
)
_COLUMNS = re.compile(r"\b(\d+|" + "|".join(SPELT) + r") (?:\w+ )?(?:columns|fields)\b")
_LONGEST_APPROVAL = 24
"""The number of characters at the end of a text that are searched for a request for approval."""

_ASKS_FOR_USE = re.compile(
    r"\b(?:columns?|fields?|matters?|relevant|needed|necessary|important|involved|look\w* at"
    r"|uses?|used|using)\b"
)
"""Asks whether a column is used. An answer would show which columns the gold SQL has."""

_EXCLUSIVE = re.compile(r"\b(?:only|just|nothing (?:else|more)|no other|enough|sufficient|complete|all)\b")
_NO_LIMIT = re.compile(r"\b(?:no limit|unlimited|without (?:a |any )?limit|every row|all (?:of them|rows))\b")
_DIRECTIONS = {
    True: re.compile(r"\bdescending\b|\b(?:newest|latest|most|highest|largest|biggest) (?:\w+ ){0,2}first\b"),
    False: re.compile(
        r"\b(?:ascending|alphabetical\w*|a to z)\b"
        r"|\b(?:oldest|earliest|lowest|smallest|least) (?:\w+ ){0,2}first\b"
    ),
}
"""Phrases for descending order (True) and ascending order (False)."""

_ONCE = re.compile(
    r"\b(?:once|unique|distinct|different)\b|\b(?:without|no|remov\w+|drop\w*) (?:any )?duplicates\b"
)
_REPEATED = re.compile(r"\b(?:with|keep\w*|allow\w*|includ\w*) (?:the |any )?duplicates\b|\brepeat\w*")
_REGIONS = {
    "output": re.compile(r"\b(?:sort\w*|order\w*|group\w*|for each|per|where|whose|having|limit\w*)\b.*"),
    "group": re.compile(r"^.*?\b(?:for (?:each|every)|per|by|each|every)\b|\b(?:sort\w*|where|whose)\b.*"),
    "order": re.compile(r"^.*?\b(?:sort\w*|order\w*)\b(?: it| them)?(?: by)?|\b(?:limit\w*|show\w*)\b.*"),
    "tie": re.compile(r"^$"),
}
"""For each clause, the text of a question that is not about the columns named in this clause."""


def agreed(asked: Question, choice: Choice, brief: Brief) -> Verdict:
    """Return "Yes" or "No" for a question's proposal, or an empty string if the choice does not decide it.

    If the answer only repeats a sentence from the request, the result is "Yes" if this sentence contains all
    distinctive words in the question, and an empty string otherwise.
    """
    if not choice.tells or not _proposes(asked):
        return ""
    if choice.answer:
        said = set(map(stem, content_words(words(asked.text)))) - GENERIC_STEMS
        repeats = choice.answer.startswith(SAID) and len(said) > 1 and said <= _stems_of(clean(choice.answer))
        return "Yes" if repeats else ""
    clause = choice.parts[0].clause if len(choice.parts) == 1 else ""
    known = _known(brief.identifiers, brief.notes)
    if choice.items:  # the words of the request propose nothing new
        given = _stems_of(clean(" ".join([brief.request, *(item.term for item in choice.items)])))
        known = frozenset(name for name in known if not name <= given)
    return verdict(asked, choice.granted(), clause, known)


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


@lru_cache(maxsize=64)
def _known(identifiers: frozenset[str], notes: BriefNotes) -> frozenset[frozenset[str]]:
    """Return the stems of each name in a schema, as the user says the name."""
    names = Names(identifiers, notes)
    found = {_stems_of(clean(names.words(name))) for name in identifiers}
    return frozenset(stems for stems in found if not stems <= GENERIC_STEMS | _OF_KEYS)


def _proposes(asked: Question) -> bool:
    """Return whether a question proposes one thing."""
    text = asked.text
    proposes = asked.confirms or _PROPOSAL.match(text) or _APPROVAL.search(text[-_LONGEST_APPROVAL:])
    return bool(proposes) and not CHOICE.search(text)


def verdict(
    asked: Question,
    snippets: Sequence[str],
    clause: str = "",
    known: frozenset[frozenset[str]] = frozenset(),
) -> Verdict:
    """Compare the numbers, bounds, values and names that a question proposes with those in a snippet.

    The result is "Yes", "No", or an empty string if the question cannot be decided.

    Args:
        asked: the question.
        snippets: the SQL that the answer draws on. The verdict is empty if there are several snippets.
        clause: the kind of clause, such as `output`, if the SQL is a clause.
        known: the names in the schema, each as a set of stems. If a question proposes a name that is in the
            schema but not in the SQL, the verdict is "No".

    >>> from birdenv.users.understanding import take_apart
    >>> verdict(take_apart("Does roomy mean more than 40 seats?"), ["b.seats >= 40"])
    'No'
    >>> verdict(take_apart("So at least 40 seats?"), ["b.seats >= 40"])
    'Yes'
    >>> verdict(take_apart("So just the name and the index?"), ["name, wear_index"], "output")
    'Yes'
    """
    if len(snippets) != 1 or not _proposes(asked):
        return ""
    text, tokens = asked.text, _tokens(snippets[0])
    clause = clause or _CLAUSES.get(tokens[0].key if tokens else "", "")
    if clause != "output" and _ASKS_FOR_USE.search(text):
        return ""
    if clause in _LISTS:
        return _names(text, snippets[0], clause, known)
    if clause == "distinct":
        return "Yes" if _ONCE.search(text) else "No" if _REPEATED.search(text) else ""
    if clause == "limit" and _NO_LIMIT.search(text):
        return "No"
    if _NOT_MISSING.search(snippets[0]) and _MISSING.search(text):
        out, kept = _LEFT_OUT.search(text), _KEPT.search(text)
        return "" if bool(out) == bool(kept) else "Yes" if out else "No"
    proposed, moments = numbers_in(text), moments_in(text)
    amounts = bool(proposed or moments)
    if amounts and _is_foreign(text, _names_in(parse_fragment(snippets[0])), known):
        return "No"
    if not clause and (TURNS.search(text) or (amounts and OUT.search(text))):
        return ""
    return of_amounts(text, tokens, proposed, moments) if amounts else _values(text, tokens)


_NOT_MISSING = re.compile(r"(?i)^(?:WHERE |AND )?[\w.]{1,80} IS NOT NULL$")
_MISSING = re.compile(r"\b(?:without|missing|empty|blanks?|null|no|not|un\w+)\b")
_LEFT_OUT = re.compile(r"\b(?:leav\w+ out|left out|exclu\w+|skip\w*|ignor\w+|drop\w*|remov\w+|omit\w*)\b")
_KEPT = re.compile(r"\b(?:includ\w+|count\w*|keep|kept|stay|in)\b")


_LISTS = frozenset({"output", "group", "order", "tie"})
_CLAUSES = {"ORDER": "order", "GROUP": "group", "LIMIT": "limit"}
_OF_KEYS = frozenset(map(stem, "id ids code key no nr ref".split()))
"""Words that people leave out of the name of a key, as in "one row for each station"."""


@lru_cache(maxsize=4096)
def _tokens(snippet: str) -> tuple[LexicalUnit, ...]:
    return tuple(tokenize(snippet))


@lru_cache(maxsize=4096)
def _listed(sql: str, clause: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """Return the stems of each thing that a clause lists, and whether it is sorted in descending order."""
    tree = parse_fragment(sql)
    if tree is None:
        return ()
    part = tree.args.get("order" if clause == "tie" else clause) if clause != "output" else None
    items = (part or tree).expressions or [tree]
    return tuple((_names_in(item) or _said(item.sql()), bool(item.args.get("desc"))) for item in items)


def _said(sql: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(words(verbalise(sql)))))


def _names_in(tree: Node | None) -> frozenset[str]:
    if tree is None:
        return frozenset()
    names = (split_words(node.name) for node in tree.walk() if type(node).__name__ == "Identifier")
    return frozenset(stem(word) for name in names for word in name.split())


def _is_foreign(text: str, own: frozenset[str], known: frozenset[frozenset[str]]) -> bool:
    """Return whether a text mentions a name from the schema, but none of the snippet's names (`own`)."""
    said = _stems_of(text)
    return any(name <= said and not name & own for name in known) and not said & (own - GENERIC_STEMS)


def mentions_another(text: str, sql: str, brief: Brief) -> bool:
    """Return True if a text mentions a name from the schema, but none of those in the SQL."""
    return _is_foreign(text, _names_in(parse_fragment(sql)), _known(brief.identifiers, brief.notes))


def _names(text: str, sql: str, clause: str, known: frozenset[frozenset[str]]) -> Verdict:
    """Judge a proposal about output columns, groups or sorting.

    The result is "Yes" if the clause lists every name that the text mentions, and "No" if the text mentions a
    name from the schema that the clause does not list.
    """
    items = _listed(sql, clause)
    about = _REGIONS[clause].sub(" ", text)
    said = _stems_of(about)
    if clause in ("order", "tie") and not _SORTED_BY.search(text):
        known = frozenset()
    here = [name for name in known if name - _OF_KEYS <= said]
    full = [name for name in here if not any(name < other for other in here)]
    if any(not any(name - _OF_KEYS <= own for own, _ in items) for name in full):
        return "No"
    named = [bool(own & said) if clause == "output" else own - _OF_KEYS <= said for own, _ in items]
    if clause in ("order", "tie"):
        downs = [down for down, pattern in _DIRECTIONS.items() if pattern.search(text)]
        if len(downs) == 1 and items:
            wanted = [down for (_, down), one in zip(items, named, strict=True) if one] or [items[0][1]]
            if _OF_TIME.search(text) and not any(own & _TIMES for own, _ in items):
                return ""
            return "Yes" if wanted[0] == downs[0] else "No"
        return "Yes" if any(named) else ""
    if clause == "output" and any(named) and (count := _COLUMNS.search(text)):
        return "Yes" if SPELT.get(count[1], count[1]) == str(len(items)) else "No"
    if items and all(named):
        return "Yes"
    told = set(map(stem, content_words(words(about)))) - GENERIC_STEMS
    if clause == "output":
        if not any(named):
            return "No" if told else ""
        return "No" if _EXCLUSIVE.search(text) else "Yes" if full else ""
    return "No" if any(named) and told <= frozenset[str]().union(*(own for own, _ in items)) else ""


_TIMES = frozenset(map(stem, "date time day week month year hour on at since".split()))
_OF_TIME = re.compile(r"\b(?:newest|latest|oldest|earliest)\b")
_SORTED_BY = re.compile(r"\b(?:sort|order|rank|arrang)\w* (?:\w+ ){0,2}by\b")


def _values(text: str, tokens: Sequence[LexicalUnit]) -> Verdict:
    """Judge a proposal without numbers: "Yes" if it mentions all values, "No" if it wants only some."""
    keys = {token.key for token in tokens}
    values = [" ".join(words(clean(token.text))) for token in tokens if token.kind == "string"]
    spaced = f" {' '.join(words(text))} "
    named = [value for value in values if value and f" {value} " in spaced]
    if not named or keys & {"<>", "!=", "NOT", "CASE", "LIKE"} or not keys & {"=", "IN"}:
        return ""
    if len(named) == len(values):
        return "Yes"
    if re.search(r"\b(?:only|just)\b", text):
        return "No"
    return "Yes" if _INCLUDES.search(text) else ""


_INCLUDES = re.compile(r"\b(?:too|also|as well|counts?|included?|part of|belong\w*)\b")
"""Asks whether something is included."""
