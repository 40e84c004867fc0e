"""The verbaliser's contract, checked without the verbaliser's own lexer or tables.

`violations` tokenises a snippet with sqlglot, decides with a small scanner which names are tables, aliases
and CTEs, and says everything that the words lack, and everything that they should not contain.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import sqlglot
from sqlglot.tokens import Token, TokenType

Alternatives = tuple[str, ...]

OPERATORS: dict[TokenType, Alternatives] = {
    TokenType.PLUS: ("plus",),
    TokenType.DASH: ("minus",),
    TokenType.SLASH: ("divided by",),
    TokenType.MOD: ("modulo",),
    TokenType.EQ: ("equals", "is", "set"),
    TokenType.NEQ: ("differs from", "is not"),
    TokenType.GT: ("greater than", "more than", "after"),
    TokenType.LT: ("less than", "fewer than", "before"),
    TokenType.GTE: ("at least", "on or after", "at or after"),
    TokenType.LTE: ("at most", "on or before", "at or before"),
    TokenType.BETWEEN: ("between",),
    TokenType.IN: ("one of", "either", "among"),
    TokenType.LIKE: ("the pattern", "the mask"),
    TokenType.AND: ("and",),
    TokenType.OR: ("or",),
    TokenType.NOT: ("not", "has a value"),
    TokenType.NULL: ("null", "has no value", "has a value"),
    TokenType.DPIPE: ("joined with",),
    TokenType.WHEN: ("if",),
    TokenType.ELSE: ("otherwise",),
    TokenType.ORDER_BY: ("sorted by",),
    TokenType.DESC: ("descending",),
    TokenType.GROUP_BY: ("grouped by",),
    TokenType.LIMIT: ("limited to",),
    TokenType.DISTINCT: ("different", "distinct"),
    TokenType.JOIN: ("matched with",),
    TokenType.LEFT: ("no match",),
    TokenType.WHERE: ("only cases where", "only instances where", "where"),
    TokenType.HAVING: ("only those where",),
    TokenType.UNION: ("together with",),
    TokenType.INTERSECT: ("also among",),
    TokenType.EXCEPT: ("but without",),
    TokenType.PARTITION_BY: ("within each",),
}

DATE_PARTS = (
    "the year of",
    "the month",
    "the day of the",
    "the hour",
    "the time of day",
    "the date",
    "year and month",
)
DATE_FORMATS = frozenset({"%Y", "%m", "%d", "%Y-%m", "%Y-%m-%d", "%H", "%H:%M", "%w"})
_COUNTED = re.compile(
    r"(?is)\b(?:SUM|COUNT)\(\s*CASE\s+WHEN\b((?:(?!\bCASE\b).)*?)\bTHEN\s+1\s+(?:ELSE\s+(?:0|NULL)\s+)?END\s*\)"
)
_COUNTED_ID = re.compile(r"(?i)\bCOUNT\((?:\w+\.)?(\w+)_id\)")
_EXISTS = re.compile(r"(?i)\bEXISTS\s*\(\s*SELECT 1 ")
_MISSING_KEY = re.compile(
    r"(?i)(?<=[Y,] )(?:CASE WHEN (?P<one>[\w.]+) IS NULL THEN \d ELSE \d END|(?P<two>[\w.()]+) IS NULL)"
    r"(?: DESC)?, (?=(?P=one)|(?P=two))"
)
_SAME_SUBJECT = re.compile(
    r"(?is)(\bWHEN (?P<what>.+?)\s*(?:[<>=]|BETWEEN\b).*?\bWHEN )(?P=what)(?=\s*(?:[<>=]|BETWEEN\b))"
)
_LISTED = re.compile(
    r"(?i)(\b(?P<what>[\w.]+) (?P<sign>=|<>) (?:(?:'[^']*'|\d+)(?:, )?)+)"
    r" (?:OR|AND) (?P=what) (?P=sign) (?=['\d])"
)
_DIGITS = {"0": "whole number", "1": "one decimal", "2": "two decimals"}

FUNCTIONS: dict[str, Alternatives] = {
    "COUNT": ("number of", "count of", "there are"),
    "SUM": ("total of", "sum of", "in total"),
    "AVG": ("average of", "mean of"),
    "MIN": ("lowest", "smallest", "earliest"),
    "MAX": ("highest", "largest", "latest"),
    "ABS": ("absolute value", "absolute content"),
    "AGE": ("the age",),
    "ROUND": ("rounded to",),
    "COALESCE": ("first available of", "if it has no value"),
    "IFNULL": ("first available of", "if it has no value"),
    "NULLIF": ("or null if it is",),
    "SQRT": ("square root of",),
    "POWER": ("to the power of",),
    "POW": ("to the power of",),
    "LOG": ("logarithm",),
    "LN": ("logarithm of",),
    "LOG10": ("logarithm of",),
    "EXP": ("exponential of",),
    "LOWER": ("in lower case",),
    "UPPER": ("in upper case",),
    "TRIM": ("surrounding",),
    "RTRIM": ("trailing",),
    "EXTRACT": ("of",),
    "LENGTH": ("length of",),
    "REPLACE": ("replaced by",),
    "SUBSTR": ("the part of", *DATE_PARTS),
    "INSTR": ("position",),
    "IIF": ("if",),
    "GROUP_CONCAT": ("list of",),
    "JSON_GROUP_ARRAY": ("list of",),
    "JSON_OBJECT": ("an object with",),
    "JSON_GROUP_OBJECT": ("an object of",),
    "RANK": ("the rank", "the ranking"),
    "PERCENT_RANK": ("the rank as a percentage",),
    "ROW_NUMBER": ("the running number", "the consecutive number"),
    "NTILE": ("equal groups",),
    "LAG": ("the previous",),
    "STRFTIME": ("date format", *DATE_PARTS),
    "JULIANDAY": ("julian day", "number of days", "days from"),
    "FIRST_VALUE": ("the first",),
    "CAST": (),
    "JSON_EXTRACT": (),
    "OVER": (),
}

SHAPES = (
    re.compile(r"(?i)\bselect\b|\bjoin\b|\border by\b|\bgroup by\b|\binsert\b|\bcoalesce\b|\bcast\b|```"),
    re.compile(r"\b(FROM|WHERE|CASE|WHEN|THEN|NULL|AND|OR|NOT|LIMIT|HAVING|AS)\b"),
    re.compile(r"[=<>+*/%|~]| - |->"),
    re.compile(r"\w_\w|[a-z][A-Z]"),
)

# A name that is also one of the commonest English words, or one of which answers are made, gives nothing away
# when the word is said.
COMMON = frozenset(
    "a an and as at be by cases do for if in is it no not of on or out part so that the to was with".split()
)

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_TABLE_LEADS = (TokenType.FROM, TokenType.JOIN, TokenType.INTO, TokenType.UPDATE)
_KEYWORDS = frozenset({"NULLS", "PRECEDING", "FOLLOWING", "UNBOUNDED"})


def words_of(name: str) -> list[str]:
    """An independent splitting of names into lower-case words."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    spaced = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", spaced)
    return [w.lower() for w in re.findall(r"\d+|[^\W\d_]+", spaced)]


