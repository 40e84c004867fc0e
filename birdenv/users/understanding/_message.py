"""Split a message into the questions that it asks.

A message is either a list (numbered, bulleted, lettered, or lines under "please clarify:") or prose in which
some sentences and clauses are questions. A question that offers choices ("do you mean (a) .. or (b) ..?") is
a single question, and statements before or after a question belong to it. The time needed grows linearly with
the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from birdenv.users.understanding._grammar import (
    ADDED,
    GOES_ON,
    REFERS,
    SUBORDINATE,
    begins_as_question,
    clauses_of,
    is_elliptical,
)
from birdenv.users.understanding._word_forms import FRAME_STEMS, clean, content_words, stem, words


@dataclass(frozen=True, slots=True)
class Piece:
    """One question in a message.

    Attributes:
        text: the question, with the sentences that belong to it.
        is_item: True if the question stands in a list, or before one.
        goes_on: True if the text only continues the previous question ("Or is it ..?").
        refers: True if the question is about something said earlier ("How is it computed?").
        is_clause: True if the text is a later clause of a sentence.
        stands: True if the text has the form of a whole question.
    """

    text: str
    is_item: bool = False
    goes_on: bool = False
    refers: bool = False
    is_clause: bool = False
    stands: bool = True


def pieces_of(message: str) -> list[Piece]:
    """Return the questions in a message, in order. A message with a single question is returned whole.

    >>> [piece.text for piece in pieces_of("Please clarify: 1. What is late? 2. Which branches are central?")]
    ['What is late?', 'Which branches are central?']
    >>> len(pieces_of("By late, do you mean (a) after the due date or (b) after the reminder?"))
    1
    """
    if (
        "\n" not in message
        and message.find("?", 0, len(message.rstrip()) - 1) < 0
        and not _MARKED.search(message)
        and len(clauses_of(message)) == 1
    ):
        return [Piece(message)]  # the usual case, one clause
    found = _listed(message) or _series(message) or _prose(message)
    return found if len(found) > 1 else [Piece(message)]


_MARKED = re.compile(r"[(. ][\dai][.)] |; |\. \w|: ")

_LABEL = r"(?P<label>\d{1,3}|[a-z]|[ivx]{2,5})"
_AT_LINE = re.compile(
    rf"(?im)^(?P<indent>[ \t>#|]{{0,8}})\*{{0,2}}(?:(?P<bullet>[-*+•–—·▪◦‣●])(?=[ \t])"
    rf"|(?:q(?:uestion)?[ \t]?)?\(?{_LABEL}(?:[.):-](?=[\s*])|[ \t]?\|)\*{{0,2}})[ \t*]{{0,8}}"
)
_IN_LINE = re.compile(rf"(?i)(?:(?<=\s)|^)(?:q(?:uestion)?[ \t]?)?\(?{_LABEL}[.):](?=\s)\s{{0,4}}")
_NUMBERS = list(map(str, range(1, 1000)))
_LETTERS = list("abcdefghijklmnopqrstuvwxyz")
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii".split()


def _listed(message: str) -> list[Piece]:
    """Return the items of a list; none if there is no list, or if its items are choices for one question.

    An item includes its sub-items.
    """
    at_line = list(_AT_LINE.finditer(message))
    bullets = [one for one in at_line if one["bullet"]]
    bullets = [one for one in bullets if len(one["indent"]) <= len(bullets[0]["indent"])]
    in_line = _sequence(_IN_LINE.finditer(message))
    found = (_sequence(one for one in at_line if one["label"]), bullets, in_line)
    spans = next(([one.span() for one in marks] for marks in found if len(marks) > 1), [])
    spans = spans or _lines_below_a_colon(message)
    if len(spans) < 2:
        return []
    own_line = "\n" in message[spans[0][1] : spans[1][0]]
    lead = " ".join(message[: spans[0][0]].split())
    ends = [*(start for start, _ in spans[1:]), len(message)]
    items = [message[end:until] for (_, end), until in zip(spans, ends, strict=True)]
    if own_line:
        items = [item.strip().partition("\n\n")[0] for item in items]
    items[-1] = _last_item(items[-1], own_line)
    items = [" ".join(item.replace("*", " ").rstrip(" \t\r\n,;|").split()) for item in items]
    if _offers_choices(lead, items):
        return []
    asked_before = [one for one in _sentences(lead) if one.endswith("?") and not _is_framing(one)]
    return [Piece(item, is_item=True) for item in (*asked_before, *items) if item]


def _sequence(marks: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """Return the longest series of marks that count up: 1, 2 ..; a, b ..; or i, ii .."""
    marks, found = list(marks), list[list[re.Match[str]]]()
    for names in (_NUMBERS, _LETTERS, _ROMAN):
        counted: list[re.Match[str]] = []
        for mark in marks:
            if len(counted) < len(names) and mark["label"].lower() == names[len(counted)]:
                counted.append(mark)
        found.append(counted)
    return max(found, key=len)


def _lines_below_a_colon(message: str) -> list[tuple[int, int]]:
    """Return the beginnings of the lines between a line that ends with a colon and the next empty line."""
    head, _, rest = message.partition(":\n")
    listed, _, after = rest.partition("\n\n")
    if not listed.strip() or "?" in after:
        return []
    begin = len(head) + len(":\n")
    breaks = [begin, *(begin + one.end() for one in re.finditer("\n", listed.rstrip()))]
    return [(at, at) for at in breaks]


def _series(message: str) -> list[Piece]:
    """Return the items in a sentence such as "I need to know: what A is, how B works, and when C ends"."""
    lead, _, rest = message.partition(": ")
    if len(lead) > _LONGEST_LEAD or _SENTENCE_ENDS.search(rest):
        return []
    items = rest.split("; ") if "; " in rest else clauses_of(rest)
    if len(items) < 3 or not all(map(begins_as_question, items)) or all(map(is_elliptical, items)):
        items = _COMMA.split(rest) if _DEFINES.search(message) and not _CHOOSES.search(lead.lower()) else []
        items = items if all(begins_as_question(item) or _NAMES.match(item) for item in items) else []
    if len(items) < 3 or any(map(GOES_ON.match, items)):
        return []
    return [Piece(item.removeprefix("and "), is_item=True) for item in items]


_LONGEST_LEAD = 100
_SENTENCE_ENDS = re.compile(r"[.?!]\s+\S")
_COMMA = re.compile(r",(?: and)? ")
_DEFINES = re.compile(r"(?i)\b(?:clarif|defin|expla|mean|know|terms|questions|points|things)")
_NAMES = re.compile(r"(?i)(?:the|your|an?) (?:\S+ ?){1,6}$|[\"'“‘]")


def _last_item(text: str, own_line: bool) -> str:
    """Return the last item without the closing words of the message."""
    if own_line:
        first, *others = text.strip().split("\n")
        text = " ".join([first, *(line for line in others if line.startswith((" ", "\t")))])
    sentences = _sentences(text)
    asked = [i for i, one in enumerate(sentences) if one.endswith("?")]
    return " ".join(sentences[: asked[-1] + 1] if asked else sentences[:1])


_CHOOSES = re.compile(
    r"\b(?:do|did|does|would) (?:you|it|that|this) (?:\w+ )?(?:mean|refer|want|prefer|intend)|\bmean by\b"
    r"|\b(?:should|shall|either|whether)\b|\bis (?:it|this|that)\b"
    r"|\bwhich (?:of|one|definition|option|interpretation|meaning)\b"
    r"|\bis (?:\w+ ){1,6}(?:defined|based|determined|measured)\b"
)
_INTRODUCES = re.compile(
    r"\bclarif|\b(?:following|questions|points|things|details|confirm|help|assist|few|couple|answer|moment)\b"
    r"|\b(?:need|want|like) to know\b|\blet me know\b|\btell me\b|\bto be sure\b"
)


def _offers_choices(lead: str, items: Sequence[str]) -> bool:
    """Return whether items are choices for one question, not questions of their own."""
    asking = sum(item.endswith("?") or begins_as_question(item) for item in items)
    return 2 * asking <= len(items) and _CHOOSES.search(lead.lower()) is not None


_ENDS = re.compile(r"[^.?!;\n]+(?:[.?!;](?![\s\"')\],;]|$)[^.?!;\n]*)*[.?!;,]*[\"')\]]*|[.?!;]+")
_ABBREVIATED = (
    ("e.g.", "for example"),
    ("E.g.", "For example"),
    ("i.e.", "that is"),
    (" vs.", " versus"),
    ("etc.", "etc"),
    ("approx.", "about"),
)


def _sentences(text: str) -> list[str]:
    for short, spoken in _ABBREVIATED:
        if short in text:
            text = text.replace(short, spoken)
    found = (match.group().strip() for match in _ENDS.finditer(text))
    return [one for one in found if one.strip(" .?!;,'\")")]


def _prose(message: str) -> list[Piece]:
    """Return the questions, each with the statements before it, and the last also with those after it."""
    found: list[Piece] = []
    waiting: list[str] = []
    for sentence in _sentences(message):
        lead, colon, rest = sentence.partition(": ")
        if colon and _is_framing(lead):
            sentence = rest
        if not _asks(sentence):
            waiting.append(sentence)
        elif not _is_framing(sentence):
            found += _questions_in(sentence, waiting, bool(found) and GOES_ON.match(sentence) is not None)
            waiting = []
    if found and waiting:
        found[-1] = replace(found[-1], text=" ".join([found[-1].text, *waiting]))
    return found


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"')],; ").endswith("?") or begins_as_question(sentence)


def _questions_in(sentence: str, before: Sequence[str], continues: bool) -> list[Piece]:
    """Return the questions in one sentence, the first with the statements before it.

    A subordinate clause belongs to the question after it; an alternative, an explanation or a statement
    belongs to the question before it.
    """
    clauses = clauses_of(sentence)
    in_series = len(clauses) > 2 and ADDED.match(clauses[-1]) is not None
    offers = GOES_ON.match(clauses[-1]) is not None
    found, begun = list[list[str]](), list[str]()
    for number, clause in enumerate(clauses, start=1):
        begun.append(clause)
        is_listed = in_series and number > 1 and clause.startswith(("when", "where"))
        asks = begins_as_question(clause) and (is_listed or not SUBORDINATE.match(clause))
        if not asks and number < len(clauses):
            continue
        belongs = GOES_ON.match(begun[0]) or (offers and not ADDED.match(begun[0]))
        if found and (belongs or found[-1][-1].endswith(":") or not (asks or SUBORDINATE.match(begun[0]))):
            found[-1] += begun
        else:
            found.append(begun)
        begun = []
    return [
        Piece(
            " ".join([*(() if number else before), *group]),
            goes_on=continues and not number,
            refers=begins_as_question(group[0]) and REFERS.search(group[0]) is not None,
            is_clause=number > 0,
            stands=not is_elliptical(" ".join(group))
            and (ADDED.match(group[0]) is not None or (number > 0 and in_series)),
        )
        for number, group in enumerate(found)
    ]


_ANNOUNCED = re.compile(
    r"\bthe following\b|\b(?:few|couple of|some|several|two|three|four|number of|these) (?:\w+ )?"
    r"(?:questions|points|things|details|clarifications|aspects|items)\b|\blet me know(?! (?:\w+ ){0,2}?"
    r"(?:what|which|how|when|who|where|whether|if|the)\b)"
)


def _is_framing(sentence: str) -> bool:
    """Return whether a sentence only announces questions: "Could you clarify a few points?"."""
    said = clean(sentence)
    if said.startswith(("what ", "which ", "how ", "when ")):
        return False
    if _ANNOUNCED.search(said):
        return True
    telling = map(stem, content_words(words(said)))
    return _INTRODUCES.search(said) is not None and FRAME_STEMS.issuperset(telling)
