"""Split SQL and fragments of SQL into tokens, and parse them with sqlglot.

Annotated snippets are often fragments (`HAVING n > 1`, `THEN 'x'`, an unclosed bracket). `parse_fragment`
completes a fragment to a statement. The added parts use the name `FRAME` and are never put into words. An
ellipsis in a snippet (`ROUND(..., 2)`) becomes the name `GAP`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

from birdenv.sql import quiet_parser, unquoted
from birdenv.sql import tokens as sql_tokens
from birdenv.users.sql_in_words._phrases import phrases

Node: TypeAlias = Any
"""A node of a syntax tree. It is untyped because sqlglot's versions name the base class differently."""

TokenKind: TypeAlias = Literal["string", "quoted", "number", "word", "symbol"]

FRAME: Final = "\u2026\u2026"
GAP: Final = "\u2026"

_MAX_DEPTH: Final = 40
_FRAMES: Final = {word: frames.split(" | ") for word, frames in phrases("frames of fragments").items()}
_ELLIPSIS = re.compile(r"(?P<string>'(?:[^']|'')*'?)|\.\.\.+|\u2026")
_HOLLOW = re.compile(rf"(?i)\bCASE\s+{GAP}\s+END\b|\bCAST\(\s*{GAP}\s*\)(?:\s*AS\s+\w+\s*\))?")
_LEADING = re.compile(r"(?i)^\s*(?:AND|OR)\b")
_END = re.compile(r"(?i)(\sAS\s+[\w\"]+)?$")
_WORD_PARTS = re.compile(r"[0-9]+|[^\W\d_]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class LexicalUnit:
    """One token: its kind, and its source text without quotation marks."""

    kind: TokenKind
    text: str

    @property
    def key(self) -> str:
        """Return the text of a word or symbol in upper case, or an empty string for other tokens."""
        return self.text.upper() if self.kind in ("word", "symbol") else ""


def tokenize(sql: str) -> list[LexicalUnit]:
    """Split any text into tokens, dropping white space and comments. No text is rejected.

    >>> [token.text for token in tokenize("b.name = 'Ann' ... -- more")]
    ['b', '.', 'name', '=', 'Ann', '…']
    """
    found: list[LexicalUnit] = []
    for kind, text, _ in sql_tokens(_with_gaps(sql)):
        if text == ":" and found and found[-1].key == ":":
            found[-1] = LexicalUnit("symbol", "::")
        else:
            contents = _contents(text) if kind in ("string", "quoted") else text
            found.append(LexicalUnit("symbol" if text == GAP else cast(TokenKind, kind), contents))
    return found


def split_words(name: str) -> str:
    """Return a name as lower-case words, such as "crust score" for `CrustScore`, "next 4 h" for `next_4h`."""
    spaced = _INNER_CAPITAL.sub(" ", name)
    return " ".join(part.lower() for part in _WORD_PARTS.findall(spaced))


def kind_of(node: Node) -> str:
    """Return the name of a node's class."""
    return type(node).__name__


def node_class(name: str) -> Node:
    """Return a sqlglot node class by its name. sqlglot is imported on first use."""
    from sqlglot import exp

    return getattr(exp, name)


def part_of(node: Node, name: str) -> Node:
    """Return a node's WITH or FROM, which sqlglot calls `with_` and `from_` since version 28."""
    return node.args.get(name, node.args.get(f"{name}_"))


@lru_cache(maxsize=8192)
def parse_fragment(sql: str) -> Node | None:
    """Return the syntax tree of a statement or a fragment, or None if it cannot be parsed.

    Callers must not change the tree, because it is cached. Several expressions become a tuple. A single
    clause becomes part of a SELECT whose other parts are named `FRAME`.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    keys = [token.key for token in tokenize(sql)]
    depths = list(accumulate({"(": 1, ")": -1}.get(key, 0) for key in keys))
    if not keys or max(depths) > _MAX_DEPTH:
        return None
    text = _with_gaps(sql)
    *_, last = sql_tokens(text)
    text = _LEADING.sub("", text[: last.end]).rstrip(" ;\n")  # without a comment at its end
    ends = " END" * (keys.count("CASE") - keys.count("END"))
    surplus = -depths[-1]
    if keys[0] in _FRAMES:
        text = text.removesuffix(")" * surplus) + ")" * -surplus
    else:  # put back the brackets and ENDs that an expression lacks
        text = _END.sub(ends + ")" * -surplus + r"\1", "(" * surplus + text, count=1)
    frames = _FRAMES.get(keys[0]) or _FRAMES.get(keys[-1]) or _FRAMES["expressions"]
    texts = dict.fromkeys((text, text.replace(GAP, ",")))  # a gap may stand between two expressions
    for frame, text in ((frame, text) for text in texts for frame in frames):
        framed = frame.replace("@", f'"{FRAME}"').replace("{}", text)
        with quiet_parser(), suppress(SqlglotError, RecursionError, ValueError):
            [tree] = sqlglot.parse(framed, read=fragment_dialect())  # fails if there are several statements
            if tree is not None and not isinstance(tree, exp.Command):
                return tree if frame == "{}" else _unframed(tree)
    return None


def _unframed(select: Node) -> Node:
    """Return the expressions of a SELECT that has no other clauses."""
    from sqlglot import exp

    items = select.expressions
    if not isinstance(select, exp.Select) or set(filter(select.args.get, select.args)) != {"expressions"}:
        return select
    return items[0] if len(items) == 1 else exp.Tuple(expressions=[item.copy() for item in items])


@cache
def fragment_dialect() -> Any:
    """Return a dialect that parses both SQLite and PostgreSQL, and keeps function names as written."""
    from sqlglot import TokenType, exp
    from sqlglot.dialects.postgres import Postgres

    def entry(_: Any, this: Node, path: Node) -> Node:
        """Return `column -> 'size'` as a call."""
        return this if path is None else exp.Anonymous(this="JSON_EXTRACT", expressions=[this, path])

    class BirdenvFragment(Postgres):
        NULL_ORDERING = "nulls_are_small"

        class Tokenizer(Postgres.Tokenizer):
            IDENTIFIERS: ClassVar = ['"', "`"]

        class Parser(Postgres.Parser):  # type: ignore[misc,valid-type]
            FUNCTIONS: ClassVar[dict[str, Any]] = {}
            FUNCTION_PARSERS: ClassVar = {
                name: parser
                for name, parser in Postgres.Parser.FUNCTION_PARSERS.items()
                if name in ("CAST", "TRY_CAST", "EXTRACT")
            }
            COLUMN_OPERATORS: ClassVar = {
                **Postgres.Parser.COLUMN_OPERATORS,
                **dict.fromkeys(
                    (TokenType.ARROW, TokenType.DARROW, TokenType.HASH_ARROW, TokenType.DHASH_ARROW), entry
                ),
            }

            def _parse_ordered(self, *args: Any) -> Node:
                """Return a sort key, marked if it is followed by NULLS FIRST or NULLS LAST."""
                ordered = super()._parse_ordered(*args)
                if ordered is not None:
                    ordered.set("written", self._tokens[self._index - 2].text.upper() == "NULLS")
                return ordered

        class Generator(Postgres.Generator):  # type: ignore[misc,valid-type]
            def not_sql(self, expression: Node) -> str:
                """Write `a IS NOT NULL` and `a NOT IN (..)` instead of putting NOT in front."""
                inner = expression.this
                if isinstance(inner, exp.Is | exp.In | exp.Like | exp.Between):
                    operand, written = self.sql(inner, "this"), self.sql(inner)
                    rest = written.removeprefix(operand).lstrip()
                    return f"{operand} IS NOT{rest[2:]}" if rest[:3] == "IS " else f"{operand} NOT {rest}"
                return str(super().not_sql(expression))

    return BirdenvFragment


def _with_gaps(sql: str) -> str:
    """Return SQL with each ellipsis, and a CASE or CAST that contains only an ellipsis, replaced by `GAP`."""
    if "..." not in sql and GAP not in sql:
        return sql
    return _HOLLOW.sub(GAP, _ELLIPSIS.sub(lambda match: match["string"] or f" {GAP} ", sql))


def _contents(text: str) -> str:
    closing = "]" if text[0] == "[" else text[0]
    return unquoted(text) if len(text) > 1 and text.endswith(closing) else text[1:]
