"""Regular expressions over text from outside: their work grows with the text, not with its square.

Each is given what it backtracks on, at two lengths. The work is counted, not timed (`regex_steps`).
"""

from __future__ import annotations

import re

import pytest
from regex_attacks import Found, attacks, patterns_of
from regex_steps import steps

from birdenv.dialogue import Move, make_game
from birdenv.envs._seat_spaces import MAX_TEXT
from birdenv.llm._errors import _spelled, without_key

_SIZES = (40, 80)
_MOST_GROWTH = 2.9  # twice as much would be in proportion, four times is the square
_SAMPLE = 40
_FROM_OUTSIDE = (
    "birdenv.users.model_user._encoder:_CHOICE",
    "birdenv.users.model_user._encoder:_ID",
    "birdenv.users.understanding._message:_AT_LINE",
    "birdenv.users.understanding._message:_ENDS",
    "birdenv.users.understanding._message:_IN_LINE",
    "birdenv.users.understanding._message:_NAMES",
    "birdenv.users.understanding._message:_SEVERAL",
    "birdenv.users.understanding._message:_WANTS",
    "birdenv.users.understanding._grammar:_NEXT",
    "birdenv.databases.postgres.loading._column_types:_DECLARED",
    "birdenv.databases.postgres.loading._dump_file:_FOREIGN_KEY",
    "birdenv.databases.postgres.loading._dump_file:_COPY",
    "birdenv.databases.postgres.loading._dump_file:_ENCODING",
    "birdenv.llm._request:_OVERFLOW",
    "birdenv.runs.blame._readings:_ALIAS",
    "birdenv.studies.study._config_files:_TAG",
)
_KNOWN = {
    "birdenv.databases.sqlite._schema:re.sub('\\\\s*([(),])\\\\s*')": "of a text without two blanks in a row",
    "birdenv.users.understanding._phrases:re.split('\\\\s+\\\\|\\\\s+|\\\\s*\\\\n\\\\s*')": (
        "of our own phrases"
    ),
    "birdenv.users.decoder:_PERCENTAGE": "of a snippet of the gold",
    "birdenv.users.leak_guard._sql_shapes:_RANGE": "of 160 characters at most",
    "birdenv.users.leak_guard._leak_guard:_COMMENT": "of a text that ends with the end of a comment",
    "birdenv.users.sql_in_words._meanings:_END": "of 300 characters at most",
    "birdenv.users.sql_in_words._meanings:_ENUM": "of 300 characters at most",
    "birdenv.users.sql_in_words._meanings:_FULL_NAME": "of 300 characters at most",
    "birdenv_agents.mutual_friends._reader:_PARTS": "of a text without long gaps",
}
"""Patterns that take more than in proportion, and why what they read cannot be long, or cannot have what is
repeated."""


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    """Every pattern that the code has."""
    return patterns_of("birdenv", "birdenv_agents")


def _is_steep(found: Found, before: str, again: str, after: str) -> bool:
    less, more = (
        steps(found.pattern, before + (again * n)[:n] + after, anchored=found.anchored) for n in _SIZES
    )
    return more > _MOST_GROWTH * less


@pytest.mark.slow
def test_work_is_in_proportion_to_the_text(patterns: list[Found]) -> None:
    """All patterns that the code has: a new one is looked at without anybody's thinking of it."""
    assert len(patterns) > 300
    steep = {
        found.place: attack
        for found in patterns
        for attack in attacks(found.pattern)
        if _is_steep(found, *attack)
    }
    assert steep.keys() == _KNOWN.keys(), steep


@pytest.mark.parametrize("place", _FROM_OUTSIDE)
def test_what_reads_strangers_takes_time_in_proportion(place: str, patterns: list[Found]) -> None:
    [found] = [each for each in patterns if each.place == place]
    tried = list(attacks(found.pattern))
    assert tried and not [attack for attack in tried[:_SAMPLE] if _is_steep(found, *attack)]


@pytest.mark.parametrize("key", ["sk-a1b2c3d4e5f6", "ää&<>'\"+/=xyz"])
@pytest.mark.parametrize("again", ["\\", "&#0", "&#x0", "s", "%7", "\\\\u00"])
def test_looking_for_a_key_is_in_proportion_to_the_text(key: str, again: str) -> None:
    less, more = (steps(_spelled(key), again * n) for n in _SIZES)
    assert more < _MOST_GROWTH * less, (less, more)


@pytest.mark.slow
def test_the_counted_work_is_that_of_a_backtracking_matcher() -> None:
    """What was there before is found out, and counting finds the matches that Python finds."""
    for slow, text in (
        (r"labelled\(\s*([^()\n]*?)\s*\)", "labelled(" + " " * 40),
        (r"\s*([A-Za-z][A-Za-z0-9_ ]*?)\s*(?:\(\d+\))?\s*x", "A" + " " * 20),
        (r"\\+x", "\\" * 40),
    ):
        less, more = (steps(re.compile(slow), text + text[-1] * n) for n in (0, len(text)))
        assert more > 3 * less


def test_keys_are_found_behind_many_backslashes_and_zeros() -> None:
    assert without_key(f'"{chr(92) * 15}u002b sk-a{chr(92) * 7}u002b1 &#00043;', "sk-a+1").endswith(
        "[key] &#00043;"
    )


def test_the_name_of_an_action_that_there_is_not_is_kept_short() -> None:
    with make_game("bird") as arena:
        dialogue = arena.start(arena.ids[0])
        for name, data in (("x" * 10**6, "SELECT 1"), ("execute_sql", 10**5000), ("y" * 10**6, "z" * 10**6)):
            event = dialogue.apply(0, Move(name, data))
            assert len(repr(event)) < 2 * MAX_TEXT and dialogue.refused
        assert len(dialogue.view(0).message) < 10_000
        dialogue.close()
