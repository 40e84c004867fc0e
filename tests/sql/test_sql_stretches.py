"""Text in an unknown dialect: what is quoted by the rules of either, and where its comments end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.sql import stretches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", [("word", "SELECT"), ("space", " "), ("word", "1")]),
        ("a--b\nc", [("word", "a"), ("comment", "--b"), ("space", "\n"), ("word", "c")]),
        ("/* a */;", [("comment", "/* a */"), ("symbol", ";")]),
        ("'it''s --'", [("quoted", "'it''s --'")]),
        ('"a--"`b--`', [("quoted", '"a--"'), ("quoted", "`b--`")]),
        (r"E'\'--'", [("quoted", r"E'\'--'")]),
        ("me'--'", [("word", "me"), ("quoted", "'--'")]),
        ("[a -- b]", [("quoted", "[a -- b]")]),
        ("[a\n]", [("symbol", "["), ("word", "a"), ("space", "\n"), ("symbol", "]")]),
        ("$f$ -- $f$", [("quoted", "$f$ -- $f$")]),
        ("$f$-", [("symbol", "$"), ("word", "f"), ("symbol", "$"), ("symbol", "-")]),
        ("a$b$", [("word", "a"), ("symbol", "$"), ("word", "b"), ("symbol", "$")]),
    ],
)
def test_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(part.kind, part.text) for part in stretches(text)] == expected


@pytest.mark.parametrize("text", ["'a", '"a', "`a", "E'a", "/* a", "/*/", "'a''"])
def test_what_never_ends_reaches_to_the_end(text: str) -> None:
    before, last = list(stretches(f"SELECT {text} b"))[:-1], list(stretches(f"SELECT {text} b"))[-1]
    assert (last.text, last.is_closed) == (f"{text} b", False)
    assert all(part.is_closed for part in before)


@given(st.text(alphabet=st.sampled_from("aE'\"`[]/*-$;\n \\")))
def test_nothing_is_lost(text: str) -> None:
    parts = list(stretches(text))
    assert "".join(part.text for part in parts) == text
    assert all(text[part.start : part.end] == part.text for part in parts)
