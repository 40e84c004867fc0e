"""Read the claims in MutualFriends messages: which friends exist, which do not, and questions.

The reader understands messages from bots and from people. It looks only for values of the player's own
friends, because other values do not help to find the mutual friend.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal, TypeAlias

from birdenv_agents._number_words import plain

Values: TypeAlias = dict[str, frozenset[str]]
"""Values by attribute, in the order of their mention. A set is empty if only unknown values were named."""

Form: TypeAlias = tuple[str, ...]
"""The words of a value, or of a shorter form of it."""

Meanings: TypeAlias = list[tuple[str, str]]
"""The pairs of attribute and value that words may mean."""

Kind: TypeAlias = Literal["ask", "open", "deny", "inform", "only", "yes", "no"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, or one question, in a message.

    Attributes:
        kind: `ask` asks about values, and `open` asks about an attribute. `inform` says that the speaker has
            friends with the values, `deny` that the speaker has no such friends, and `only` that all friends
            of the speaker have these values. `yes` and `no` answer a question.
        values: the values that the claim is about, keyed by attribute.
        about_asked: True if the claim is about the friends in the last question (`they`, `them`).
        counts: True if the claim asks how many friends have the values, or whether all friends do. A plain
            yes does not answer such a question.
    """

    kind: Kind
    values: Values = field(default_factory=dict)
    about_asked: bool = False
    counts: bool = False


_CUES: Final[Mapping[str, str]] = {
    "name": r"named|called|names?",
    "school": r"schools?|university|college|went to|go to|goes to|attend\w*|alma mater|graduat\w+|educated",
    "major": r"majors?|majored|majoring|stud(?:y|ies|ied|ying)|degrees?",
    "company": r"compan(?:y|ies)|works?|worked|working|employ\w+|jobs?",
    "hobby": r"hobb(?:y|ies)|likes?|enjoys?|loves?|into|fans? of|interested",
    "time": r"times?|mornings?|afternoons?|evenings?|time of day",
    "location": r"locations?|places?|indoors?|outdoors?|inside|outside",
}
"""Words that people use for an attribute, by a word of its name."""

