"""Regular expressions over text from outside: their work grows with the text, not with its square.

Each is given what it backtracks on, at two lengths. The work is counted, not timed (`regex_steps`).
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
from regex_steps import steps

from birdenv.dialogue import Move, make_game
from birdenv.envs._seat_spaces import MAX_TEXT
from birdenv.llm._secrets import _spelled, without_key

_SIZES = (60, 120)
_SEARCHED = {  # the pattern: prefix, what is repeated, ending
    "birdenv.users.model_user._encoder:_CHOICE": [
        ("labelled(", " ", ""),
        ("labelled", " ", "x"),
        ("", "labelled(", ""),
    ],
    "birdenv.users.model_user._encoder:_ID": [("", "a", ""), ("a1", ".a", "-"), ("", "1", "a")],
    "birdenv.databases.postgres.loading._dump_text:_ENCODING": [
        ("", "\n", ""),
        ("SET client_encoding", " ", "x"),
    ],
    "birdenv.runs.blame._sql_tokens:_ALIAS": [("", " ", "x"), ("x AS y", " ", "-"), ("", " AS x", "-")],
    "birdenv.web.study._config_files:_TAG": [("", "<", ""), ("<", "a", "")],
    "birdenv_agents.llm._markup_player:_COLUMN": [("", "\n", ""), ("", " ", "-")],
    "birdenv_agents.mutual_friends._reader:_LONG_GAP": [("", " ", "x"), ("", " \n", "x")],
    "birdenv.llm._request:_OVERFLOW": [("", "context ", ""), ("context", " ", "")],
    "birdenv.runs._episode_status:_CONTEXT": [("", "exceeds ", ""), ("maximum number of", " ", "")],
}
_AT_THE_BEGINNING = {
    "birdenv.databases.postgres.loading._column_types:_DECLARED": [
        ("A", " ", "\x01"),
        ("A(", " ", "\x01"),
        ("A", "A ", "\x01"),
        ("A(1", " ", ","),
    ],
    "birdenv.databases.postgres.loading._dump_file:_FOREIGN_KEY": [
        ("ALTER TABLE x", " ADD ", ""),
        ("ALTER TABLE x ADD ", "FOREIGN ", ""),
    ],
    "birdenv.databases.postgres.loading._dump_file:_PASSED_OVER": [
        ("ALTER x", " OWNER ", ""),
        ("ALTER ", " ", ""),
    ],
    "birdenv.databases.postgres.loading._dump_text:_COPY": [
        ("copy t", " from stdin", ";x"),
        ("copy t from", " ", "x"),
    ],
    "birdenv.users.understanding._changes:_TIMED": [
        ("BEFORE INSERT OF ", " ", ""),
        ("BEFORE INSERT OF", " a,", ""),
    ],
    "birdenv.llm._completion:_PAGE": [("", "\n", "")],
}


def _pattern(place: str) -> re.Pattern[Any]:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@pytest.mark.parametrize("place", [*_SEARCHED, *_AT_THE_BEGINNING])
def test_work_is_in_proportion_to_the_text(place: str) -> None:
    pattern, anchored = _pattern(place), place in _AT_THE_BEGINNING
    for before, again, after in (_SEARCHED | _AT_THE_BEGINNING)[place]:
        less, more = (steps(pattern, before + again * n + after, anchored=anchored) for n in _SIZES)
        assert more < 2.5 * less, (before, again, after, less, more)


@pytest.mark.parametrize("key", ["sk-a1b2c3d4e5f6", "ää&<>'\"+/=xyz"])
@pytest.mark.parametrize("again", ["\\", "&#0", "&#x0", "s", "%7", "\\\\u00"])
def test_looking_for_a_key_is_in_proportion_to_the_text(key: str, again: str) -> None:
    less, more = (steps(_spelled(key), again * n) for n in _SIZES)
    assert more < 2.5 * less, (less, more)


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
