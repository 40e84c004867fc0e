"""What PostgreSQL's statements begin with, and where one ends, without asking the server.

Nothing here decides what is safe: roles, rights and read-only transactions do. This only says where a
statement is tried first, and cuts scripts.

What the text of a query tells before any database sees it: is it one plain query, and on one line?
"""

from __future__ import annotations

import re
from typing import Final

from birdenv.sql._tokens import Token, sql_tokens

STICKING: Final = frozenset(
    """
    ABORT ALTER ANALYSE ANALYZE BEGIN CALL CHECKPOINT CLOSE CLUSTER COMMENT COMMIT COPY CREATE DEALLOCATE
    DECLARE DELETE DISCARD DO DROP END EXECUTE FETCH GRANT IMPORT INSERT LISTEN LOAD LOCK MERGE MOVE NOTIFY
    PREPARE REASSIGN REFRESH REINDEX RELEASE REPACK RESET REVOKE ROLLBACK SAVEPOINT SECURITY SET START
    TRUNCATE UNLISTEN UPDATE VACUUM WAIT
    """.split()
)
"""First words of the statements that may leave something behind, in a database or in a session."""

NO_QUERY: Final = STICKING | {"EXPLAIN", "SHOW"}
"""First words of the statements that are no plain query; after any word but these, SELECT, WITH, VALUES and
TABLE, the server itself finds a syntax error."""

_SKIPPED: Final = re.compile(r"(?:[ \t\n\r\f\v(;]++|--[^\n\r]*+)*+")
_WORD: Final = re.compile(r"[A-Za-z_]\w*+")
_COMMENT_EDGE: Final = re.compile(r"/\*|\*/")
_WRITES: Final = re.compile(r"\b(?:insert|update|delete|merge)\b", re.IGNORECASE)
_ROUTINE: Final = re.compile(r"CREATE( OR REPLACE)? (FUNCTION|PROCEDURE)")
_LONGEST_HEAD: Final = 4  # words: CREATE OR REPLACE FUNCTION


def first_words(sql: str, count: int = 2) -> tuple[str, ...]:
    """The first words after comments and opening parentheses, in upper case; fewer where something else
    than a word stands between them."""
    words: list[str] = []
    place = 0
    while len(words) < count:
        place = _SKIPPED.match(sql, place).end()  # type: ignore[union-attr]  # it matches nothing, too
        if sql.startswith("/*", place):
            place = _after_comment(sql, place)
        elif found := _WORD.match(sql, place):
            words.append(found.group().upper())
            place = found.end()
        else:
            break
    return tuple(words)


def may_write(sql: str) -> bool:
    """Whether a statement is more than a plain query, or may be one with INSERT, UPDATE, ... in its WITH."""
    words = first_words(sql, 1)
    return not words or words[0] in NO_QUERY or bool(_WRITES.search(sql))


def split_script(script: str) -> list[str]:
    """Cut a script into its statements, each without its `;` and what surrounds it.

    Semicolons in quotes, comments, parentheses (rules) and bodies of the form `BEGIN ATOMIC ... END` do not
    cut, as in psql. A text whose quotes never end is one statement: the server says what is wrong with it.
    """
    try:
        tokens = sql_tokens(script, "postgres")
    except ValueError:
        return [script]
    pieces: list[str] = []
    start: int | None = None  # of the piece being read
    end = 0
    depth = 0  # of parentheses
    blocks = _Blocks()
    for token in tokens:
        if token.text == ";" and depth == 0 and not blocks.depth:
            if start is not None:
                pieces.append(script[start:end])
            start, blocks = None, _Blocks()
            continue
        if start is None:
            start = token.end - len(token.text)
        end = token.end
        depth = max(depth + (token.text == "(") - (token.text == ")"), 0)
        blocks.see(token)
    if start is not None:
        pieces.append(script[start:end])
    return pieces


class _Blocks:
    """How deep a statement is in the blocks of a routine's body that is no string."""

    def __init__(self) -> None:
        self.depth = 0
        self._head: list[str] = []
        self._is_routine = False

    def see(self, token: Token) -> None:
        word = token.text.upper() if token.kind == "word" else ""
        if len(self._head) < _LONGEST_HEAD and not self._is_routine:
            self._head.append(word)
            self._is_routine = _ROUTINE.fullmatch(" ".join(self._head)) is not None
        elif self._is_routine and word == "END":
            self.depth = max(self.depth - 1, 0)
        elif self._is_routine and (word == "BEGIN" or (word == "CASE" and self.depth)):
            self.depth += 1


def _after_comment(sql: str, place: int) -> int:
    """Where the block comment that begins at `place` ends; comments nest."""
    depth = 0
    while edge := _COMMENT_EDGE.search(sql, place):
        place = edge.end()
        depth += 1 if edge.group() == "/*" else -1
        if not depth:
            return place
    return len(sql)


_QUERY_WORDS: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})


def is_single_query(sql: str, dialect: str) -> bool:
    """Whether a text is exactly one statement that starts, behind comments and parentheses, like a query.

    What only the server can tell (a WITH that deletes, SELECT INTO, FOR UPDATE) is not looked at, nor is
    text with a quote that never ends: its first word counts, and running it will tell the fault.
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
    """The query on one line, for files with a line for each query.

    Comments that would swallow the rest of the line, and line breaks between tokens, become a space. So do
    the line breaks in quotes, which a line cannot hold: there the line is not the query any more.
    """
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
