"""The rule-based user in a conversation: memory, proposals, questions back, and users that differ."""

from __future__ import annotations

import pytest

import birdenv
from birdenv.errors import InputError
from birdenv.users import ASKING_BACK, Brief
from birdenv.users._proposal import agreed
from birdenv.users._rule_player import NO_TIME, UNSURE, misremembered
from birdenv.users.segments import Segment
from birdenv.users.understanding import Choice, take_apart


def talk(task: str, *questions: str, user: str = "rule", profile: str = "strict") -> list[str]:
    """The user's answers to some questions in a row."""
    with birdenv.make_game("c-interact", user=user, profile=profile).episode(task) as episode:
        for question in questions:
            episode.act("clarify", question)
        return [event.data for event in episode.events if event.action == "answer"]


def verdict(question: str, *snippets: str, clause: str = "where") -> str:
    """What the user says to a proposal about some pieces of SQL."""
    brief = Brief("", (), (), frozenset({"station_id", "bike_id", "month", "fare"}))
    parts = tuple(Segment(f"{number}", clause, sql) for number, sql in enumerate(snippets))
    return agreed(take_apart(question), Choice("unlabelled", "0", (), parts), brief)


def test_a_remark_that_wonders_about_a_point_is_a_question() -> None:
    both = "Can 'late in the day' mean the evening? I also wonder about 'premium trips'."
    first, second = talk("bikeshare_4", both, "and the second one?")
    assert "16:00" in first and "0.5" in first
    assert "0.5" in second and "16:00" not in second


def test_two_questions_in_one_are_both_answered() -> None:
    (text,) = talk("bikeshare_4", "When does late begin, and what is a premium trip?")
    assert "16:00" in text
    assert "0.5" in text


def test_what_waits_is_answered_when_it_is_asked_for() -> None:
    listed = "1. What is a premium trip? 2. When does late begin? 3. How many rows do you want?"
    _, third = talk(
        "bikeshare_4", listed, "You said that the third one has to wait. Could you answer it now?"
    )
    assert "limit" in third


def test_of_two_points_told_at_once_one_can_be_asked_about_again() -> None:
    both = "What do you mean by central branches and late returns?"
    _, second, checked = talk("library_4", both, "and the second one?", "so more than 3 days?")
    assert "more than 2 days" in second and "district" not in second
    assert checked.startswith("No.") and "2 days" in checked and "district" not in checked


def test_a_question_about_what_was_just_told_is_understood() -> None:
    first, second = talk("library_1", "What are roomy branches?", "yes, but above or at least?")
    assert "at least 40" in first
    assert "at least 40" in second
    assert first != second


def test_what_a_number_or_a_bound_proposes_is_about_what_was_told_last() -> None:
    first, out, bound = talk("library_1", "What are roomy branches?", "so 39 is out?", "or more?")
    assert "40" in first and "40" in out and "40" in bound
    assert talk("library_1", "so 39 is out?")[0] == ASKING_BACK


def test_what_is_said_again_says_the_same() -> None:
    column, again = talk("bikeshare_M_2", "What is the new column called?", "What is the new column called?")
    assert column == again and "loyalty" in again
    _, again = talk("bikeshare_M_3", "Which state do I set?", "Which state do I set?")
    assert "set the state to 'in repair'" in again


def test_without_anything_told_a_reference_is_asked_back() -> None:
    assert talk("library_1", "yes, but above or at least?", "and the second one?") == [ASKING_BACK] * 2


@pytest.mark.parametrize(
    ("question", "snippets", "said"),
    [
        ("Should high mean above 0.35?", ["x > 0.35"], "Yes"),
        ("Is it those since 2023-01-01?", ["joined_on >= '2024-01-01'"], "No"),
        ("Is it those since 2024-01-01?", ["joined_on >= '2024-01-01'"], "Yes"),
        ("Should high mean above 0.35?", ["x >= 0.35"], "No"),
        ("So at least 50 seats?", ["seats >= 40"], "No"),
        ("So at most 39 seats?", ["seats < 40"], ""),
        ("So more than 38 seats?", ["seats >= 40"], "No"),
        ("Is it 35 percent?", ["x > 0.35"], "Yes"),
        ("Only junior members?", ["tier IN ('junior', 'student')"], "No"),
        ("Do only junior members count?", ["tier IN ('junior', 'student')"], "No"),
        ("Do junior and student members count?", ["tier IN ('junior', 'student')"], "Yes"),
        ("Is it 40 or 50 seats?", ["seats >= 40"], ""),
        ("What is it, 40?", ["seats >= 40"], ""),
        ("Is 3 right?", ["a = 3", "b = 4"], ""),
    ],
)
def test_proposals(question: str, snippets: list[str], said: str) -> None:
    assert verdict(question, *snippets) == said


SIDES = {
    ">=": (
        "on or after {}",
        "since {}",
        "from {} on",
        "{} or later",
        "starting from {}",
        "no earlier than {}",
    ),
    "<=": ("on or before {}", "until {}", "up to and including {}", "{} or before", "no later than {}"),
    ">": ("after {}", "strictly after {}", "later than {}"),
    "<": ("before {}", "earlier than the {}", "prior to {}"),
}


@pytest.mark.parametrize("moment", ["2022-01-01", "16:00"])
def test_a_proposal_of_a_date_or_time_names_its_side_of_the_bound(moment: str) -> None:
    for sign in SIDES:
        for proposed, phrases in SIDES.items():
            for phrase in phrases:
                asked = f"Do you mean those that began {phrase.format(moment)}?"
                found = verdict(asked, f"t.began {sign} '{moment}'")
                assert found == ("Yes" if proposed == sign else "No"), (asked, sign)