def best_spelling(name: str, identifiers: frozenset[str]) -> str:
    """The spelling in the schema that splits into most words, where one does better than `name`."""
    same = [i for i in sorted(identifiers) if i.lower() == name.lower()]
    return max([name, *same], key=lambda spelt: len(words_of(spelt)))


def _as_it_is_said(snippet: str) -> tuple[str, int]:
    """The snippet without what words need not repeat, and how many sort keys only placed missing values."""
    # Cases where something holds are counted, in either spelling.
    counted = _EXISTS.sub("EXISTS (SELECT * ", _COUNTED.sub(r"COUNT(\1)", snippet))
    counted = _COUNTED_ID.sub(r"COUNT(\1)", counted)
    for said_once, rest in ((_SAME_SUBJECT, r"\1"), (_LISTED, r"\1, ")):
        while (shorter := said_once.sub(rest, counted, count=1)) != counted:
            counted = shorter
    return _MISSING_KEY.subn("", counted)


def violations(snippet: str, text: str, identifiers: frozenset[str]) -> list[str]:
    """What is wrong with `text` as the words for `snippet`; empty if nothing is."""
    counted, sorted_by_missing = _as_it_is_said(snippet)
    # A leading REPLACE( would be taken for a REPLACE INTO statement, hence the SELECT before it.
    tokens = sqlglot.tokenize(f"SELECT {counted}", read="sqlite")[1:]
    strings = sorted((t.text for t in tokens if t.token_type == TokenType.STRING), key=len, reverse=True)
    found = ["lacks the place of missing ones"] * (text.count("with missing ones") < sorted_by_missing)
    bare = text
    arrows = (TokenType.ARROW, TokenType.DARROW)
    paths = {
        t.text for before, t in pairwise(tokens) if before.token_type in arrows or t.text.startswith("$")
    }
    for string in strings:
        if string in paths and set(words_of(string)) <= set(re.findall(r"\w+", bare.lower())):
            continue
        if string in DATE_FORMATS and _count(DATE_PARTS, bare):
            continue
        if (string == "now" and "today" in bare) or (string[:1] == "-" and f" minus {string[1:]}" in bare):
            continue
        if string not in bare:
            found.append(f"lacks the string {string!r}")
        bare = re.sub(rf"(['\"]){re.escape(string)}\1", " ", bare, count=1)
    found += _numbers(tokens, bare)
    found += _operators(tokens, bare)
    found += _functions(tokens, bare)
    hidden, shown = _names(tokens)
    shown = [best_spelling(name, identifiers) for name in shown]
    said = Counter(re.findall(r"\w+", bare.lower()))
    for name in shown:
        if not all(
            said.keys() & {word, f"{word}s", f"{word}es", f"{word[:-1]}ies"} for word in words_of(name)
        ):
            found.append(f"lacks the name {name!r}")
    content = {word for name in shown for word in words_of(name)} | {name.lower() for name in shown}
    content |= {w for t in tokens if t.token_type == TokenType.NUMBER for w in [t.text]}
    content |= {word for path in paths for word in words_of(path)}
    sets = (
        words_of(token.text) for token in tokens if token.text.lower() in hidden
    )  # "those of the attrition risk facilities"
    content |= {word for name in sets if len(name) > 1 for word in name}
    for name in sorted({i.lower() for i in identifiers} | hidden):
        if name in said and name not in content and name not in COMMON:
            found.append(f"says {name!r}")
    kept = [t.text for t in tokens if t.token_type == TokenType.IDENTIFIER and re.search(r"[^\w]", t.text)]
    for name in kept:
        bare = bare.replace(name, " ")
    found += [f"has the shape of SQL: {m.group()!r}" for shape in SHAPES if (m := shape.search(bare))]
    return found


