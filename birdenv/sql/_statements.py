"""Split scripts into statements, find a statement's first words, and recognise plain queries.

This module does not decide which statements are safe: SQLite's authorizer does that, as do roles and
read-only transactions in PostgreSQL. The module only helps to choose the database in which to run a statement
first. `quiet_parser` is for code that uses sqlglot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from birdenv.sql._tokens import (
    Token,
    UnterminatedError,
    comment_end,
    postgres_stops,
    postgres_tokens,
    sql_tokens,
    tokens,
)

STICKING: Final = frozenset(
    """
    ABORT ALTER ANALYSE ANALYZE BEGIN CALL CHECKPOINT CLOSE CLUSTER COMMENT COMMIT COPY CREATE DEALLOCATE
    DECLARE DELETE DISCARD DO DROP END EXECUTE FETCH GRANT IMPORT INSERT LISTEN LOAD LOCK MERGE MOVE NOTIFY
    PREPARE REASSIGN REFRESH REINDEX RELEASE REPACK RESET REVOKE ROLLBACK SAVEPOINT SECURITY SET START
    TRUNCATE UNLISTEN UPDATE VACUUM WAIT
    """.split()
)
"""First words of statements that may leave something behind in a database or session of PostgreSQL."""

NO_QUERY: Final = STICKING | {"EXPLAIN", "SHOW"}
"""First words of statements that are not plain queries. Any word except these, SELECT, WITH, VALUES and TABLE
is a syntax error in PostgreSQL."""

_QUERY_WORDS: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
_FIRST_WORD: Final = re.compile(r"[ \t\n]*([A-Za-z]+)[ \t\n]")  # matches nearly all texts
_BLANK: Final = re.compile(r"(?:[ \t\r\n\f\v;]++|--[^\n]*+)*+")
_TRIGGER: Final = re.compile(r"(EXPLAIN (QUERY PLAN )?)?CREATE (TEMP |TEMPORARY )?TRIGGER")
_LONGEST_TRIGGER_HEAD: Final = 6  # tokens: EXPLAIN QUERY PLAN CREATE TEMPORARY TRIGGER
_WRITES: Final = re.compile(r"\b(?:insert|update|delete|merge)\b", re.IGNORECASE)
_ROUTINE: Final = re.compile(r"CREATE( OR REPLACE)? (FUNCTION|PROCEDURE)")
_LONGEST_ROUTINE_HEAD: Final = 4  # words: CREATE OR REPLACE FUNCTION


def split_statements(sql: str) -> list[str]:
    """Split an SQLite script into statements. The `;` after each statement is removed.

    Semicolons in quotes, comments and trigger bodies do not end a statement. A trigger ends at `; END ;`, as
    in `sqlite3_complete()`. Empty statements are dropped, as are comments and white space after a statement.
    The text after the last `;` counts as a statement.
    """
    pieces: list[str] = []
    start = end = 0  # of the current piece; `end` is not beyond `start` before the first token
    head: list[str] = []  # the first tokens of the piece, up to `_LONGEST_TRIGGER_HEAD`
    is_trigger = False
    before, last = "", ""  # the two latest tokens of the piece
    for token in tokens(sql):
        if token.text == ";" and (not is_trigger or (before == ";" and last == "END")):
            if end > start:
                pieces.append(sql[start:end].strip())
            start, head, is_trigger, before, last = token.end, [], False, "", ""
            continue
        end = token.end
        before, last = last, _upper(token.text) if token.kind == "word" else token.text[:1]
        if len(head) < _LONGEST_TRIGGER_HEAD and not is_trigger:
            head.append(last)
            is_trigger = _TRIGGER.fullmatch(" ".join(head)) is not None
    if end > start:
        pieces.append(sql[start:end].strip())
    return pieces


def first_keyword(sql: str) -> str:
    """Return the first token of an SQLite statement, in upper case, or "" if there is none.

    Comments, `;` and opening parentheses before the token are skipped.
    """
    plain = _FIRST_WORD.match(sql)
    if plain is not None:
        return plain[1].upper()
    for token in tokens(sql):
        if token.text not in ("(", ";"):
            return _upper(token.text)
    return ""


def _upper(word: str) -> str:
    return word.upper() if word.isascii() else word


def first_words(sql: str, count: int = 2) -> tuple[str, ...]:
    """Return up to `count` words from the start of a PostgreSQL statement, in upper case.

    Comments, `;` and opening parentheses are skipped. Any other token ends the sequence of words.
    """
    words: list[str] = []
    try:
        for token in postgres_tokens(sql):
            if token.kind == "word" and token.text[0].isascii():
                words.append(token.text.upper())
                if len(words) == count:
                    break
            elif token.text not in ("(", ";"):
                break
    except UnterminatedError:
        pass
    return tuple(words)


def may_write(sql: str) -> bool:
    """Return whether a statement can change data, directly or through a nested statement in WITH."""
    words = first_words(sql, 1)
    return not words or words[0] in NO_QUERY or bool(_WRITES.search(sql))


def split_script(script: str) -> list[str]:
    """Split a PostgreSQL script into statements, without semicolons or the comments and spaces around them.

    As in psql, a semicolon does not end a statement if it is in quotes, a comment, parentheses (as in rules)
    or a `BEGIN ATOMIC ... END` body. Text with an unterminated quote counts as one statement, which the
    server then refuses.
    """
    try:
        tokens = sql_tokens(script, "postgres")
    except ValueError:
        return [script]
    pieces: list[str] = []
    start: int | None = None  # of the piece being read
    end = 0
    blocks = _Blocks()
    for token in tokens:
        if blocks.are_ended_by(token):
            if start is not None:
                pieces.append(script[start:end])
            start, blocks = None, _Blocks()
            continue
        if start is None:
            start = token.end - len(token.text)
        end = token.end
    if start is not None:
        pieces.append(script[start:end])
    return pieces


class _Blocks:
    """Counts parentheses, and nested blocks in the body of a routine that is written as SQL, not a string."""

    def __init__(self) -> None:
        self._depth = 0
        self._parentheses = 0
        self._head: list[str] = []
        self._is_routine = False

    def are_ended_by(self, token: Token) -> bool:
        """Read the next token. Return whether it is the semicolon that ends the statement."""
        if token.text == ";" and not self._parentheses and not self._depth:
            return True
        self._parentheses = max(self._parentheses + (token.text == "(") - (token.text == ")"), 0)
        word = token.text.upper() if token.kind == "word" else ""
        if len(self._head) < _LONGEST_ROUTINE_HEAD and not self._is_routine:
            self._head.append(word)
            self._is_routine = _ROUTINE.fullmatch(" ".join(self._head)) is not None
        elif self._is_routine and word == "END":
            self._depth = max(self._depth - 1, 0)
        elif self._is_routine and (word == "BEGIN" or (word == "CASE" and self._depth)):
            self._depth += 1
        return False


def statement_start(script: str, place: int = 0) -> int:
    """Return the position of the first statement at or after `place`.

    White space, `;` and `--` comments are skipped. A block comment counts as part of its statement, because
    dumps use block comments as headings.
    """
    blank = _BLANK.match(script, place)
    return blank.end() if blank else place


def after_comments(statement: str) -> int:
    """Return the position of the first token in a PostgreSQL statement.

    Raises `UnterminatedError` if a comment before this token is not terminated.
    """
    place = statement_start(statement)
    while statement.startswith("/*", place):
        place = statement_start(statement, comment_end(statement, place + 2))
    return place


def statement_end(script: str, start: int) -> int:
    """Return the position after a PostgreSQL statement's semicolon, or the end of the text.

    Raises `UnterminatedError` for an unterminated quote or comment.
    """
    depth = 0
    for stop, place in postgres_stops(script, start):
        if stop == ";" and depth <= 0:
            if "atomic" not in script[start:place].lower():
                return place
            blocks = _Blocks()
            return next(
                (token.end for token in postgres_tokens(script, start) if blocks.are_ended_by(token)),
                len(script),
            )
        depth += (stop == "(") - (stop == ")")
    return len(script)


def is_single_query(sql: str, dialect: str) -> bool:
    """Return whether the text is a single statement that starts like a query.

    Comments and opening parentheses before the query are ignored. Statements that only start like a query
    (WITH ... DELETE, SELECT INTO, FOR UPDATE) also count, because only the server can tell them apart. If the
    text has an unterminated quote, only its first word is examined, because the text will fail when it runs.
    """
    try:
        words = [token.text for token in sql_tokens(sql, dialect)]
    except ValueError:
        words = sql.replace("(", " ").split()[:1]
    while words and words[-1] == ";":
        words.pop()
    first = next((word for word in words if word != "("), "")
    return first.upper() in _QUERY_WORDS and ";" not in words


def one_line(sql: str, dialect: str) -> str:
    """Return a query on a single line, for files with one query per line.

    Each line break between tokens becomes a space, and so does each comment that would hide the rest of the
    line. Line breaks inside quotes also become spaces, which changes the query. Byte order marks at the start
    and carriage returns at the end are removed, because readers of such files remove them.
    """
    sql = sql.lstrip("\ufeff").rstrip("\r")
    if "\n" not in sql:
        return sql
    try:
        tokens = sql_tokens(sql, dialect)
    except ValueError:
        return " ".join(sql.split("\n"))
    pieces: list[str] = []
    end = 0
    for token in tokens:
        gap = sql[end : token.end - len(token.text)]
        pieces.append(" " if "\n" in gap or "--" in gap else gap)
        pieces.append(token.text.replace("\n", " "))
        end = token.end
    rest = sql[end:]
    pieces.append("" if "\n" in rest or "--" in rest else rest)
    return "".join(pieces).strip(" ")


@contextmanager
def quiet_parser() -> Iterator[None]:
    """Keep sqlglot from logging statements that it cannot parse, because gold SQL must not be logged."""
    import logging  # here, because the process of test cases also imports this package

    logger = logging.getLogger("sqlglot")

    def drop(record: object) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)
