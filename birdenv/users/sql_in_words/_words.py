"""SQL functions and types in the words of somebody who has never seen SQL.

A function has a template for each number of arguments; the key 0 of a template table means "any other
number". A function that is not listed is called by the words of its own name.

Keywords, and the words for operators and constants (BIRD-Interact §3: the user speaks plain language).

Words that hold together more or less tightly, and how they are joined without blurring precedence.

The words that the verbaliser adds of its own, kept apart from the names it must not say.

A template such as "the total of {}" is plain English, but a task's schema may have a table called `total`;
saying the word would then look like naming the table. Every template therefore goes through
`Wording.say`, which swaps a word that is taken for the first free synonym.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from birdenv.users.sql_in_words._lexer import Token, split_words

CLAUSE_WORDS = frozenset(
    """SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT JOIN LEFT RIGHT INNER
    FULL CROSS NATURAL ON USING WITH WINDOW RETURNING VALUES INSERT UPDATE DELETE CREATE SET FETCH
    PARTITION""".split()
)
STOPS = CLAUSE_WORDS | frozenset("AS THEN WHEN ELSE END ASC DESC NULLS ) , ; ]".split())
CALLABLE_CLAUSES = frozenset({"LEFT", "RIGHT"})
ARITHMETIC = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "%": "modulo",
    "||": "joined with",
    "DIV": "divided by",
    "MOD": "modulo",
}
COMPARISONS = {
    "=": "equals",
    "==": "equals",
    "<>": "does not equal",
    "!=": "does not equal",
    ">": "is greater than",
    "<": "is less than",
    ">=": "is greater than or equal to",
    "<=": "is less than or equal to",
    "~": "matches the pattern",
    "~*": "matches the pattern",
    "!~": "does not match the pattern",
    "!~*": "does not match the pattern",
    "LIKE": "matches the pattern",
    "ILIKE": "matches the pattern (in any letter case)",
    "GLOB": "matches the pattern",
    "REGEXP": "matches the pattern",
    "SIMILAR": "matches the pattern",
    "MATCH": "matches the pattern",
    "BETWEEN": "is between",
    "IN": "is one of",
    "@>": "contains",
    "<@": "is contained in",
}
NEGATED = {
    "LIKE": "does not match the pattern",
    "ILIKE": "does not match the pattern (in any letter case)",
    "GLOB": "does not match the pattern",
    "REGEXP": "does not match the pattern",
    "SIMILAR": "does not match the pattern",
    "BETWEEN": "is not between",
    "IN": "is not one of",
}
CONSTANTS = {
    "NULL": "null",
    "TRUE": "true",
    "FALSE": "false",
    "CURRENT_DATE": "the date of today",
    "CURRENT_TIME": "the time of today",
    "CURRENT_TIMESTAMP": "the date and time of today",
}
QUANTIFIERS = {"DISTINCT": "different", "ALL": "all", "ANY": "any", "SOME": "some"}
FRAME = {
    "ROWS": "over the neighbouring rows",
    "RANGE": "over the neighbouring cases",
    "GROUPS": "over the neighbouring groups",
    "BETWEEN": "between",
    "AND": "and",
    "UNBOUNDED": "everything",
    "PRECEDING": "before",
    "FOLLOWING": "after",
    "CURRENT": "the current",
    "ROW": "one",
}
ARROWS = frozenset({"->", "->>", "#>", "#>>"})


ATOM, PREFIX, LOOSE, CHAIN = range(4)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words, how tightly they hold together (ATOM .. CHAIN), and whether they state a condition."""

    text: str
    bond: int = ATOM
    condition: bool = False

    def inside(self, limit: int) -> str:
        """The text, in brackets if it holds together less tightly than `limit`."""
        return f"({self.text})" if self.bond > limit and self.text else self.text


def name_words(token: Token) -> str:
    """A name in words; a quoted one that is not an identifier (it has spaces or signs) is kept as it is."""
    if token.kind == "quoted" and not token.text.replace("_", "a").replace("$", "a").isalnum():
        return token.text.replace("_", " ").strip()
    return split_words(token.text)


def side(phrase: Phrase) -> str:
    """One side of a comparison; in brackets where an enumeration or a condition would run into it."""
    blurs = phrase.bond == LOOSE and (" and " in phrase.text or ", " in phrase.text)
    return phrase.inside(PREFIX) if blurs or phrase.condition else phrase.text


def connected(pieces: list[Phrase], links: list[str], dangling: str) -> Phrase:
    """Conditions joined by "and" and "or"; where both occur, what "and" joins is put in brackets."""
    if not pieces:
        return Phrase(f"{dangling} something else" if dangling else "")
    if len(pieces) == 1 and not links[0] and not dangling:
        return pieces[0]
    mixed = "or" in links and "and" in links[1:]
    groups: list[list[int]] = []
    for i, link in enumerate(links):
        if i and mixed and link == "and":
            groups[-1].append(i)
        else:
            groups.append([i])
    words: list[str] = []
    for group in groups:
        if links[group[0]]:
            words.append(links[group[0]] if words else f"{links[group[0]]} also")
        run = [pieces[group[0]].text]
        for i in group[1:]:
            run += [links[i], pieces[i].text]
        words.append(f"({' '.join(filter(None, run))})" if len(group) > 1 else run[0])
    if dangling:
        words.append(f"{dangling} something else")
    conditions = len(pieces) > 1 or bool(links[0]) or pieces[0].condition
    return Phrase(" ".join(words), CHAIN, conditions)


