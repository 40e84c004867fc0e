"""Follow-ups in a dialogue: about the bound of what was told, its values, and earlier points.

SQLite works out whether a yes is true, from the annotated snippets of the demo and of Mini-Interact where it
is at hand.
"""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from types import SimpleNamespace

import pytest
from birdenv_baselines.user_questions._questions import load_briefs as load_demo_briefs

import birdenv
from birdenv.dialogue.arena import Arena
from birdenv.users import ASKING_BACK, Ambiguity, Brief
from birdenv.users._claims import says
from birdenv.users._conversation import Conversation
from birdenv.users._facts import values_beside
from birdenv.users._proposal import agreed
from birdenv.users._rule_player import RulePlayer
from birdenv.users._unrestricted import offers_a_choice
from birdenv.users.decoder import OUT_OF_SCOPE
from birdenv.users.understanding import Choice, take_apart, understand
from birdenv.users.understanding._word_forms import GENERIC_STEMS

DEMO = load_demo_briefs(None)


@cache
def game() -> Arena:
    return birdenv.make_game("c-interact", patience=20)


def talk(task: str, *questions: str) -> list[str]:
    """The user's answers to some questions in a row."""
    with game().episode(task) as episode:
        for question in questions:
            episode.act("clarify", question)
        return [event.data for event in episode.events if event.action == "answer"]


def last(task: str, *questions: str) -> str:
    return talk(task, *questions)[-1]


COMPARED = re.compile(r"(?P<left>[^<>=']+) (?P<sign>>=|<=|>|<) (?P<bound>'[\d:-]+'|\d+(?:\.\d+)?)")
LISTED = re.compile(r"[\w.]+ (?:IN \((?:'[^']+'(?:, )?)+\)|(?:=|<>) '[^']+')")


def told(item: Ambiguity) -> Choice:
    return Choice("labelled", item.term, (item,))


def points(briefs: list[tuple[str, Brief]], pattern: re.Pattern[str]) -> list[tuple[Brief, Ambiguity]]:
    found = [(brief, item) for _, brief in briefs for item in brief.ambiguities]
    return [(brief, item) for brief, item in found if pattern.fullmatch(item.snippet)]


def is_true(sql: str) -> bool:
    with sqlite3.connect(":memory:") as connection:
        return bool(connection.execute(f"SELECT {sql}").fetchone()[0])


def check_bounds(briefs: list[tuple[str, Brief]]) -> int:
    """Ask about each bound and its neighbours; return the number of answers that begin with yes or no."""
    decided = 0
    for brief, item in points(briefs, COMPARED):
        match = COMPARED.fullmatch(item.snippet)
        assert match is not None
        bound = match["bound"]
        near = [bound] if "'" in bound else [bound, str(float(bound) + 1), str(float(bound) - 1)]
        for value in near:
            holds = is_true(f"{value} {match['sign']} {bound}")
            shown = value.strip("'")
            for question, yes in (
                (f"Does exactly {shown} count?", holds),
                (f"So {shown} itself is left out?", not holds),
            ):
                said = agreed(take_apart(question), told(item), brief)
                is_in = f"{shown} itself is {'' if holds else 'not '}included"
                assert said == is_in or not said or said.startswith("Yes" if yes else "No"), (item, said)
                decided += bool(said)
        said = agreed(take_apart("Is that threshold inclusive?"), told(item), brief)
        is_grouped = item.snippet.upper().startswith("GROUP BY")  # has a second clause, so it gets no verdict
        assert is_grouped or said.startswith("Yes") == ("=" in match["sign"]), (item.snippet, said)
    return decided


def check_values(briefs: list[tuple[str, Brief]]) -> int:
    decided = 0
    for brief, item in points(briefs, LISTED):
        column = item.snippet.split()[0]
        for value in re.findall(r"'([^']+)'", item.snippet):
            holds = is_true(item.snippet.replace(column, f"'{value}'", 1))
            for question, yes in (
                (f"So those that are '{value}' are left out?", not holds),
                (f"Do the '{value}' ones count as well?", holds),
            ):
                said = agreed(take_apart(question), told(item), brief)
                assert not said or said.startswith("Yes") == yes, (question, item.snippet, said)
                decided += bool(said)
    return decided