def test_a_proposal_may_ask_for_approval_at_its_end() -> None:
    ends = "right correct ok okay yes true agreed enough sufficient complete".split()
    for end in [*ends, "that's it", "that's all", "isn't it"]:
        assert verdict(f"40 seats or more, {end}?", "seats >= 40").startswith("Yes"), end


def test_a_proposal_is_answered_with_the_right_value() -> None:
    (text,) = talk("library_1", "Does roomy mean more than 50 seats?")
    assert text.startswith("No. ")
    assert "40" in text


def test_the_first_two_questions_back_are_free_and_a_third_is_not() -> None:
    with birdenv.make_game("c-interact").episode("library_1") as episode:
        left = []
        for _ in range(3):
            step = episode.act("clarify", "What is the threshold?")
            left.append(episode.view.gauges["turns_left"])
    assert left == [5, 5, 4]
    assert "cost you no question" not in step.text


@pytest.mark.parametrize("profile", ["shell", "adk"])
def test_the_reference_profiles_know_no_conversation(profile: str) -> None:
    answers = talk(
        "library_1", "What are roomy branches?", "What are roomy branches?", "above?", profile=profile
    )
    assert answers[0] == answers[1]
    assert answers[2] != ASKING_BACK


@pytest.mark.parametrize(
    "question", ["Can you confirm?", "Please confirm the number.", "Are you sure?", "Confirm?"]
)
def test_who_is_mistaken_corrects_himself_when_asked_to_confirm(question: str) -> None:
    wrong, right = talk("library_1", "What are roomy branches?", question, user="rule:mistaken")
    assert "41" in wrong and "40" in right


def test_users_that_differ() -> None:
    ask, confirm = "What does popular mean?", "So popular means 2 readers, right?"
    assert talk("library_6", confirm, user="rule:literal") == ["Yes."]
    vague, exact = talk("library_6", ask, ask, user="rule:vague")
    assert "2" not in vague
    assert "at least 2" in exact
    assert talk("library_6", ask, ask, user="rule:busy:1")[1] == NO_TIME
    wrong, right = talk("library_6", ask, "Popular means 3?", user="rule:mistaken")
    assert "at least 3" in wrong
    assert UNSURE in wrong
    assert "at least 2" in right
    assert talk("library_6", ask, user="rule:cooperative") == talk("library_6", ask)


@pytest.mark.parametrize("user", ["rule:kind", "rule:literal:2", "rule:busy:many"])
def test_an_unknown_temperament_is_an_error(user: str) -> None:
    with pytest.raises(InputError, match="rule"):
        talk("library_6", "What does popular mean?", user=user)


def test_only_compared_numbers_are_misremembered() -> None:
    assert misremembered("a >= 40") == "a >= 41"
    assert misremembered("a > 0.35") == "a > 0.351"
    assert misremembered("a * 100") is None


def test_a_proposal_with_the_wrong_number_of_columns_is_denied() -> None:
    assert verdict("three columns: name, area, ratio - right?", "name, ratio", clause="output") == "No"
    assert verdict("two columns, name and the figure, right?", "name, ratio", clause="output") == "Yes"


@pytest.mark.parametrize(
    ("question", "sql", "clause", "said"),
    [
        ("Is it one row for each station id?", "GROUP BY bike_id", "group", "No"),
        ("Is it one row for each bike?", "GROUP BY bike_id", "group", "Yes"),
        ("Is it one row for each bike?", "GROUP BY bike_id, month", "group", "No"),
        ("Should I show the fare?", "bike_id, COUNT(*)", "output", "No"),
        ("Should I show the bike id?", "bike_id, COUNT(*)", "output", "Yes"),
        ("Should I show just the bike id?", "bike_id, COUNT(*)", "output", "No"),
        ("Is it newest first?", "ORDER BY month DESC", "order", "Yes"),
        ("Should it be sorted by fare?", "ORDER BY month DESC", "order", "No"),
        ("Is there no limit?", "LIMIT 5", "limit", "No"),
        ("Must the fare be above 3?", "month > 3", "where", "No"),
        ("Does it use the column fare?", "month > 3", "where", ""),
        ("Should each appear once?", "DISTINCT", "distinct", "Yes"),
    ],
)
def test_a_proposal_of_a_column_is_compared_with_those_that_are_there(
    question: str, sql: str, clause: str, said: str
) -> None:
    assert verdict(question, sql, clause=clause) == said


@pytest.mark.parametrize(
    ("question", "sql", "clause", "said"),
    [
        ("Do waived fines count, too?", "status IN ('open', 'paid', 'waived')", "", "Yes"),
        ("Should rides without a rating be left out?", "t.rating IS NOT NULL", "", "Yes"),
        ("Should rides without a rating be included?", "WHERE rating IS NOT NULL", "where", "No"),
        ("Do you want the worst bike first?", "ORDER BY rate DESC", "order", ""),
        ("highest fare first?", "ORDER BY fare DESC", "order", "Yes"),
        ("lowest fare first?", "ORDER BY fare DESC", "order", "No"),
        ("newest first?", "ORDER BY fare DESC", "order", ""),
        ("Is the list alphabetical?", "ORDER BY fare ASC", "order", ""),
        ("Is it the fare minus the cost for each bike?", "GROUP BY bike_id", "group", ""),
        ("two columns, the fare and whether it is missing, right?", "fare, month IS NULL", "output", "Yes"),
        ("Bikes without trips: keep or drop?", "LEFT JOIN trips AS t ON t.bike_id = b.bike_id", "", ""),
        ("Should the rows stay or go?", "DELETE FROM trips", "", ""),
    ],
)
def test_yes_or_no_comes_first_only_where_it_is_known(
    question: str, sql: str, clause: str, said: str
) -> None:
    assert verdict(question, sql, clause=clause) == said
