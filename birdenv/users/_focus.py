"""Find the clause in which a question proposes something."""

from __future__ import annotations

import re
from dataclasses import replace

from birdenv.users._claims import says
from birdenv.users.understanding._question import Question, is_tag, take_apart
from birdenv.users.understanding._word_forms import words


def proposed(asked: Question) -> tuple[str, Question]:
    """Return what leads to a proposal, and the proposal: the last sentence of a question, or its last clause.

    If nothing leads to it, the whole question is returned. A sentence that only asks to confirm the one
    before it does not count.
    """
    sentences = _SENTENCE.findall(asked.text) or [""]
    confirms = asked.confirms and len(sentences) > 1
    while len(sentences) > 1 and confirms and is_tag(sentences[-1]):
        sentences.pop()
    lead = _LEAD.match(sentences[-1])
    at = lead.end() if lead and len(words(sentences[-1][lead.end() :])) > 2 else 0
    topic = "".join([*sentences[:-1], sentences[-1][:at]])
    text = sentences[-1][at:]
    if not topic or not (at or confirms or "proposal" in says(text)):
        return "", asked
    question = take_apart(text)
    return topic, replace(question, stems=asked.stems) if confirms else question


_SENTENCE = re.compile(r"[^.?!]+(?:\.\d[^.?!]*)*[.?!]*")
_LEAD = re.compile(
    r"(?:[^?]*?[:,;] |(?:hello|hi|sorry|thanks|thank you)\W+)"
    r"(?:(?:so|then|and|but|also) )*"
    r"(?=(?:is|are|was|were|do|does|did|should|shall|can|could|will|would|must|has|have|may) )"
)
"""What leads to the clause that asks, as in "for the average rating, does the restriction still hold?"."""