_NEGATIVE: Final = re.compile(
    r"\b(?:no|not|none|nobody|noone|neither|nor|never|zero|0|without|nope|nah|cannot|lack\w*|"
    r"\w+n't|dont|doesnt|didnt|havent|hasnt|arent|isnt|cant|rule[sd]? out|ruled|eliminate\w*)\b"
)
_POSITIVE: Final = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|yea|ya|sure|i do|we do|indeed|correct|right|same here|me too|true|absolutely|"
    r"of course|exactly)\b"
)
_NO: Final = re.compile(r"^\W*(?:no|nope|nah|none|neither|zero|sorry|unfortunately|not really|negative)\b")
_NOT_SO_MANY: Final = re.compile(r"^\W*not (?:\d+|one|two|three|four|five|six|seven)\b")
"""A correction of a number in an earlier message."""
_ASKS: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|ok|okay|and|so|well|yes|no|great|cool|then|also|or|but|hmm)\W+)*"
    r"(?:do|does|did|any|anyone|anybody|is|are|have you|has|what|which|how|who|where|can|got|you have|"
    r"how about|what about|would|was|were|tell me)\b"
)
_SOMEBODY: Final = re.compile(
    r"\b(?:how many|any|anyone|anybody|somebody|someone|friends?|people|folks|guys)\b"
)
"""Words that mark a question about friends, even if the question names no value of the reader's friends."""
_HOW_MANY: Final = re.compile(r"\bhow many\b")
_OPEN: Final = re.compile(r"\b(?:what|which|where|how about your|what about your|tell me)\b")
_ONLY: Final = re.compile(
    r"\b(?:all|every|everyone|everybody|each|both|only|must be|has to be|have to be|must have|has to have|"
    r"nothing but|exclusively|always)\b"
)
_FEW: Final = re.compile(
    r"\b(?:not (?:all|every\w*|each|both)|at all|after all|(?:all|both) (?:right|good|set)|"
    r"only (?:(?:have|got|has|know|see) )?(?:a |an |\d+|one|two|three|four|five|six|few|some))\b"
)
"""`only one friend at X` counts friends, and says nothing about the others."""
_THEY: Final = re.compile(r"\b(?:they|them|those|these|he|she|his|her|that one|the one|the ones)\b")
_SOME: Final = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|some|several|few|couple|many|both|"
    r"i have (?:him|her))\b"
)
_BARE: Final = frozenset(
    "yes yeah yep yup yea ya sure no nope nah none nobody not neither zero sorry unfortunately "
    "i i'm im do don't "
    "dont does doesn't have haven't havent got any anyone anybody one two three four five six "
    "seven eight nine "
    "ten some several few a couple many both of them those these that this there they mine my "
    "me we us friends "
    "friend people person ones here at all really afraid negative on list it is are isn't "
    "aren't can't cannot see "
    "find and just only actually either with like him her true indeed correct right exactly has "
    "hasn't too same "
    "in the am to say nothing never least well hmm oh ok okay also".split()
)
"""Words that name no value."""
_NOT_ONE: Final = re.compile(r"\b(?:or|nor|neither|either)\b|,")
_LONG_GAP: Final = re.compile(r"\s{3,}+")
_PARTS: Final = re.compile(
    r"(?<=[.!?;:\n])\s+|\s*\b(?:but|however|although|though|while|whereas)\b\s*|"
    r",\s*(?=(?:and |or )?(?:no|not|none|nobody|do|does|any|how|what|which|all|they|i|my|mine|is|are|"
    r"nothing|neither|nor|the rest|yes)\b)|\s+(?=(?:and (?:no|none|not|nobody|i don't|i dont|all)|nor)\b)|"
    r"(?<=\bno\b),|(?<=\byes\b),|(?<=\bnope\b),|\s+-+\s+|(?<=^nope)\s+|(?<=^nah)\s+|(?<=^no)\s+(?=(?:mine|all|they|my|he|she)\b)|"
    r"(?<=>)\s+(?=not (?:\w+ )?<v)"
)
_MARK: Final = re.compile(r"<v(\d+)>")
_WORD: Final = re.compile(r"[\w&'+]+")
_FIRMS: Final = frozenset("inc corp corporation co ltd llc company group holdings".split())
_SCHOOLS: Final = frozenset("university college institute of the school".split())
_SHORT: Final = 3  # letters; only longer words may stand for a value
_USUAL: Final = frozenset(
    "university college state school institute the and of for company inc corporation group north south "
    "east west new tech general science sciences studies engineering arts art business management "
    "international friends friend work works time morning one two many same other some have like all they "
    "them".split()
)
"""Words that do not stand for a value by themselves."""
_LITTLE: Final = frozenset(
    "a an as be been by did for from get go goes going had he hey hi his how if it's its know let no of "
    "off or our out she so than then up us use used want was wait went were what when where which who why "
    "will would yet you your".split()
).union(_BARE, _USUAL)
"""Words of any message, which are not read as the initials or the beginning of a value."""
_SMALL_TALK: Final = frozenset("ready start begin mutual common match should we're total altogether".split())