def test_yes_and_no_are_no_values_that_a_question_names() -> None:
    meanings = {"trained": "'yes' or 'no'"}
    assert values_beside("b.trained = 'yes'", meanings) == frozenset()


def test_a_value_at_the_bound_is_in_if_the_gold_lets_it_in() -> None:
    demo = list(DEMO.items())
    assert check_bounds(demo) > 40
    assert check_values(demo) > 30


def test_bounds_and_values_of_the_real_tasks(all_real_briefs: list[tuple[str, Brief]]) -> None:
    assert check_bounds(all_real_briefs) > 100
    assert check_values(all_real_briefs) > 15


@pytest.mark.parametrize(
    ("task", "first", "question", "begins"),
    [
        ("library_5", "When is a branch big?", "Is that limit inclusive?", "Yes. 700 itself is included."),
        ("library_5", "When is a branch big?", "So 699 is out?", "Yes."),
        ("library_4", "When is a return late?", "Thanks. Does exactly 2 days count?", "No. 2 itself"),
        ("library_4", "When is a return late?", "so 3 days is late?", "Yes."),
        ("library_4", "When is a return late?", "one exactly at that limit?", "2 itself is not"),
        ("bikeshare_1", "What is an old bike?", "Does one bought on 1 January 2023 count?", "No."),
        ("bikeshare_1", "What is an old bike?", "Would one of 3 May 2021 be included?", "Yes."),
        ("bikeshare_4", "When is a trip late?", "Is one right at that minute in?", "Yes. 16:00 itself"),
        ("bikeshare_6", "When is summer?", "So October is out?", "Yes."),
        ("bikeshare_6", "When is summer?", "Is May 2024 in?", "Yes."),
        ("coop_M_1", "What does margin rate mean?", "is 1% in?", "Yes."),
        ("bikeshare_2", "Who is a regular rider?", "So only those two?", "Yes."),
        ("bikeshare_2", "Who is a regular rider?", "are monthly ones left out?", "No."),
        ("library_5", "How is turnover computed?", "So damaged copies are left out as well?", "Yes."),
        ("library_3", "Who are senior members?", "So before 2022-01-01 is out?", "No."),
        ("bikeshare_4", "When is a trip late?", "before 16:00 is out?", "Yes. 16:00 itself is included."),
        ("library_1", "What does roomy mean?", "So fewer than 40 seats is out?", "Yes."),
        ("library_3", "Who are senior members?", "And 2022-01-01?", "2022-01-01 itself is not included."),
        ("library_4", "When is a return late?", "Is 1,000 days late?", "Yes."),
        ("bikeshare_2", "What is a brisk ride?", "Does 20 km/h count?", "Yes."),
        ("library_5", "How is turnover computed?", "Are damaged copies part of that number?", "No."),
        ("library_1", "What does roomy mean?", "are 50 seats allowed?", "Yes."),
        ("library_4", "When is a return late?", "is 2 days ok?", "No. 2 itself"),
        ("library_8", "Which copies are old?", "is a copy bought on 2020-05-05 ok?", "Yes."),
        ("coop_8", "Which households are new?", "so not before 2020-09-01?", "Yes."),
        ("bikeshare_M_1", "Which bikes are active?", "only those in service?", "No."),
        ("bikeshare_2", "What is a brisk ride?", "so 14 km per hour?", "Yes."),
        ("bikeshare_9", "Which stations are too large for their use?", "so at least 9?", "Yes."),
        ("library_9", "How do I round?", "so 1 decimal?", "Yes."),
        ("coop_5", "What is really sold?", "Do refunded orders count?", "No."),
        ("coop_5", "What is really sold?", "Just to be sure: pending ones are left out?", "Yes."),
        ("coop_5", "What is really sold?", "Should I include cancelled ones or leave them out?", "They"),
        ("library_4", "Which branches are central?", "Westside is not central, is it?", "Yes."),
        ("coop_8", "What is a proper order?", "Do pending orders count as proper?", "Yes."),
        ("library_8", "When does nobody take it out?", "Is one last lent on 2023-07-01 in the list?", "No."),
        ("bikeshare_9", "When is it too large?", "Are closed stations left out?", "Yes."),
    ],
)  # fmt: skip
def test_a_follow_up_that_proposes_gets_yes_or_no(task: str, first: str, question: str, begins: str) -> None:
    assert last(task, first, question).startswith(begins)


