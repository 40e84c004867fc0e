"""What PostgreSQL's statements begin with, and where one ends, without asking the server.

Nothing here decides what is safe: roles, rights and read-only transactions do. This only says where a
statement is tried first, and cuts scripts.
"""

from __future__ import annotations

import re
from typing import Final

from birdenv.databases._sql_text import Token
from birdenv.databases._sql_tokens import sql_tokens

__all__ = ["NO_QUERY", "STICKING", "first_words", "may_write", "split_script"]

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