class Reader:
    """A reader for the messages that a MutualFriends player receives.

    Args:
        items: the player's friends.
    """

    def __init__(self, items: Sequence[Mapping[str, str]]) -> None:
        self._names = list(items[0]) if items else []
        self._cues = {name: _cue(name) for name in self._names}
        self._everybody = {name: frozenset(item[name] for item in items) for name in self._names[:1]}
        found: dict[str, Meanings] = {}
        for name in self._names:
            for value in dict.fromkeys(item[name] for item in items):
                found.setdefault(_plain(value), []).append((name, value))
        self._forms = _forms(found)
        self._longest = max((len(form) for form in self._forms), default=0)

    def read(self, text: str) -> list[Claim]:
        """Return the claims and questions in a message, in order."""
        marked, marks = self._mark(_plain(_LONG_GAP.sub(_short_gap, text)))
        claims: list[Claim] = []
        for part in _PARTS.split(marked):
            if part and part.strip(" .,!?"):
                for claim in self._claims(part, marks):
                    claims += _meant(claim)
        return claims

    def _mark(self, text: str) -> tuple[str, list[Meanings]]:
        """Replace values by marks, longer values first. Return the text and the meanings of the marks."""
        words = list(_WORD.finditer(text))
        marks: list[Meanings] = []
        made, done, place = "", 0, 0
        while place < len(words):
            for count in range(min(self._longest, len(words) - place), 0, -1):
                meanings = self._meanings(tuple(word.group() for word in words[place : place + count]))
                if meanings:
                    made += f"{text[done : words[place].start()]}<v{len(marks)}>"
                    done = words[place + count - 1].end()
                    marks.append(meanings)
                    place += count
                    break
            else:
                place += 1
        return made + text[done:], marks

    def _meanings(self, words: Form) -> Meanings | None:
        """Return the values that words can mean. An ending of the last word, such as -s, is ignored."""
        found = self._forms.get(words)
        for ending in () if found else ("'s", "es", "s"):
            if words[-1].endswith(ending):
                found = found or self._forms.get((*words[:-1], words[-1].removesuffix(ending)))
        return found

    def _claims(self, part: str, marks: Sequence[Meanings]) -> list[Claim]:
        values = self._values(part, marks)
        asks = part.rstrip().endswith("?") or _ASKS.search(part) is not None
        if asks and _OPEN.search(part) and not any(values.values()):
            return [Claim("open", values)] if values else []
        if asks and (any(values.values()) or _SOMEBODY.search(part)):
            return self._question(part, values)
        negative = _NEGATIVE.search(part) is not None
        few = _FEW.search(part) is not None
        only = _ONLY.search(_FEW.sub(" ", part)) is not None
        about_asked = _THEY.search(part) is not None
        if not any(values.values()) and not asks and self._is_bare(part):
            if _NOT_SO_MANY.search(part):
                return []
            if _NO.search(part) or negative:
                return [Claim("no")]
            return [Claim("yes")] if _POSITIVE.search(part) or _SOME.search(part) else []
        if not values:
            return [Claim("yes")] if _POSITIVE.search(part) and not asks else []
        answer = [Claim("yes")] if _POSITIVE.search(part) and not negative else []
        if negative and not (few and not re.search(r"\b(?:no|none|nobody|n't)\b", part)):
            return self._denials(part, values) if any(values.values()) else []
        if only:
            return [*answer, Claim("only", values, about_asked)]
        return [*answer, Claim("inform", values, about_asked)] if any(values.values()) else answer

    def _question(self, part: str, values: Values) -> list[Claim]:
        """Return the claims of a question. A question without values, such as `any friends?`, has no claim,
        unless it asks for a number."""
        how_many = _HOW_MANY.search(part) is not None
        if not values and all(word in _LITTLE or word in _SMALL_TALK for word in _WORD.findall(part)):
            return [Claim("ask", self._everybody, counts=True)] if how_many else []
        return [Claim("ask", values, counts=how_many or _ONLY.search(part) is not None)]

    def _is_bare(self, part: str) -> bool:
        """Return True if a part of a message names no value, so that it must answer the last question."""
        for cue in self._cues.values():
            part = cue.sub(" ", part)
        return all(word in _BARE or word.isdecimal() for word in _WORD.findall(part))

    def _denials(self, part: str, values: Values) -> list[Claim]:
        """Return denials: one for each attribute, or a single denial of a friend with all these values."""
        known = {name: each for name, each in values.items() if each}
        if len(known) > 1 and not _NOT_ONE.search(part):
            return [Claim("deny", known)]
        return [Claim("deny", {name: each}) for name, each in known.items()]

    def _values(self, part: str, marks: Sequence[Meanings]) -> Values:
        """Return the values in a part of the message by attribute, including attributes without a value."""
        named: list[tuple[int, str, str | None]] = []
        for match in _MARK.finditer(part):
            meanings = marks[int(match.group(1))]
            if len({name for name, _ in meanings}) > 1:  # for example dance, a hobby and a major
                before = part[: match.start()]
                cued = [(name, value) for name, value in meanings if self._cues[name].search(before[-30:])]
                meanings = cued or meanings
            named += [(match.start(), name, value) for name, value in meanings]
        spoken = {name for _, name, _ in named}
        for name, cue in self._cues.items():
            found = cue.search(_MARK.sub("", part)) if name not in spoken else None
            place = cue.search(part) if found else None
            if place:
                named.append((place.start(), name, None))
        values: dict[str, set[str]] = {}
        for _, name, value in sorted(named, key=lambda each: each[0]):
            values.setdefault(name, set()).update([value] if value is not None else [])
        return {name: frozenset(each) for name, each in values.items()}