@pytest.mark.parametrize(
    ("task", "question", "begins"),
    [
        ("library_4", "so 3 days is late?", "Yes."),
        ("library_4", "Is 2 days already late?", "No. 2 itself is not"),
        ("library_3", "Are senior members those who joined after 2022-01-01?", "No."),
        ("bikeshare_M_3", "Does a weak battery include exactly 40 percent?", "No. 40 itself is not"),
        ("bikeshare_4", "Is late in the day from 16:00 on?", "Yes."),
    ],
)
def test_a_proposal_in_a_first_question_gets_yes_or_no(task: str, question: str, begins: str) -> None:
    assert last(task, question).startswith(begins)


@pytest.mark.parametrize(
    ("task", "first", "question"),
    [
        ("library_4", "When is a return late?", "does exactly 2 weeks count?"),
        ("library_1", "How is the wear index computed?", "do worn copies count as well?"),
        ("bikeshare_8", "When is a bike idle?", "are trips since 2024-01-01 in?"),
        ("library_6", "What does popular mean?", "do titles borrowed exactly on a Monday count?"),
        ("library_3", "Who are senior members?", "after 2021-12-31 is out?"),
        ("library_3", "Who are senior members?", "Does 16:00 count?"),
        ("bikeshare_4", "When is a trip late?", "Does 2023-05-01 count?"),
        ("coop_8", "Which households are new?", "joined before 2021-01-01 are in?"),
        ("bikeshare_6", "When is summer?", "Are trips after May in?"),
        ("library_1", "What does roomy mean?", "So 40 itself is not left out?"),
        ("library_1", "What does roomy mean?", "Does only 50 count?"),
        ("bikeshare_7", "Who are out-of-town riders?", "Is everyone except Northfield included?"),
        ("bikeshare_7", "Who are out-of-town riders?", "are those not from Northfield left out?"),
        ("coop_8", "What is a proper order?", "are non-cancelled ones out?"),
        ("coop_3", "When is a product in short supply?", "So both are left out?"),
        ("coop_3", "When is a product in short supply?", "Should I show both columns?"),
        ("library_4", "When is a return late?", "Is 1 week late?"),
        ("library_5", "When is a branch big?", "Does seven hundred count?"),
        ("bikeshare_2", "What is a brisk ride?", "Does a 20 km trip count?"),
        ("library_3", "Who are senior members?", "Do those who returned it on 2021-05-01 count?"),
        ("library_4", "How do I round?", "2 decimals?"),
        ("library_3", "Who are the debtors?", "5 in waived fines counts?"),
        ("library_6", "Who are younger readers?", "is it junior only, or also student?"),
        ("library_6", "Who are younger readers?", "aren't students included?"),
        ("library_6", "Who are younger readers?", "do students not count?"),
        ("bikeshare_1", "Are costs blank?", "above 0.12?"),
        ("bikeshare_2", "What is a brisk ride?", "so 14 km per minute?"),
        ("bikeshare_3", "What are main stations?", "is a drain of 20 in?"),
        ("bikeshare_8", "When is a bike idle?", "is a trip on 2024-01-01 ok?"),
        ("bikeshare_9", "Which stations are too large for their use?", "is a station with 9 docks in?"),
        ("bikeshare_9", "Which stations are too large for their use?", "9 docks more than trips?"),
        ("coop_2", "How is the margin rate computed?", "below 30 percent?"),
        ("coop_5", "What is really sold?", "Just collected, no pending ones?"),
        ("coop_5", "What is really sold?", "Are collected or refunded ones included?"),
        ("coop_M_3", "Which orders are dead?", "Do cancelled orders stay?"),
        ("coop_M_3", "Which orders are dead?", "Are pending ones kept?"),
        ("library_M_2", "Which fines are settled?", "Not only paid but also waived ones?"),
        ("library_M_2", "Which fines are settled?", "It is not just paid fines, is it?"),
        ("library_M_2", "Which fines are settled?", "Should open fines be deleted?"),
        ("library_M_3", "What are outstanding items?", "Should returned loans be shown?"),
        ("coop_8", "What is a proper order?", "Are households without orders shown?"),
        ("coop_8", "What is a proper order?", "Are cancelled, refunded and pending orders left out?"),
        ("coop_M_3", "Which orders are dead?", "Is it enough that an order is cancelled?"),
        ("coop_3", "When is a product in short supply?", "Does short supply mean stock is 0?"),
        ("coop_4", "Which are current households?", "Do ex-members count?"),
        ("coop_5", "What is really sold?", "Are pending orders ignored and refunded ones included?"),
        ("coop_5", "What is really sold?", "Are no pending ones included?"),
        ("bikeshare_6", "When is summer?", "Should it not be sorted in descending order?"),
        ("bikeshare_8", "When is a bike idle?", "Should each model not appear only once?"),
        ("bikeshare_9", "When is it too large?", "Should the docks be left out?"),
        ("bikeshare_7", "What happens to trips with no rating?", "Are trips under 5 km in?"),
        ("library_M_3", "What are outstanding items?", "These are loans that were not returned, right?"),
        ("bikeshare_M_1", "Which bikes are active?", "Should all bikes be retired?"),
    ],
)  # fmt: skip
def test_what_the_gold_does_not_decide_gets_neither_yes_nor_no(task: str, first: str, question: str) -> None:
    brief = DEMO[task]
    assert agreed(take_apart(question), understand(brief, first), brief) == ""