_WORD = re.compile(r"\{\}|[^\W\d_]+")

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "average": ("mean",),
    "cases": ("instances", "occurrences"),
    "change": ("alter", "modify"),
    "characters": ("letters", "signs"),
    "date": ("day", "calendar day"),
    "different": ("distinct", "non-repeated"),
    "entry": ("item", "element"),
    "entries": ("items", "elements"),
    "figure": ("quantity", "amount"),
    "first": ("foremost", "leading"),
    "format": ("form", "shape"),
    "group": ("bunch", "set"),
    "groups": ("bunches", "sets"),
    "highest": ("largest", "greatest"),
    "length": ("size", "extent"),
    "list": ("collection", "enumeration"),
    "lowest": ("smallest", "least"),
    "month": ("calendar month",),
    "number": ("count", "quantity"),
    "order": ("sequence", "succession"),
    "part": ("piece", "portion"),
    "pattern": ("mask", "wildcard"),
    "position": ("place", "spot"),
    "rank": ("ranking", "place"),
    "records": ("rows", "lines"),
    "result": ("outcome", "output"),
    "running": ("consecutive", "sequential"),
    "rows": ("lines", "records"),
    "show": ("present", "display"),
    "table": ("grid", "sheet"),
    "text": ("string", "wording"),
    "time": ("moment", "clock time"),
    "today": ("now", "this day"),
    "total": ("sum", "overall amount"),
    "value": ("content", "figure"),
    "view": ("perspective", "saved list"),
    "week": ("calendar week",),
    "year": ("calendar year",),
}


