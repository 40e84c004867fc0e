"""Phrases are found where the plain regular expressions find them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.runs.user_evaluation import DEMO_QUESTIONS, read_questions
from birdenv.users.understanding._phrases import (
    ALL_PHRASES,
    Phrases,
    any_of,
    by_beginning,
    read_phrases,
    split_phrases,
)
from birdenv.users.understanding._word_forms import clean, words

_PLAIN = {name: any_of(phrases) for name, phrases in ALL_PHRASES.groups.items()}
_WORDS = sorted({word for phrases in ALL_PHRASES.groups.values() for word in re.findall(r"[a-z]+", phrases)})


def found_plainly(text: str) -> set[str]:
    return {name for name, pattern in _PLAIN.items() if pattern.search(text)}


def test_on_real_questions() -> None:
    found = set[str]()
    for question in read_questions(DEMO_QUESTIONS)[::3]:
        text = " ".join(words(clean(question.question)))
        assert ALL_PHRASES.found_in(text) == found_plainly(text), text
        found |= ALL_PHRASES.found_in(text)
    assert len(found) > 20


said = st.one_of(
    st.sampled_from(_WORDS), st.sampled_from(_WORDS), st.sampled_from(["7", "0", "15", "٣", "new_id", "zz"])
)


@given(st.lists(said, max_size=12))
def test_on_any_words(text: list[str]) -> None:
    assert ALL_PHRASES.found_in(" ".join(text)) == found_plainly(" ".join(text))


PIECES = st.recursive(
    st.sampled_from(
        [
            "a",
            "ab",
            "abcd",
            "b c",
            r"\w",
            r"\d",
            "[ab]",
            ".",
            "1",
            " c",
            "_",
            r"\b",
            "(?!a)",
            "(?<!a)",
            "^",
            "a+",
        ]
    ),
    lambda piece: st.one_of(
        st.tuples(piece, piece).map("".join),
        st.tuples(piece, piece).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(piece, st.sampled_from(["?", "*", "+", "{0,2}?", "{1,2}"])).map("(?:{0[0]}){0[1]}".format),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "kind"), [("do untimed trips count", "null"), ("from what o clock on", "period")]
)
def test_the_letters_after_a_first_choice_belong_to_the_beginning(text: str, kind: str) -> None:
    assert kind in ALL_PHRASES.found_in(text)


@given(st.lists(PIECES, min_size=1, max_size=4), st.lists(st.text("abcd1_", max_size=4), max_size=5))
def test_any_pattern_is_found_where_the_plain_one_is(patterns: list[str], text: list[str]) -> None:
    phrases = " | ".join(patterns)
    found = Phrases({"some": phrases}).found_in(" ".join(text))
    assert (found == {"some"}) == bool(any_of(phrases).search(" ".join(text)))


@pytest.mark.parametrize(
    ("phrase", "begins"),
    [
        ("(?:sort|as) (?:\\w+ )?given", {"sor", "as"}),
        ("by (?:what|which)", {"by"}),
        ("(?:isn|as?) x", {"isn", ""}),
        ("b ?tree", {""}),
        ("sorts?", {"sor"}),
        ("(?:un|dis)connected", {"unc", "dis"}),
        ("(?<!at the )limit", {"lim"}),
        (r"(?:\d+|one) of", {"0", "one"}),
        ("hm+", {""}),
        (r"\w+est", {""}),
        ("(?:an )?x", {""}),
    ],
)
def test_what_a_phrase_begins_with(phrase: str, begins: set[str]) -> None:
    assert {letters for letters, _ in by_beginning(split_phrases(phrase)[0])} == begins


def test_groups_of_phrases_are_read_from_a_file() -> None:
    groups = read_phrases("birdenv.users.understanding", "scope.txt")
    assert "schema" in split_phrases(groups["names"]) and "#" not in "".join(groups.values())
    assert "WHICH" not in groups["output columns"]
