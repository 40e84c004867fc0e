"""Split a message into the questions that it asks.

A message is either a list (numbered, bulleted or lettered) or prose in which some sentences and clauses are
questions. A question that offers choices ("do you mean (a) .. or (b) ..?") is a single question, and
statements before or after a question belong to it. The time needed grows linearly with the length of a text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from birdenv.users.understanding._choice import SURE
from birdenv.users.understanding._grammar import (
    ADDED,
    GOES_ON,
    HAS_VERB,
    REFERS,
    SUBORDINATE,
    VERB,
    begins_as_question,
    clauses_of,
)
from birdenv.users.understanding._word_forms import FRAME_STEMS, GENERIC_STEMS, clean, content_stems


@dataclass(frozen=True, slots=True)
class Piece:
    """One question in a message.

    Attributes:
        text: the question, with the sentences that belong to it.
        needs: the minimum probability of the choice for this text alone at which it is a question of its own:
            0 for a whole question, 2 for what only continues the question before it ("Or is it ..?"), and -1
            for a list item, which is a question of its own even if it repeats the one before it.
    """

    text: str
    needs: float = -1.0


def pieces_of(message: str) -> list[Piece]:
    """Return the questions in a message, in order. A message with a single question is returned whole.

    >>> [piece.text for piece in pieces_of("Please clarify: 1. What is late? 2. Which branches are central?")]
    ['What is late?', 'Which branches are central?']
    >>> len(pieces_of("By late, do you mean (a) after the due date or (b) after the reminder?"))
    1
    """
    clauses = clauses_of(message)
    if _SEVERAL.search(message) is None and (len(clauses) < 2 or sum(map(begins_as_question, clauses)) < 2):
        return [Piece(message)]  # the usual case, one question
    found = _listed(message) or _series(message) or _prose(message)
    return found if len(found) > 1 else [Piece(message)]


_SEVERAL = re.compile(
    r"[\n;•▪●]|\?\W{0,9}\w|[.!]\s\w|[(. ][\dai][.)] |:[^,:]*,[^,:]*,|, [^,]*(?:, ?| )and |, [^,]*, "
)
"""Occurs in a message that may have several sentences or list items."""

_LABEL = r"(?P<label>\d{1,3}|[a-z]|[ivx]{2,5})"
_AT_LINE = re.compile(
    rf"(?im)^(?P<indent>[ \t>#|]{{0,8}})\*{{0,2}}(?:(?P<bullet>[-*+•–—·▪◦‣●])(?=[ \t])"
    rf"|(?:q(?:uestion)?[ \t]?)?\(?{_LABEL}(?:[.):-](?=[\s*])|[ \t]?\|)\*{{0,2}})[ \t*]{{0,8}}"
)
_IN_LINE = re.compile(rf"(?i)(?:(?<=\s)|^)(?:q(?:uestion)?[ \t]?)?\(?{_LABEL}[.):](?=\s)\s{{0,4}}")
_BULLET_IN_LINE = re.compile(r"(?:(?<=[:;,.?] )|(?<=\s(?=[•▪●])))[-*•–▪●] (?=\S)")
_LABELS = (
    [str(number) for number in range(1, 1000)],
    list("abcdefghijklmnopqrstuvwxyz"),
    "i ii iii iv v vi vii viii ix x xi xii".split(),
)


def _listed(message: str) -> list[Piece]:
    """Return the items of a list; none if there is no list, or if its items are choices for one question.

    An item includes its sub-items.
    """
    at_line = list(_AT_LINE.finditer(message))
    bullets = [one for one in at_line if one["bullet"]]
    bullets = [one for one in bullets if len(one["indent"]) <= len(bullets[0]["indent"])]
    numbered = _sequence([one for one in at_line if one["label"]])
    in_line = list(_BULLET_IN_LINE.finditer(message))
    begun = message[: in_line[0].start()].strip() if in_line else ""
    if not (_is_framing(begun) or (begun.endswith(":") and not begins_as_question(begun))):
        in_line = []  # "What counts as roomy: - 30 seats? - 40 seats?"
    found = (numbered, bullets, _sequence(list(_IN_LINE.finditer(message))), in_line)
    marks = next((marks for marks in found if len(marks) > 1), [])
    if not marks:
        return []
    lead = " ".join(message[: marks[0].start()].split())
    ends = [*(mark.start() for mark in marks[1:]), len(message)]
    items = [message[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    items = [" ".join(item.partition("\n\n")[0].replace("*", " ").rstrip(" ,;|").split()) for item in items]
    asking = sum(item.endswith("?") or begins_as_question(item) for item in items)
    picks = any(map(_PICKS.search, _sentences(message[marks[-1].end() :].lower())[1:]))
    if 2 * asking <= len(items) and (picks or _CHOOSES.search(lead.lower())):
        return []
    asked_before = [one for one in _sentences(lead) if one.endswith("?") and not _is_framing(one)]
    return [Piece(item) for item in (*asked_before, *items) if item]


_CHOOSES = re.compile(
    r"\b(?:(?:do|did|does|would) (?:you|it|that|this) (?:\w+ )?(?:mean|refer|want|prefer)|is (?:it|this|that)"
    r"|mean by|should|shall|either|whether|which (?:of|one|definition|option|interpretation|meaning))\b"
)
"""Occurs before a list of choices."""

_PICKS = re.compile(
    r"\b(?:which (?:one|of|is (?:intended|meant|right))|(?:which|what) (?:do|would) you (?:mean|prefer))\b"
    r"[^?]*\?$"
)
"""Occurs in a sentence after a list of choices."""


def _sequence(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return the longest series of marks that count up: 1, 2 ..; a, b ..; or i, ii .."""
    found = [list[re.Match[str]]() for _ in _LABELS]
    for labels, counted in zip(_LABELS, found, strict=True):
        for mark in marks:
            if mark["label"].lower() in labels[len(counted) : len(counted) + 1]:
                counted.append(mark)
    return max(found, key=len)