def _numbers(tokens: list[Token], bare: str) -> list[str]:
    wanted = Counter(t.text for t in tokens if t.token_type == TokenType.NUMBER)
    return [
        f"has {number} fewer than {count} times"
        for number, count in wanted.items()
        if len(re.findall(rf"rounded to a? ?{_DIGITS.get(number, number)}", bare))
        + len(re.findall(rf"(?<![\w.]){re.escape(number)}(?![\w])", bare))
        < count
    ]


def _count(alternatives: Alternatives, bare: str) -> int:
    return sum(len(re.findall(rf"\b{re.escape(words)}\b", bare)) for words in alternatives)


def _operators(tokens: list[Token], bare: str) -> list[str]:
    wanted = Counter(t.token_type for t in tokens if t.token_type in OPERATORS)
    if any(t.token_type == TokenType.LEFT for t in tokens):
        wanted[TokenType.LEFT] = 1
    if wanted[TokenType.WHERE]:  # FILTER and EXISTS may be worded otherwise
        wanted[TokenType.WHERE] = 1
    apart = bare.count("the number of days from") + bare.count(" days from ")
    wanted[TokenType.DASH] -= apart  # the days between two dates
    wanted[TokenType.EQ] -= len(re.findall(r"\bmatched with [\w ]+? by \w", bare))
    found = [
        f"has {OPERATORS[kind][0]!r} fewer than {count} times"
        for kind, count in wanted.items()
        if _count(OPERATORS[kind], bare) < count
    ]
    times = 0
    for previous, token in pairwise(tokens):
        product = previous.token_type in (TokenType.R_PAREN, TokenType.NUMBER, TokenType.END, *_NAMES)
        times += token.token_type == TokenType.STAR and product
    if _count(("times",), bare) < times:
        found.append(f"has 'times' fewer than {times} times")
    return found