def _meant(claim: Claim) -> list[Claim]:
    """Return a claim, or several claims if its word is ambiguous (`dance` is a hobby and a major)."""
    names = list(claim.values)
    if len(names) < 2 or len(set(claim.values.values())) > 1 or not claim.values[names[0]]:
        return [claim]
    return [replace(claim, values={name: claim.values[name]}) for name in names]


def _plain(text: str) -> str:
    return plain(text.replace("<", " ").replace(">", " ")).replace("no one", "nobody")


@cache
def _cue(name: str) -> re.Pattern[str]:
    """Return a pattern for the words that name an attribute: its name and other words that people use."""
    own = _plain(name)
    words = [re.escape(own) + "s?", *(cue for word, cue in _CUES.items() if word in own)]
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


def _forms(found: Mapping[str, Meanings]) -> dict[Form, Meanings]:
    """Return the forms of all values: the values themselves, and unambiguous shorter forms."""
    whole = {_words(value): meanings for value, meanings in found.items()}
    shares = Counter(word for words in whole for word in set(words))
    forms: dict[Form, Meanings] = {}
    for words, meanings in whole.items():
        for form in dict.fromkeys(_short_forms(words, shares)):
            if form not in whole and not (len(form) == 1 and form[0] in _LITTLE):
                forms[form] = [] if form in forms else meanings  # an ambiguous form has no meaning
    return {form: meanings for form, meanings in (forms | whole).items() if form and meanings}


def _short_forms(words: Form, shares: Mapping[str, int]) -> Iterator[Form]:
    """Yield shorter forms of a value: words that only it has, its initials, and words such as `hiker`."""
    own = [word for word in words if len(word) > _SHORT and word not in _USUAL and shares[word] == 1]
    for word in own:
        yield (word,)
        stem = word.removesuffix("ing")
        if stem != word and len(stem) >= _SHORT:  # hiking: hike, hikes, hiker
            stems = [stem, stem[:-1]] if stem[-1] == stem[-2] else [stem]
            yield from ((each + ending,) for each in stems for ending in ("", "e", "er"))
        yield from ((word + ending,) for ending in (("r", "rs") if word.endswith("e") else ("er", "ers")))
        if stem == word and len(word) > 2 * _SHORT + 1:  # mathematics, psychology: math, psych
            yield from ((word[:length],) for length in (4, 5, len(word) - 1))
    content = tuple(word for word in words if word not in ("of", "the", "and", "at", "for", "in", "&"))
    if len(content) > 1:
        yield ("".join(word[0] for word in content),)
    for drop in (_FIRMS, _SCHOOLS):
        kept = tuple(word for word in words if word not in drop)
        if kept != words and kept and not set(kept) <= _USUAL:
            yield kept


def _words(value: str) -> Form:
    return tuple(_WORD.findall(value))


def _short_gap(gap: re.Match[str]) -> str:
    lines = min(gap[0].count("\n"), 2)
    return "\n" * lines + " " * (2 - lines)