class Wording:
    """Template text in which no word is one of the `taken` names (lower case)."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._taken = taken

    def say(self, template: str, *parts: str) -> str:
        """`template` with free synonyms for taken words, and its `{}` filled in turn by `parts`."""
        filled = iter(parts)

        def replace(match: re.Match[str]) -> str:
            return next(filled, "") if match.group() == "{}" else self._free(match.group())

        return _WORD.sub(replace, template)

    def _free(self, word: str) -> str:
        if word.lower() not in self._taken:
            return word
        for synonym in _SYNONYMS.get(word.lower(), ()):
            if not self._taken.intersection(synonym.replace("-", " ").split()):
                return synonym
        return word


def quoted(text: str) -> str:
    """`text` in quotation marks that do not occur in it, where there are such."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def enumerate_words(parts: list[str], last: str = "and") -> str:
    """Parts as an English enumeration: "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


_PREFIX: dict[str, str] = {
    "ABS": "the absolute value of {}",
    "AVG": "the average of {}",
    "CEIL": "the whole number at or above {}",
    "CEILING": "the whole number at or above {}",
    "EXP": "the exponential of {}",
    "FLOOR": "the whole number at or below {}",
    "GROUP_CONCAT": "the list of {}",
    "JSON_ARRAY_LENGTH": "the number of entries in {}",
    "JSON_GROUP_ARRAY": "the list of {}",
    "JULIANDAY": "the julian day of {}",
    "LENGTH": "the length of {}",
    "LN": "the natural logarithm of {}",
    "LOG": "the logarithm of {}",
    "LOG10": "the decimal logarithm of {}",
    "MEDIAN": "the median of {}",
    "MEAN": "the average of {}",
    "MIN": "the lowest {}",
    "MAX": "the highest {}",
    "SQRT": "the square root of {}",
    "STDDEV": "the standard deviation of {}",
    "STRING_AGG": "the list of {}",
    "SUM": "the total of {}",
    "TOTAL": "the total of {}",
    "VARIANCE": "the variance of {}",
    "FIRST_VALUE": "the first {}",
    "LAST_VALUE": "the last {}",
    "LAG": "the previous {}",
    "LEAD": "the next {}",
}

_PHRASES: dict[str, dict[int, str]] = {
    "COUNT": {0: "the number of {}"},
    "LAG": {2: "the previous {} ({} back)", 3: "the previous {} ({} back, or else {})"},
    "LEAD": {2: "the next {} ({} ahead)", 3: "the next {} ({} ahead, or else {})"},
    "LOG": {2: "the logarithm to base {} of {}"},
    "GROUP_CONCAT": {2: "the list of {}, joined with {}"},
    "STRING_AGG": {2: "the list of {}, joined with {}"},
    "ROUND": {1: "{} rounded to a whole number", 2: "{} rounded to {} decimals"},
    "TRUNC": {1: "{} cut to a whole number", 2: "{} cut to {} decimals"},
    "NULLIF": {2: "{}, but null when it equals {}"},
    "POWER": {2: "{} to the power of {}"},
    "POW": {2: "{} to the power of {}"},
    "MOD": {2: "{} modulo {}"},
    "LOWER": {1: "{} in lower case"},
    "UPPER": {1: "{} in upper case"},
    "TRIM": {1: "{} without surrounding spaces", 2: "{} without surrounding {}"},
    "LTRIM": {1: "{} without leading spaces", 2: "{} without leading {}"},
    "RTRIM": {1: "{} without trailing spaces", 2: "{} without trailing {}"},
    "REPLACE": {3: "{} with {} replaced by {}"},
    "SUBSTR": {
        2: "the part of {} from position {}",
        3: "the part of {} from position {}, {} characters long",
    },
    "SUBSTRING": {
        2: "the part of {} from position {}",
        3: "the part of {} from position {}, {} characters long",
    },
    "INSTR": {2: "the position in {} of {}"},
    "IIF": {2: "if {}, then {}", 3: "if {}, then {}, otherwise {}"},
    "IF": {2: "if {}, then {}", 3: "if {}, then {}, otherwise {}"},
    "STRFTIME": {1: "today in the date format {}", 2: "the date format {} of {}"},
    "RANK": {0: "the rank"},
    "DENSE_RANK": {0: "the rank without gaps"},
    "PERCENT_RANK": {0: "the rank as a percentage"},
    "CUME_DIST": {0: "the cumulative share"},
    "ROW_NUMBER": {0: "the running number"},
    "NTILE": {1: "the one of {} equal groups"},
    "CONCAT": {},
}

_LISTS: dict[str, str] = {
    "COALESCE": "the first available of {}",
    "IFNULL": "the first available of {}",
    "GREATEST": "the highest of {}",
    "LEAST": "the lowest of {}",
    "MAX": "the highest of {}",
    "MIN": "the lowest of {}",
    "JSON_ARRAY": "the list of {}",
    "CONCAT": "{} joined together",
}

_PAIRS = {"JSON_OBJECT": "an object with {}", "JSON_GROUP_OBJECT": "an object of {}"}

_TYPES: tuple[tuple[str, str], ...] = (
    ("INT", "a whole number"),
    ("SERIAL", "a whole number"),
    ("REAL", "a decimal number"),
    ("FLOAT", "a decimal number"),
    ("DOUBLE", "a decimal number"),
    ("NUMERIC", "a decimal number"),
    ("DECIMAL", "a decimal number"),
    ("TEXT", "text"),
    ("CHAR", "text"),
    ("DATETIME", "a date and time"),
    ("TIMESTAMP", "a date and time"),
    ("DATE", "a date"),
    ("TIME", "a time"),
    ("BOOL", "true or false"),
    ("JSON", "structured text"),
)

_TIGHT = frozenset({"RANK", "DENSE_RANK", "ROW_NUMBER", "COUNT", "NTILE", *_PREFIX})
_INFIX = frozenset({"POW", "POWER", "MOD"})
_ARTICLE_OF_ITS_OWN = frozenset({"MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD"})


def needs_brackets(name: str, arguments: int) -> bool:
    """Whether the phrase of this call is loose enough to need brackets beside plus or times."""
    return not (name in _TIGHT and arguments < 2) and not (name == "JSON_EXTRACT" and arguments == 2)


def takes_atoms(name: str) -> bool:
    """Whether the words of this function stand between its arguments, as an operator's do."""
    return name in _INFIX


def function_words(wording: Wording, name: str, arguments: list[str]) -> str:
    """What `name(arguments)` is in words; every argument, itself in words, occurs in it."""
    count = len(arguments)
    if name in _ARTICLE_OF_ITS_OWN and (count == 1 or name in ("LAG", "LEAD")):
        arguments = [arguments[0].removeprefix("the "), *arguments[1:]] if arguments else []
    template = _PHRASES.get(name, {}).get(count)
    if template is None and count == 1:
        template = _PREFIX.get(name)
    if template is None and name in _PHRASES:
        template = _PHRASES[name].get(0)
        if template is not None and template.count("{}") != count:
            template = None if count else template.replace(" of {}", "")
    if template is not None:
        return wording.say(template, *arguments)
    if name == "JSON_EXTRACT" and count > 1:
        noun = "the {} entry of {}" if count == 2 else "the {} entries of {}"
        return wording.say(noun, enumerate_words(arguments[1:]), arguments[0])
    if name in _PAIRS and count:
        pairs = [": ".join(arguments[i : i + 2]) for i in range(0, count, 2)]
        return wording.say(_PAIRS[name], "; ".join(pairs))
    if name in _LISTS and count:
        return wording.say(_LISTS[name], enumerate_words(arguments))
    words = split_words(name)
    return wording.say("the {} of {}", words, enumerate_words(arguments)) if count else f"the {words}"


def type_words(wording: Wording, name: str) -> str:
    """A data type in words: INTEGER is "a whole number"."""
    for part, words in _TYPES:
        if part in name.upper():
            return wording.say(words)
    return split_words(name)