@pytest.mark.parametrize(
    ("sql", "question", "said"),
    [
        ("ROUND(AVG(o.basket), 2)", "Two decimals, correct?", "Yes"),
        ("ROUND(AVG(o.basket), 2)", "Should the basket have one decimal?", "No"),
        ("ROUND(AVG(o.basket), 2) AS basket", "Shall I round to 2 digits after the point?", "Yes"),
        ("ROUND(AVG(o.basket), 2)", "Should I avoid two decimals?", ""),
        ("ROUND(AVG(o.basket), 2)", "Should the height have 2 decimals?", ""),
        ("ROUND(AVG(o.basket), 2)", "Do you need more than 2 decimals?", ""),
        ("ROUND(ROUND(AVG(o.basket), 1))", "Is it one decimal?", "No"),
        ("ROUND(AVG(o.basket), 2) * 1.5", "Is it 2 decimals?", ""),
    ],
)
def test_a_proposal_of_decimals_is_judged_by_the_rounding_of_the_result(
    sql: str, question: str, said: str
) -> None:
    brief = Brief("", (), identifiers=frozenset(["basket", "height"]))
    assert agreed(take_apart(question), told(Ambiguity("rounded", sql, "non_critical")), brief) == said


def test_a_question_that_waits_may_be_asked_for_by_saying_that_it_was_not_answered() -> None:
    listed = "1. What is badly wanted? 2. How many rows? 3. How is the urgency score computed?"
    reminder = "You have not answered my third question yet. Could you please do so now?"
    assert "reorder level" in last("coop_M_2", listed, reminder)


def test_that_the_kept_conditions_have_a_not_is_no_reason_for_a_no() -> None:
    question = (
        "Are those the products of the first request: organic, not discontinued, a margin rate below 0.3?"
    )
    assert not follow_up("coop_2", question).startswith("No")
    assert follow_up("coop_4", "is exactly 1 in?").startswith("Yes")


def test_a_figure_beside_all_columns_that_are_shown_gets_no_yes() -> None:
    answer = follow_up("coop_4", "Should the ratio be shown next to the name and share_paid?")
    assert answer.startswith("Show only the name")