def _series(message: str) -> list[Piece]:
    """Return the items in a sentence such as "I need to know: what A is, how B works, and when C ends"."""
    lead, _, rest = message.partition(": ")
    wants = None if rest else _WANTS.match(message)
    if wants:
        lead, rest = wants.group(), message[wants.end() :]
    items = [clause for item in _COMMA.split(rest) for clause in clauses_of(item)]
    if wants and not begins_as_question(items[0]):
        items[-1:] = items[-1].split(" and ")
        if _IS_ONE.search(items[0]):
            return []
    if len(items) < 3 or _SENTENCE_ENDS.search(rest) or _CHOOSES.search(lead.lower()):
        return []
    asked = all(
        begins_as_question(one) or _NAMES.match(one) or (wants and len(one.split()) < _LONG) for one in items
    )
    return [Piece(one) for one in items] if asked and not any(map(GOES_ON.match, items)) else []


_WANTS = re.compile(
    r"(?i)[^.?!]{0,80}\b(?:clarify|confirm|specify|define|describe|explain|give me|tell me|know)(?: about)? "
    r"(?!(?:that|it|this|my|whether|if|how|what|which|when|where) )"
)
"""Comes before a series of things to explain."""

_IS_ONE = re.compile(rf"(?i)^(?:every|all|each)\b|\b(?:between|please)\b|{VERB}")
"""Occurs in a thing to explain that goes on after a comma: "the status should be open, paid or waived"."""

_LONG = 6
"""The number of words that make a thing to explain too long to be a bare name."""

_COMMA = re.compile(r"[,;] (?:and )?")
_SENTENCE_ENDS = re.compile(r"[.?!]\s+\S")
_NAMES = re.compile(r"(?i)(?:the|your|an?|if) \w|[\"'“‘]")
_ENDS = re.compile(r"[^.?!;\n]+(?:[.?!;](?![\s\"')\],;]|$)[^.?!;\n]*)*[.?!;,]*[\"')\]]*|[.?!;]+")
_ABBREVIATION = re.compile(r"(?i)\b(e\.g|i\.e|vs|etc|approx)\.")


