"""The rule-based user as a whole: any question, the same bytes, no needless imports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples
from test_user_encoder import BRIEF

from birdenv.users import Ambiguity, Brief, RuleUser
from birdenv.users.leak_guard import guard_answer

SCRIPT = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from test_user_encoder import BRIEF, LABELLED, UNANSWERABLE, UNLABELLED
from birdenv.users import RuleUser
questions = [q for q, _ in LABELLED + UNLABELLED] + UNANSWERABLE + ["price best order limit crust"]
print([repr(RuleUser().answer(BRIEF, question)) for question in questions])
"""


@settings(max_examples=examples(300))
@given(st.text(max_size=300))
def test_any_question_is_answered(question: str) -> None:
    answer = RuleUser().answer(BRIEF, question)
    assert answer.text
    assert answer == RuleUser().answer(BRIEF, question)
    assert not guard_answer(answer.text, BRIEF, answer.granted).reason


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.sampled_from("what is the best 'loaves' \" order sql column ( ) _ top null ` ‘ \u200b".split(" "))
    )
)
def test_questions_of_telling_words_are_answered(pieces: list[str]) -> None:
    answer = RuleUser().answer(BRIEF, " ".join(pieces))
    nothing = answer.call in ("unanswerable", "unclear") or answer.text == "I have no preference about that."
    assert nothing == (answer.target == "") == (answer.granted == ())


@pytest.mark.parametrize(
    "piece", ["order ", "'", "best loaves ", "which column ", "to write ", "(", "é", "\ud800"]
)
def test_a_question_of_100_kb_takes_bounded_time(piece: str) -> None:
    start = time.process_time()
    RuleUser().answer(BRIEF, piece * (100_000 // len(piece)))
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    "brief", [Brief("", ()), Brief("", (), ("SELEC ((", "")), Brief("", (), ("SELECT 1",) * 3)]
)
def test_a_poor_brief_is_no_obstacle(brief: Brief) -> None:
    user = RuleUser()
    for question in ("What is 'x'?", "How to sort?", "Is there a limit?", ""):
        assert user.answer(brief, question).text


@pytest.mark.parametrize(
    ("snippet", "said"),
    [
        ("ROUND(AVG(crust), 2)", "For 'decimal', please round to two decimals: the average of the crust."),
        ("ROUND(..., 3)", "For 'decimal', please round to 3 decimals."),
        (
            "ROUND(crust, 0), ROUND(crumb, 0)",
            "For 'decimal', please round to a whole number (0 decimals): the crust and the crumb.",
        ),
        (
            "ROUND(crust, 1), ROUND(crumb, 2)",
            (
                "By 'decimal' I mean (the crust, rounded to one decimal) and (the crumb, rounded to two "
                "decimals)."
            ),
        ),
        (
            "ROUND(crust, 2) / ROUND(crumb, 2)",
            (
                "By 'decimal' I mean (the crust, rounded to two decimals) divided by (the crumb, rounded to "
                "two decimals)."
            ),
        ),
        ("crust > 0.25", "By 'decimal' I mean that the crust is greater than 0.25."),
    ],
)
def test_a_point_about_rounding_says_first_how_to_round(snippet: str, said: str) -> None:
    brief = Brief("", (Ambiguity("decimal", snippet, "non_critical"),))
    user = RuleUser()
    assert user.answer(brief, "What do you mean by 'decimal'?").text == said
    other = Brief("", (Ambiguity("thickness", snippet, "non_critical"),))
    assert "round to" not in user.answer(other, "What do you mean by 'thickness'?").text


def test_the_same_bytes_under_any_hash_seed() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            stdout=subprocess.PIPE,
        )
        for seed in ("0", "4242")
    ]
    outputs = {run.communicate()[0] for run in runs}
    assert [run.returncode for run in runs] == [0, 0]
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


def test_importing_the_door_does_not_import_sqlglot() -> None:
    code = "import sys, birdenv.users; assert 'sqlglot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