def test_a_second_question_after_or_offers_a_choice() -> None:
    assert offers_a_choice("is it meant literally, or should only collected ones count?")
    assert not offers_a_choice("are closed or seasonal stations left out?")


def test_one_of_two_numbers_is_no_bound_that_is_wrong() -> None:
    asked = take_apart("Is the new minimum of 3 replacing the old one of 4?")
    assert (
        agreed(asked, told(Ambiguity("unusual", "HAVING SUM(renewals) >= 3", "critical")), Brief("", ()))
        == ""
    )


def test_a_table_that_a_proposal_names_does_not_make_it_wrong() -> None:
    assert not last("library_M_1", "Who are debtors?", "so fines of at least 5?").startswith("No")


def test_a_value_in_the_sentence_before_the_question_may_be_no_bound() -> None:
    question = "And a book that came back exactly two days after it was due, would that be late by this?"
    assert last("library_4", "What counts as a late return?", question).startswith("2 itself is not")
    for bound in ("More than 40", "Under 40"):
        assert last("library_1", f"{bound} seats, is that roomy?").startswith("By 'roomy branches'")


def test_that_none_has_a_value_is_no_proposal_that_the_value_counts() -> None:
    follow_up = DEMO["library_M_1+follow-up"]
    (part,) = Conversation(follow_up).understand("Do tiers with zero suspended cards need a row?")
    assert part.asked is not None and part.choice is not None
    assert agreed(part.asked, part.choice, follow_up) == "No"


def test_an_earlier_point_with_the_number_is_meant_if_the_last_one_has_none() -> None:
    answer = last(
        "coop_M_2", "Which products are badly wanted?", "How do I get the score in it?", "is exactly 10 in?"
    )
    assert answer.startswith("10 itself is included.")


def test_each_of_two_questions_after_an_answer_is_understood_with_it() -> None:
    answer = last("library_9", "Which books are recent?", "Is that date inclusive? And how do I round?")
    assert "Yes. 2022-01-01 itself is included." in answer
    assert "round to one decimal" in answer


def test_what_remains_is_told_only_if_a_word_of_it_is_said() -> None:
    assert "0.5" not in last("bikeshare_4", "When is a trip late?", "And what about the remaining one?")
    first, second = talk(
        "bikeshare_4", "When is a trip late?", "And the remaining trips, from which fare on?"
    )
    assert "16:00" in first
    assert "0.5" in second and "16:00" not in second


@pytest.mark.parametrize(
    "question",
    [
        "Show me the SQL for that.",
        "Which table is that in?",
        "what's the column of the second factor called in the database?",
        "Thanks. Please print the reference query.",
        "so the WHERE clause is what exactly?",
    ],
)
def test_what_is_never_told_stays_so_in_a_follow_up(question: str) -> None:
    assert last("coop_3", "How does the urgency score work?", question) == OUT_OF_SCOPE


@pytest.mark.parametrize(
    "question", ["And the second factor?", "is that inclusive?", "does exactly 10 count?"]
)
def test_a_follow_up_before_any_answer_is_asked_back(question: str) -> None:
    assert last("coop_3", question).startswith(ASKING_BACK)


def test_a_first_question_is_understood_as_if_there_were_no_conversation() -> None:
    questions = [
        "So damaged copies are left out?",
        "Thanks. And the second factor in that, how is it computed?",
        "Does exactly 2 count?",
        "just to confirm, you mean the annual ones and not the monthly ones?",
    ]
    for brief in list(DEMO.values())[::4]:
        for question in questions:
            (part,) = Conversation(brief).understand(question)
            assert part.choice == understand(brief, question)


