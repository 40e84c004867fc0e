"""Proposals of formulas, of joined conditions, and of what stands in for missing values.

A yes is checked against the syntax tree of every annotated snippet of the demo, and of Mini-Interact where it
is at hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from birdenv_baselines.user_questions._questions import load_briefs as load_demo_briefs
from sqlglot import exp

import birdenv
from birdenv.users import Ambiguity, Brief
from birdenv.users._formulas import is_same_formula
from birdenv.users._proposal import agreed
from birdenv.users.sql_in_words import fragment_dialect, in_words, parse_fragment
from birdenv.users.understanding import Choice, take_apart

DEMO = load_demo_briefs(None)

Briefs = list[tuple[str, Brief]]


def verdict(question: str, item: Ambiguity, brief: Brief) -> str:
    return agreed(take_apart(question), Choice("labelled", item.term, (item,)), brief)


def last(task: str, *questions: str) -> str:
    with birdenv.make_game("c-interact", patience=20).episode(task) as episode:
        for question in questions:
            episode.act("clarify", question)
        return str([event.data for event in episode.events if event.action == "answer"][-1])


def items(briefs: Briefs) -> Iterator[tuple[Brief, Ambiguity, exp.Expression]]:
    for _, brief in briefs:
        for item in brief.ambiguities:
            if (tree := parse_fragment(item.snippet)) is not None:
                yield brief, item, tree


def check_formulas(briefs: Briefs) -> int:
    """Propose each quotient and difference as it is and the other way round; return the number of yeses."""
    yeses = 0
    for brief, item, tree in items(briefs):
        node = next(tree.find_all(exp.Div, exp.Sub), None)
        if node is None or node.this.sql() == node.expression.sql():
            continue
        told = in_words(item.snippet, brief).text
        yeses += is_same_formula(f"is it {told}?", told, set())
        turned = tree.copy()
        found = next(turned.find_all(exp.Div, exp.Sub))
        left, right = found.this.copy(), found.expression.copy()
        found.set("this", right)
        found.set("expression", left)
        words = in_words(turned.sql(dialect=fragment_dialect()), brief).text
        assert not is_same_formula(f"is it {words}?", told, set()), (words, told)
    return yeses


def test_a_formula_is_agreed_to_and_its_reverse_is_not(all_real_briefs: Briefs) -> None:
    assert check_formulas(list(DEMO.items())) > 3
    assert check_formulas(all_real_briefs) > 20


def check_joined(briefs: Briefs) -> int:
    checked = 0
    for brief, item, tree in items(briefs):
        body = tree.args["where"].this if tree.args.get("where") else tree
        if not isinstance(body, exp.And | exp.Or) or len(list(tree.find_all(exp.And, exp.Or))) != 1:
            continue
        said = verdict("Do both have to hold, or is one of them enough?", item, brief)
        assert said == ("All of them must hold" if isinstance(body, exp.And) else "One of them is enough"), (
            item
        )
        checked += 1
    return checked


def test_whether_both_conditions_must_hold(all_real_briefs: Briefs) -> None:
    assert check_joined(list(DEMO.items())) > 2
    assert check_joined(all_real_briefs) > 20


def check_filled(briefs: Briefs) -> int:
    checked = 0
    for brief, item, tree in items(briefs):
        calls = [one for one in tree.find_all(exp.Anonymous) if one.name.upper() == "COALESCE"]
        if isinstance(tree, exp.Select) or len(calls) != 1 or not calls[0].expressions[-1].is_number:
            continue
        value = float(calls[0].expressions[-1].name)
        for proposed in (0, 1, 7):
            said = verdict(f"Should missing values count as {proposed}?", item, brief)
            assert said == ("Yes" if proposed == value else "No"), (item, proposed)
        assert verdict("Should missing values count as 0, or as 1?", item, brief) == ""
        checked += 1
    return checked


def test_what_stands_in_for_missing_values(all_real_briefs: Briefs) -> None:
    assert check_filled(list(DEMO.items())) > 0
    assert check_filled(all_real_briefs) > 10


@pytest.mark.parametrize(
    ("task", "questions", "begins"),
    [
        ("bikeshare_1", ["How is the cost burden computed? Is it total cost divided by price?"], ""),
        ("bikeshare_1", ["Is the cost burden the total repair cost divided by purchase price?"], "Yes."),
        ("bikeshare_1", ["cost burden = purchase price divided by total cost?"], "By 'cost burden'"),
        ("coop_5", ["Is the amount the sum of quantity times price paid?"], "Yes."),
        ("coop_5", ["Is the amount the sum of quantity plus price paid?"], "By 'amount'"),
        ("bikeshare_1", ["Should blank costs be treated as zero?"], "Yes."),
        ("bikeshare_1", ["Should blank costs be counted as 100?"], "No."),
        ("library_6", ["younger readers: juniors only?"], "No."),
        ("library_5", ["In the turnover, are damaged copies counted, or left out?"], "They are left out."),
        ("library_5", ["Do loans of damaged copies count in the turnover?"], "By 'turnover'"),
        (
            "bikeshare_7",
            ["Are trips with no rating counted as 0, or are they left out?"],
            "They are left out.",
        ),
    ],
)
def test_answers_to_proposals(task: str, questions: list[str], begins: str) -> None:
    assert last(task, *questions).startswith(begins)


@pytest.mark.parametrize(
    ("task", "questions", "told"),
    [
        (
            "coop_5",
            ["What is the amount?", "What does 'really sell' mean?", "In the former, what is multiplied?"],
            "quantity times",
        ),
        (
            "library_5",
            ["How is turnover computed?", "When is a branch big?", "What about copies in that state?"],
            "copies",
        ),
        (
            "library_1",
            ["What does roomy mean?", "How is the wear index computed?", "Is 40 the bound?"],
            "40 seats",
        ),
    ],
)
def test_a_follow_up_is_about_the_answer_that_it_repeats(task: str, questions: list[str], told: str) -> None:
    assert told in last(task, *questions)


@pytest.mark.parametrize(
    ("task", "question", "told"),
    [
        (
            "library_M_3",
            "Which loans are outstanding items? In loans I see due_on, returned_on and a counter.",
            "returned",
        ),
        (
            "library_10",
            "I could leave the members in the order in which the database happens to return them, or put "
            "those with the most renewals first. Do you have a preference?",
            "no preference",
        ),
        ("bikeshare_4", "Thank you for the clear request! When is a trip late in the day?", "16:00"),
    ],
)
def test_a_fair_question_is_not_refused_because_of_a_word(task: str, question: str, told: str) -> None:
    assert told in last(task, question)