def _functions(tokens: list[Token], bare: str) -> list[str]:
    found = []
    for token, following in pairwise(tokens):
        name = token.text.upper()
        if following.token_type != TokenType.L_PAREN or not re.fullmatch(r"[A-Z]\w*", name):
            continue
        if name in FUNCTIONS:
            if FUNCTIONS[name] and not _count(FUNCTIONS[name], bare):
                found.append(f"lacks words for {name}")
        elif token.token_type == TokenType.VAR and not set(words_of(token.text)) <= set(
            re.findall(r"\w+", bare)
        ):
            found.append(f"lacks the function {name}")
    return found


def _names(tokens: list[Token]) -> tuple[set[str], list[str]]:
    """(tables, aliases, CTEs and qualifiers in lower case; columns as spelt)."""
    hidden: set[str] = set()
    shown: list[str] = []
    in_source = False
    for i, token in enumerate(tokens):
        kind = token.token_type
        before = tokens[i - 1].token_type if i else None
        after = tokens[i + 1].token_type if i + 1 < len(tokens) else None
        if kind in _TABLE_LEADS:
            in_source = True
        elif kind in (
            TokenType.ON,
            TokenType.WHERE,
            TokenType.GROUP_BY,
            TokenType.ORDER_BY,
            TokenType.SELECT,
        ):
            in_source = False
        elif kind in (
            TokenType.R_PAREN,
            TokenType.LIMIT,
            TokenType.SET,
            TokenType.UNION,
            TokenType.WHEN,
            TokenType.L_PAREN,
        ):
            in_source = before == TokenType.FROM and kind == TokenType.L_PAREN
        if kind not in _NAMES or token.text.upper() in FUNCTIONS or token.text.upper() in _KEYWORDS:
            continue
        qualifier = after == TokenType.DOT and _name_follows(tokens, i + 2)
        outer = (TokenType.ON, TokenType.JOIN, None, TokenType.WHERE)
        subquery_alias = before == TokenType.R_PAREN and after in outer
        cte = after == TokenType.ALIAS and _opens_query(tokens, i + 2)
        if qualifier or in_source or subquery_alias or cte:
            hidden.add(token.text.lower())
        elif (
            before not in (TokenType.ALIAS, TokenType.R_PAREN)
            and after not in (TokenType.L_PAREN, TokenType.ARROW, TokenType.DARROW)
            and not _holds_json(tokens, i)
        ):
            shown.append(token.text)
    return hidden, shown


def _name_follows(tokens: list[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].token_type not in (TokenType.DOT, TokenType.R_PAREN)


def _opens_query(tokens: list[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].token_type == TokenType.L_PAREN


def _holds_json(tokens: list[Token], at: int) -> bool:
    """Whether a column is the first argument of JSON_EXTRACT: its entry is named instead."""
    start = at - 2 if tokens[at - 1].token_type == TokenType.DOT else at
    return start > 1 and tokens[start - 2].text.upper() == "JSON_EXTRACT"
