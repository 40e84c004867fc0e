"""Exact match (EM): compare the text of queries, ignoring differences that cannot matter.

Queries are compared at one of three levels. `strict` ignores only outer white space. `conservative` also
ignores comments, white space between tokens, and the case of keywords. `folded` also ignores the case of
unquoted names, unnecessary quotes around names, and whether an operator is written as `<>` or `!=` (in SQLite
also `==` or `=`). At no level are literals changed, parts reordered, or aliases renamed.

SQLite treats a word in double quotes as a string if no column has that name. Therefore the quotes are ignored
only if the word is certainly a name: next to a dot, after FROM, JOIN or AS, or if either query of the pair
uses the same name without quotes.

The keywords come from sqlite.org/lang_keywords.html, and from `pg_get_keywords()` in PostgreSQL 18.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

from birdenv.sql import Token, folded, sql_tokens

_SQLITE: Final = """
    abort action add after all alter always analyze and as asc attach autoincrement before begin between
    by cascade case cast check collate column commit conflict constraint create cross current
    current_date current_time current_timestamp database default deferrable deferred delete desc detach
    distinct do drop each else end escape except exclude exclusive exists explain fail filter first
    following for foreign from full generated glob group groups having if ignore immediate in index
    indexed initially inner insert instead intersect into is isnull join key last left like limit match
    materialized natural no not nothing notnull null nulls of offset on or order others outer over
    partition plan pragma preceding primary query raise range recursive references regexp reindex
    release rename replace restrict returning right rollback row rows savepoint select set table temp
    temporary then ties to transaction trigger unbounded union unique update using vacuum values view
    virtual when where window with without
    """

_POSTGRES: Final = """
    abort absent absolute access action add admin after aggregate all also alter always analyse analyze
    and any array as asc asensitive assertion assignment asymmetric at atomic attach attribute
    authorization backward before begin between bigint binary bit boolean both breadth by cache call
    called cascade cascaded case cast catalog chain char character characteristics check checkpoint
    class close cluster coalesce collate collation column columns comment comments commit committed
    compression concurrently conditional configuration conflict connection constraint constraints
    content continue conversion copy cost create cross csv cube current current_catalog current_date
    current_role current_schema current_time current_timestamp current_user cursor cycle data database
    day deallocate dec decimal declare default defaults deferrable deferred definer delete delimiter
    delimiters depends depth desc detach dictionary disable discard distinct do document domain double
    drop each else empty enable encoding encrypted end enforced enum error escape event except exclude
    excluding exclusive execute exists explain expression extension external extract false family fetch
    filter finalize first float following for force foreign format forward freeze from full function
    functions generated global grant granted greatest group grouping groups handler having header hold
    hour identity if ilike immediate immutable implicit import in include including increment indent
    index indexes inherit inherits initially inline inner inout input insensitive insert instead int
    integer intersect interval into invoker is isnull isolation join json json_array json_arrayagg
    json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value
    keep key keys label language large last lateral leading leakproof least left level like limit listen
    load local localtime localtimestamp location lock locked logged mapping match matched materialized
    maxvalue merge merge_action method minute minvalue mode month move name names national natural nchar
    nested new next nfc nfd nfkc nfkd no none normalize normalized not nothing notify notnull nowait
    null nullif nulls numeric object objects of off offset oids old omit on only operator option options
    or order ordinality others out outer over overlaps overlay overriding owned owner parallel parameter
    parser partial partition passing password path period placing plan plans policy position preceding
    precision prepare prepared preserve primary prior privileges procedural procedure procedures program
    publication quote quotes range read real reassign recursive ref references referencing refresh
    reindex relative release rename repeatable replace replica reset restart restrict return returning
    returns revoke right role rollback rollup routine routines row rows rule savepoint scalar schema
    schemas scroll search second security select sequence sequences serializable server session
    session_user set setof sets share show similar simple skip smallint snapshot some source sql stable
    standalone start statement statistics stdin stdout storage stored strict string strip subscription
    substring support symmetric sysid system system_user table tables tablesample tablespace target temp
    template temporary text then ties time timestamp to trailing transaction transform treat trigger
    trim true truncate trusted type types uescape unbounded uncommitted unconditional unencrypted union
    unique unknown unlisten unlogged until update user using vacuum valid validate validator value
    values varchar variadic varying verbose version view views virtual volatile when where whitespace
    window with within without work wrapper write xml xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable year yes zone
    """

KEYWORDS: Final = {"sqlite": frozenset(_SQLITE.split()), "postgres": frozenset(_POSTGRES.split())}


EmLevel: TypeAlias = Literal["strict", "conservative", "folded"]
EM_LEVELS: Final[tuple[EmLevel, ...]] = get_args(EmLevel)
_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_SQLITE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_NAMES: Final[frozenset[str]] = frozenset()


def em_keys(gold: str, pred: str, dialect: str, level: EmLevel = "conservative") -> tuple[str, str]:
    """Return the keys (`em_key`) of two queries. The queries match if their keys are equal.

    At the level `folded`, a word in double quotes counts as a name if the other query uses the same word as
    an unquoted name.
    """
    names = _certain_names(gold, dialect) | _certain_names(pred, dialect) if level == "folded" else _NO_NAMES
    return em_key(gold, dialect, level, names), em_key(pred, dialect, level, names)


def _certain_names(sql: str, dialect: str) -> frozenset[str]:
    """Return all unquoted words that are not keywords, in lower case."""
    try:
        words = [token.text for token in sql_tokens(sql, dialect) if token.kind == "word"]
    except ValueError:
        return _NO_NAMES
    return frozenset(folded(word) for word in words if not _is_keyword(word, dialect))


def em_key(sql: str, dialect: str, level: EmLevel = "conservative", names: frozenset[str] = _NO_NAMES) -> str:
    """Return a text that is equal for all queries that match each other at a level.

    If the query has an unterminated quote, the key is the query itself without outer white space.

    Args:
        sql: the query.
        dialect: `sqlite` or `postgres`.
        level: the level, as described in the module's docstring.
        names: words in lower case that are names (not strings) even in double quotes.
    """
    if level == "strict":
        return sql.strip()
    try:
        tokens = sql_tokens(sql, dialect)
    except ValueError:
        return sql.strip()
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if level == "folded":
        return " ".join(_folded(tokens, place, dialect, names) for place in range(len(tokens)))
    return " ".join(_conservative(tokens, place, dialect) for place in range(len(tokens)))


def _conservative(tokens: Sequence[Token], place: int, dialect: str) -> str:
    token = tokens[place]
    is_keyword = (
        token.kind == "word" and _is_keyword(token.text, dialect) and not _is_qualified(tokens, place)
    )
    return token.text.upper() if is_keyword else token.text


def _folded(tokens: Sequence[Token], place: int, dialect: str, names: frozenset[str]) -> str:
    token = tokens[place]
    if token.kind == "word":
        spelt = _conservative(tokens, place, dialect)
        return spelt if spelt != token.text or _is_keyword(token.text, dialect) else folded(token.text)
    if token.kind == "quoted":
        return _without_needless_quotes(tokens, place, dialect, names)
    if token.text == "<>":
        return "!="
    return "=" if token.text == "==" and dialect == "sqlite" else token.text


def _without_needless_quotes(tokens: Sequence[Token], place: int, dialect: str, names: frozenset[str]) -> str:
    text = tokens[place].text
    name = text[1:-1]
    if dialect == "postgres":
        return name if _PLAIN_NAME.fullmatch(name) and not _is_keyword(name, dialect) else text
    is_certain = (
        text[0] != '"'
        or _is_qualified(tokens, place)
        or _text(tokens, place + 1) == "."
        or _text(tokens, place - 1).upper() in ("FROM", "JOIN", "AS")
        or folded(name) in names
    )
    plain = _SQLITE_NAME.fullmatch(name) and not _is_keyword(name, dialect)
    return folded(name) if is_certain and plain else text


def _is_keyword(word: str, dialect: str) -> bool:
    return word.isascii() and word.lower() in KEYWORDS[dialect]


def _is_qualified(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the token follows a dot, so that it is a name, whatever it looks like."""
    return place > 0 and tokens[place - 1].text == "."


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""
