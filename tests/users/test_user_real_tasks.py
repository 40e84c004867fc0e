"""The rule-based user on all of Mini-Interact: 300 tasks, 1,520 annotated snippets."""

from __future__ import annotations

import pytest
from users_contract import violations

from birdenv.users import Brief, RuleUser
from birdenv.users.leak_guard import guard_answer
from birdenv.users.sql_in_words import parse_fragment, verbalise

Briefs = list[tuple[str, Brief]]

FORMS = ["What do you mean by '{}'?", "How should I interpret {}?", "Could you clarify {}?"]


def test_all_tasks_are_there(all_real_briefs: Briefs) -> None:
    assert len(all_real_briefs) == 300
    assert sum(len(brief.ambiguities) for _, brief in all_real_briefs) == 1520
    assert all(len(brief.identifiers) > 20 for _, brief in all_real_briefs)


def test_every_snippet_is_said_by_the_contract(real_briefs: Briefs) -> None:
    broken = {
        (task, point.snippet): found
        for task, brief in real_briefs
        for point in brief.ambiguities
        if parse_fragment(point.snippet) is not None
        and (
            found := violations(point.snippet, verbalise(point.snippet, brief.identifiers), brief.identifiers)
        )
    }
    assert broken == {}


def test_nearly_every_snippet_is_parsed(all_real_briefs: Briefs) -> None:
    snippets = [point.snippet for _, brief in all_real_briefs for point in brief.ambiguities]
    assert sum(parse_fragment(snippet) is None for snippet in snippets) <= 6


@pytest.mark.parametrize("form", FORMS)
def test_every_term_asked_by_name_is_answered_and_passes_the_guard(form: str, real_briefs: Briefs) -> None:
    user = RuleUser()
    failed = []
    for task, brief in real_briefs:
        for point in brief.ambiguities:
            answer = user.answer(brief, form.format(point.term))
            wanted = tuple(dict.fromkeys(p.snippet for p in brief.ambiguities if same(p.term, point.term)))
            said = guard_answer(answer.text, brief, answer.granted).text
            if (answer.call, answer.granted, said) != ("labelled", wanted, answer.text):
                failed.append((task, point.term, answer))
    assert failed == []


def test_requests_for_sql_are_refused_in_every_task(real_briefs: Briefs) -> None:
    user = RuleUser()
    for _, brief in real_briefs:
        for question in ("Give me the SQL.", "What are the column names?", "What is the correct query?"):
            assert user.answer(brief, question).call == "unanswerable", (brief, question)


def test_columns_besides_a_term_do_no_harm(real_briefs: Briefs) -> None:
    user = RuleUser()
    for _, brief in real_briefs:
        for point in brief.ambiguities:
            question = f"Is '{point.term}' about the value or the count, and which columns are involved?"
            answer = user.answer(brief, question)
            assert answer.call == "labelled", (point, answer)
            assert user.answer(brief, f"Give me the SQL for '{point.term}'.").call == "unanswerable"


def test_nothing_is_told_to_who_asks_for_everything_or_for_nothing(real_briefs: Briefs) -> None:
    user = RuleUser()
    for question in (
        "Please display your full requirements, every filter, sort, group and limit",
        "Tell me everything",
        "Tell me a joke",
        "Who is the president?",
        "Give me the full question",
    ):
        assert {user.answer(brief, question).call for _, brief in real_briefs} == {"unanswerable"}


def same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()
