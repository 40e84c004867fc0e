"""Remove everything around the SQL in a model's answer, without changing any token of the SQL.

Cleaning removes a byte order mark, outer white space, a code fence with any language tag, chat tags at either
end, and trailing semicolons and comments. The opening line of a code fence can be missing (if the prompt
contained it), and so can the closing line (if the answer was cut off).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from birdenv.sql import LONGEST_SQL, Stretch, stretches


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The result of cleaning an answer.

    Attributes:
        sql: the SQL that remains.
        steps: the kinds of text that were removed (`bom`, `whitespace`, `code_fence`, `chat_tag`,
            `semicolon`, `comment`), in the order of their first removal, without duplicates.
    """

    sql: str
    steps: tuple[str, ...]


_START_TAG: Final = re.compile(
    r"(?:<s>|\[/?INST\]|<\|(?:im_start|start_header_id)\|>[ \t]*(?:assistant|system|user)?"
    r"|<\|(?:end_header_id|begin_of_text|assistant|user|system|end)\|>)",
    re.IGNORECASE,
)
_ENDING: Final = (
    r"(?:</s>|<s>|<\|(?:im_end|im_start|endoftext|end_of_text|eot_id|eom_id|end|end_of_turn)\|>"
    r"|<(?:end_of_turn|eos)>)"
)
_TAG: Final = re.compile(_ENDING, re.IGNORECASE)
_END_TAG: Final = re.compile(_ENDING + r"\Z", re.IGNORECASE)
_FENCE: Final = "```"
_OPENING: Final = re.compile(r"```[ \t]*(?P<tag>[A-Za-z][\w.+#-]*)?(?P<rest>[ \t]*\r?\n|[ \t]+|\Z)?")
_NOT_A_TAG: Final = frozenset(
    "select with values table insert update delete create drop alter replace merge explain pragma".split()
)
_LANGUAGES: Final = frozenset(
    "sql sqlite sqlite3 postgres postgresql pgsql psql plpgsql mysql plsql tsql text plaintext".split()
)

_LONGEST_TAG: Final = 24
_MOST_ROUNDS: Final = 16  # each round applies every step once

_Change: TypeAlias = tuple[str, tuple[str, ...]]
"""The text after a change, and the names of the steps."""


def clean_sql(text: str) -> Cleaned:
    """Remove everything around the SQL in a model's answer, as described in the module's docstring.

    Text longer than `LONGEST_SQL` is returned unchanged, because no database would run it.
    """
    if len(text) > LONGEST_SQL:
        return Cleaned(text, ())
    steps: dict[str, None] = {}
    for _ in range(_MOST_ROUNDS):
        before = text
        for change in (_without_bom, _without_space, _without_tags, _without_fence, _without_trailing):
            if change is _without_fence and "code_fence" in steps:
                continue
            text, done = change(text)
            steps |= dict.fromkeys(done)
        if text == before:
            break
    return Cleaned(text, tuple(steps))


def _without_bom(text: str) -> _Change:
    return (text[1:], ("bom",)) if text.startswith("\ufeff") else (text, ())


def _without_space(text: str) -> _Change:
    stripped = text.strip()
    return stripped, ("whitespace",) if stripped != text else ()


def _without_tags(text: str) -> _Change:
    start, end = 0, len(text)
    found = False
    while match := _START_TAG.match(text, start):
        start = match.end()
        found = True
        while start < end and text[start].isspace():
            start += 1
    last = end
    while match := _END_TAG.search(text, max(start, last - _LONGEST_TAG), last):
        last = match.start()
        while last > start and text[last - 1].isspace():
            last -= 1
    if last < end and not _is_inside_quotes(text[start:last]):
        end, found = last, True
    return text[start:end], ("chat_tag",) if found else ()


def _without_fence(text: str) -> _Change:
    fences = text.count(_FENCE)
    opens, closes = text.startswith(_FENCE), text.endswith(_FENCE)
    start, end = 0, len(text)
    if opens and (fences == 1 or (fences == 2 and closes)):
        start = _after_opening(text)
    if closes and fences == 1 + opens and (opens or not _is_inside_quotes(text[: -len(_FENCE)])):
        end -= len(_FENCE)
    return text[start:end], ("code_fence",) if end - start < len(text) else ()


def _after_opening(text: str) -> int:
    """Return the position where the SQL begins after an opening code fence and its language tag.

    A word that is followed by other text on its line is a tag only if it names a dialect of SQL. A word that
    is alone on the line of the fence is a tag unless SQL can begin with it.
    """
    match = _OPENING.match(text)
    tag = (match["tag"] or "").lower() if match else ""
    if match is None or not tag or tag in _NOT_A_TAG or match["rest"] is None:
        return len(_FENCE)
    is_alone = "\n" in match["rest"] or match.end() == len(text)
    return match.end() if is_alone or tag in _LANGUAGES else len(_FENCE)


def _parts(text: str) -> Iterator[tuple[str, Stretch, int]]:
    """Yield each stretch of the text with its kind and end. `semicolon` and `tag` are additional kinds."""
    tag_end = 0
    for part in stretches(text):
        if part.start < tag_end:
            continue
        if part.text == "<" and (tag := _TAG.match(text, part.start)):
            tag_end = tag.end()
            yield "tag", part, tag_end
        else:
            yield "semicolon" if part.text == ";" else part.kind, part, part.end


def _is_disputed(part: Stretch) -> bool:
    """Return whether dialects disagree on the end of a comment, because it is nested or never ends."""
    return part.kind == "comment" and (not part.is_closed or ("/*" in part.text[2:] and part.text[0] == "/"))


def _is_inside_quotes(text: str) -> bool:
    """Return whether a quote or block comment is still open at the end of the text."""
    return any(not part.is_closed or _is_disputed(part) for _, part, _ in _parts(text))


def _without_trailing(text: str) -> _Change:
    """Cut the text after its last token, unless dialects disagree on the end of a comment in it."""
    if "--" not in text and "/*" not in text and text[-1:] not in ";>" and not text[-1:].isspace():
        return text, ()  # as nearly always
    end, kinds = 0, dict[str, None]()
    for kind, part, after in _parts(text):
        if _is_disputed(part):
            return text, ()
        if kind in ("quoted", "word", "symbol"):
            end, kinds = after, {}
        else:
            kinds["chat_tag" if kind == "tag" else kind] = None
    done = tuple(kind for kind in ("semicolon", "comment", "chat_tag") if kind in kinds)
    return (text[:end], done) if done else (text, ())