def test_a_question_that_names_what_it_is_about_is_no_follow_up() -> None:
    for brief in [one for one in DEMO.values() if one.ambiguities][::3]:
        conversation = Conversation(brief)
        (part,) = conversation.understand(f"What do you mean by '{brief.ambiguities[0].term}'?")
        assert part.choice is not None
        conversation.remember(part.choice)
        for word in set(re.findall(r"[A-Za-z]{4,}", brief.request)):
            question = f"What do you mean by '{word}'?"
            asked = take_apart(question)
            if "refers" not in says(asked.text) and not GENERIC_STEMS.issuperset(asked.content):
                (part,) = conversation.understand(question)
                assert part.choice == understand(brief, question), question


def test_all_that_a_follow_up_keeps_of_the_first_request_is_told_together() -> None:
    kept = "SELECT {} FROM bikes AS b WHERE b.bought < '2023-01-01' AND b.state = 'idle'"
    gold = kept.format("b.kind") + " AND b.battery < 40"
    brief = Brief(
        "", (), (gold,), request="Now the kinds of those.", earlier_gold=(kept.format("b.bike_id"),)
    )

    def granted(question: str) -> list[str]:
        (part,) = Conversation(brief).understand(question)
        return list(part.choice.granted()) if part.choice else []

    both = ["WHERE b.bought < '2023-01-01'", "WHERE b.state = 'idle'"]
    assert granted("Do the conditions of the first request still apply?") == both
    assert granted("Which of the earlier filters should I keep?") == both
    assert granted("When you say 'those', do you mean the idle bikes from before?") == both
    for other in (
        "Write the SQL with all conditions of the first request.",
        "Which columns do the earlier conditions use?",
        "Is the output sorted as in the first request?",
    ):
        assert granted(other) == []


def test_conditions_of_two_statements_are_not_told_as_if_both_held() -> None:
    gold = "SELECT kind FROM bikes WHERE state = 'idle' UNION SELECT kind FROM bikes WHERE age > 3"
    brief = Brief("", (), (gold,), request="Now the kinds.", earlier_gold=(gold.replace("kind", "bike_id"),))
    (part,) = Conversation(brief).understand("Do the conditions of the first request still apply?")
    assert part.choice is not None and len(part.choice.granted()) < 2


def follow_up(task: str, question: str) -> str:
    """The user's answer to a first question about a follow-up."""
    player = RulePlayer([DEMO[f"{task}+follow-up"]])
    return player.move(SimpleNamespace(phase=1, heard=[], message=question)).data


@pytest.mark.parametrize(
    ("task", "question", "told", "untold"),
    [
        ("coop_3", "Keep the same: stock below the reorder level, not discontinued, and at least 8?", 3, ""),
        ("library_7", "Do you still want only fines for damage or loss issued in 2022 and 2023?", 2, ""),
        ("coop_6", "Is it still only perishable products?", 1, "cancelled"),
    ],
)
def test_conditions_that_a_follow_up_keeps_are_told_together(
    task: str, question: str, told: int, untold: str
) -> None:
    answer = follow_up(task, question)
    assert answer.count("only cases where") == told
    assert not untold or untold not in answer


def test_all_that_meet_a_kept_condition_are_not_all_there_are() -> None:
    assert not follow_up("bikeshare_M_1", "Should I count all the bikes that are retired?").startswith("No")
    assert follow_up("bikeshare_M_1", "Should I count the bikes that are retired?").startswith("Yes")


def test_only_alone_asks_for_no_further_condition_that_is_kept() -> None:
    answer = follow_up("library_2", "Just the junior ones?")
    assert answer.startswith("No.") and answer.count("only cases where") == 1


def test_at_once_does_not_ask_for_duplicates() -> None:
    assert "duplicates" not in last(
        "bikeshare_8", "What is idle?", "Do both of these conditions have to be met at once?"
    )


def test_a_repeated_answer_is_the_first_one_with_a_lead() -> None:
    first, again = talk("library_4", "When is a return late?", "When is a return late?")
    assert again == f"To say it once more: {first}"
    player = RulePlayer([DEMO["coop_2+follow-up"]])
    questions = ("Which products are natural?", "Which products again?")
    said = [player.move(SimpleNamespace(phase=1, heard=[], message=one)).data for one in questions]
    assert said[1] == said[0] or "once more" not in said[1]  # it tells more
