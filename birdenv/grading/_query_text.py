"""What the text of a query tells before any database sees it: is it one plain query, and on one line?"""

from __future__ import annotations

from typing import Final

from birdenv.databases import sql_tokens

__all__ = ["is_single_query", "one_line"]

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