def _sentences(text: str) -> list[str]:
    found = (match.group().strip() for match in _ENDS.finditer(_ABBREVIATION.sub(r"\1", text)))
    return [one for one in found if one.strip(" .?!;,'\")")]


def _prose(message: str) -> list[Piece]:
    """Return the questions, each with the statements before it, and the last also with those after it."""
    found: list[Piece] = []
    waiting: list[str] = []
    sentences = _sentences(message)
    last = max((place for place, one in enumerate(sentences) if _ends_as_question(one)), default=0)
    for place, sentence in enumerate(sentences):
        lead, _, rest = sentence.partition(": ")
        said = rest if _is_framing(lead) else sentence
        only_doubts = place < last and _DOUBTS.search(said) is not None
        if _ends_as_question(said) or (begins_as_question(said) and not only_doubts):
            found += _questions_in(said, waiting)
            waiting = []
        elif said:
            waiting.append(said)
    if found and waiting:
        found[-1] = replace(found[-1], text=" ".join([found[-1].text, *waiting]))
    return found


def _ends_as_question(sentence: str) -> bool:
    return sentence.rstrip("\"')],; ").endswith("?")


_DOUBTS = re.compile(
    r"(?i)\b(?:not (?:quite |entirely )?(?:sure|certain|clear)|unsure|unclear|don['’]t know)\b"
)
"""Occurs in a statement that leads to a question: "I am not sure by which column. Do you want ..?"."""


def _questions_in(sentence: str, before: Sequence[str]) -> list[Piece]:
    """Return the questions in one sentence, the first with the statements before it.

    A subordinate clause belongs to the question after it; an alternative, an explanation or a statement
    belongs to the question before it.
    """
    found, begun, clauses = list[list[str]](), list[str](), clauses_of(sentence)
    offers = GOES_ON.match(clauses[-1]) is not None
    for number, clause in enumerate(clauses, start=1):
        begun.append(clause)
        asks = begins_as_question(clause) and not SUBORDINATE.match(clause)
        if asks or number == len(clauses):
            belongs = offers or GOES_ON.match(begun[0]) or not any(map(begins_as_question, begun))
            if found and belongs:
                found[-1] += begun
            else:
                found.append(begun)
            begun = []
    texts = [" ".join(group) for group in found]
    needs = [_needs(text, is_clause=number > 0) for number, text in enumerate(texts)]
    texts[0] = " ".join([*before, texts[0]])
    return list(map(Piece, texts, needs))


def _needs(text: str, *, is_clause: bool) -> float:
    """Return the `needs` of a sentence, or of a later clause of a sentence."""
    refers, is_added = REFERS.search(text) is not None, ADDED.match(text) is not None
    asks_alone = not is_clause and begins_as_question(text)
    if GOES_ON.match(text) or (refers and not is_added and not asks_alone):
        return _NEVER_ALONE
    is_incomplete = not HAS_VERB.search(text) or GENERIC_STEMS.issuperset(content_stems(clean(text)))
    if refers or (is_clause and is_incomplete):
        return _LIKELY if is_added else SURE
    return _TELLING if is_clause and not is_added else 0.0


_NEVER_ALONE, _LIKELY, _TELLING = 2.0, 0.6, 0.01

_ANNOUNCES = re.compile(
    r"\bthe following\b|\b(?:few|some|two|three|these) (?:short |quick )?(?:questions|points|things)\b"
)


def _is_framing(sentence: str) -> bool:
    """Return whether a sentence only announces questions: "Could you clarify a few points?"."""
    return _ANNOUNCES.search(clean(sentence)) is not None or FRAME_STEMS.issuperset(
        content_stems(clean(sentence))
    )
