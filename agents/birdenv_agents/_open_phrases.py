"""Find the phrases in a request that may be ambiguous. A phrase is a sequence of content words."""

from __future__ import annotations

import re

__all__ = ["open_phrases"]

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9'’]*(?:-[A-Za-z0-9]+)*")
_STOP = frozenset(
    """a about above according across after all also among an and any are as at average based be been before
    below between both but by can calculate compute could count determine do does each else every find first
    following for from get give given group grouped has have having highest how i if in into is it its last
    least less let like list lowest make many maximum me mean median minimum more most much must my need next
    no not number of on one only or order ordered our out over per please provide result results same set
    should show sort sorted such sum tell than that the their them then there these they this those to top
    total two under up us use using want was we were what when where which while who whose will with within
    would you your add create delete insert remove update record mark change drop called named name names
    include including along together display report identify rank ranked ascending descending""".split()
)


def open_phrases(request: str, notes: str) -> list[str]:
    """Return the phrases in a request that may be ambiguous, most ambiguous first.

    A phrase is a sequence of content words. Phrases whose words all occur in `notes` come later, because
    their meaning is clear. Parts of longer phrases (single words, and the last two words) come last.

    Args:
        request: the text of the request.
        notes: the schema and the external knowledge. This text may contain the request.
    """
    known = {word.lower() for word in _WORD.findall(_names(notes.replace(request, " ")))}
    runs = _runs(request)
    whole = [" ".join(run) for run in runs]
    parts = [" ".join(run[-2:]) for run in runs if len(run) > 2]
    parts += [word for run in runs if len(run) > 1 for word in run]
    phrases = list(dict.fromkeys(whole + parts))
    position = {phrase: number for number, phrase in enumerate(phrases)}

    def openness(phrase: str) -> tuple[bool, bool, int]:
        words = [word.lower() for word in phrase.split()]
        unknown = any(word not in known and word.rstrip("s") not in known for word in words)
        return (phrase not in whole, not unknown, position[phrase])

    return sorted(phrases, key=openness)


def _runs(request: str) -> list[list[str]]:
    runs: list[list[str]] = []
    for piece in re.split(r"[,.;:!?()\"“”]|\s[-–—]\s", request):
        run: list[str] = []
        for word in _WORD.findall(piece):
            if word.lower() in _STOP:
                runs.append(run)
                run = []
            else:
                run.append(word)
        runs.append(run)
    return [run for run in runs if run]


def _names(text: str) -> str:
    """Split identifiers such as `unit_price` and `unitPrice` into words."""
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ")
