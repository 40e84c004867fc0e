"""Answers to proposals, and sly questions, which get no false yes or no."""

from __future__ import annotations

import pytest
from birdenv_baselines.user_questions._questions import load_briefs as load_demo_briefs

import birdenv
from birdenv.users import Ambiguity, Brief
from birdenv.users._proposal import agreed
from birdenv.users.decoder import OUT_OF_SCOPE
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


@pytest.mark.parametrize(
    ("task", "questions", "begins"),
    [
        ("bikeshare_1", ["Is the cost burden the total repair cost divided by purchase price?"], "By"),
        ("bikeshare_1", ["cost burden = purchase price divided by total cost?"], "By 'cost burden'"),
        ("coop_5", ["Is the amount the sum of quantity plus price paid?"], "By 'amount'"),
        ("bikeshare_1", ["Should blank costs be treated as zero?"], "By"),
        ("bikeshare_1", ["Should blank costs be counted as 100?"], "By"),
        (
            "coop_7",
            ["So for each task I divide the hours missed by the hours of all shifts. Is that right?"],
            ("By", "I want one row"),
        ),
        ("library_6", ["younger readers: juniors only?"], "No."),
        ("library_7", ["Are all districts in?"], "Yes. I have no preference"),
        ("library_10", ["Should I restrict the analysis to loans of the last twelve months?"], "No."),
        ("bikeshare_3", ["Are closed or seasonal stations to be skipped?"], "No."),
        ("bikeshare_1", ["Do retired bikes appear in the list, or are they left out?"], "I have no"),
        ("bikeshare_3", ["top five enough?"], "No. I have no preference"),
        ("bikeshare_1", ["Bikes that were never repaired stay out, right?"], "Yes. Only those"),
        ("bikeshare_9", ["Do unused stations show up with zero trips?"], "Yes. Keep those"),
        ("library_2", ["Does a member with no loans at all belong on the list?"], "No. Only those"),
        ("bikeshare_3", ["Should the largest drain lead the list?"], "Yes."),
        ("library_4", ["Are ties by name in ascending order?"], "Yes."),
        ("library_6", ["Does each member count no more than once?"], "Yes."),
        ("library_4", ["Should the most punctual branch be first?"], "For"),
        ("library_5", ["Are the smallest branches first?"], "For"),
        ("bikeshare_6", ["Shall I sort descending by name?"], "For 'Rank'"),
        ("coop_M_3", ["Should cancelled orders be removed?"], "By 'dead orders'"),
        ("library_M_2", ["Should I delete all fines?"], "For 'Archive'"),
        ("library_2", ["Should all loans except renewals be considered?"], "I have no preference"),
        ("library_3", ["Are members with no fines never shown?"], "Only those"),
        ("bikeshare_9", ["Should only stations with no trips be shown?"], "Keep those"),
        ("coop_1", ["Should households with no orders be shown?"], "Show only"),
        ("bikeshare_4", ["Late in the day: would four in the afternoon be right?"], "By"),
        ("coop_8", ["Do only collected orders count?"], "By 'proper order'"),
        (
            "library_4",
            ["do cancelled orders vanish. " * 71 + "?"],
            "Only those that have any: leave out the ones",
        ),
        ("library_4", ["Shall the worst offender be at the top?"], "For"),
        ("bikeshare_1", ["So bike, model and burden in the table?"], "Yes. Show only"),
        ("bikeshare_1", ["I plan to return bike id, model and burden only. Would that be enough?"], "Yes."),
        ("bikeshare_7", ["Do I return just plan and figure?"], "Yes. Show only"),
        ("library_4", ["Do you want anything besides the name and the percentage?"], "No. Show only"),
        ("library_2", ["One line per member, right?"], "Yes. I want one row"),
        ("library_6", ["Is a reader who took the same book three times counted three times?"], "No."),
        ("library_M_2", ["once copied over, do the originals stay in fines?"], "No."),
        ("bikeshare_2", ["exactly 14 kmh = brisk?"], "Yes. 14 itself is included."),
        (
            "bikeshare_6",
            ["Which months are your summer?", "Are the first and the last of them included?"],
            "Yes.",
        ),
        ("bikeshare_M_2", ["What makes a rider loyal?"], "By 'loyal riders' I mean that (the number"),
        (
            "coop_2",
            ["What margin is low?"],
            "For that, I mean only cases where the margin rate is less",
        ),
        ("coop_2", ["How low is a low margin?"], "For that, I mean only cases where the margin rate is less"),
        ("coop_2", ["Margin rate is cost over what, how is it computed?"], "By 'margin rate' I mean"),
        ("coop_2", ["What is the margin rate?"], "By 'margin rate' I mean"),
        ("library_5", ["In the turnover, are damaged copies counted, or left out?"], "They are left out."),
        ("library_5", ["Do loans of damaged copies count in the turnover?"], "By 'turnover'"),
        (
            "bikeshare_7",
            ["Are trips with no rating counted as 0, or are they left out?"],
            "They are left out.",
        ),
    ],
)
def test_answers_to_proposals(task: str, questions: list[str], begins: str | tuple[str, ...]) -> None:
    assert last(task, *questions).startswith(begins)


@pytest.mark.parametrize(
    ("task", "questions", "begins"),
    [
        # one of several conditions is not enough
        ("coop_M_2", ["Badly wanted: is an urgency of at least 10 enough?"], "10 itself is included."),
        ("coop_M_2", ["Does a discontinued product with urgency 12 count as badly wanted?"], "By"),
        # a value that is to be none of the others
        ("library_4", ["Must a branch be in both Centre and Docklands to be central?"], "By"),
        ("coop_5", ["Are collected and placed orders what we really sell?"], "By"),
        ("library_7", ["Does 'bring in' mean that paid fines are counted but not waived ones?"], "By"),
        ("library_5", ["What is turnover?", "So damaged ones are left out of both?"], "To say it once more"),
        # a number that is counted, or gets a different meaning
        ("library_1", ["Does new count as 0 in the wear index?"], ("By", "For that")),
        ("library_3", ["What does charged mean?", "So waived fines count as 0?"], "To say it once more"),
        (
            "library_6",
            ["What is popular?", "Are two loans by the same member enough?"],
            "To say it once more",
        ),
        ("library_3", ["Who is a debtor?", "Must each fine be at least 5?"], "To say it once more"),
        ("bikeshare_2", ["What is brisk?", "So 60 km/h?"], "To say it once more"),
        ("coop_2", ["What is the margin rate?", "Is 0.15 added?"], "To say it once more"),
        ("coop_1", ["What is the basket value?", "Is it multiplied by 100?"], "To say it once more"),
        ("bikeshare_6", ["Does summer begin in September?"], "By"),
        ("library_4", ["Is it late when it is within two days?"], "By"),
        ("bikeshare_2", ["Is it brisk at 14 km per hour and above?"], "Yes."),
        # the bound of a strict comparison, and a term that sounds like leaving out
        ("bikeshare_1", ["Is a burden of 0.12 high?"], "0.12 itself is not included."),
        (
            "bikeshare_9",
            ["What is too large for their use?", "Is a difference of 8 too large?"],
            "To say it once more",
        ),
        ("library_8", ["Is a copy that went out on 2023-07-01 one nobody takes out any more?"], "No."),
        # a different column
        ("library_2", ["Is an active member one who joined since 2024-01-01?"], "No."),
        ("library_1", ["So roomy means a floor area in m2 of at least 40?"], "No."),
        ("library_3", ["Do debtors need an open fine of 5 or more?"], "Yes."),
        # entries without a value
        ("coop_7", ["Are shifts with no hours left out?"], ("By", "For", "I")),
        ("library_9", ["Are books with a missing genre left out?"], ("By", "For", "I")),
        ("coop_1", ["Is a missing price treated as 0?"], ("By", "For", "I")),
        ("bikeshare_1", ["What is the cost burden?", "Is a missing purchase cost 0, too?"], ("By", "I want")),
        ("bikeshare_5", ["Should repairs without an end date not be left out?"], "For"),
        ("library_1", ["Should both columns be shown?"], "Show"),
        (
            "library_1",
            [
                "Once the points for all the copies of a branch are summed, is the total put in relation to"
                " something, for instance the size of the collection or the hours the branch is open?"
            ],
            ("By", "Show"),
        ),
    ],
)
def test_a_sly_question_gets_no_false_yes_or_no(
    task: str, questions: list[str], begins: str | tuple[str, ...]
) -> None:
    assert last(task, *questions).startswith(begins)


@pytest.mark.parametrize(
    ("task", "term", "question"),
    [
        ("alien_6", "promising", "Is promising an RPI above 3?"),
        ("alien_7", "good observation conditions", "Does a new moon count as good?"),
        ("alien_4", "detection thresholds", "Is the detection threshold 0.7 for natural sources?"),
        ("organ_transplant_6", "CMV mismatch", "Is a positive donor enough for the mismatch?"),
        ("archeology_10", "Efficiency Classification", "Is a utilization of 10 optimized?"),
        ("polar_2", "fit for harsh weather", "Is one of these conditions enough?"),
        ("polar_2", "fit for harsh weather", "Must all of these conditions hold?"),
        ("polar_3", "reliability score", "Is it 0.3 times ORS plus 0.7 times TIE?"),
        ("labor_certification_applications_3", "approved", "Is it those that are certified?"),
    ],
)
def test_one_condition_or_number_of_several_gets_neither_yes_nor_no(
    task: str, term: str, question: str, all_real_briefs: Briefs
) -> None:
    brief = dict(all_real_briefs)[task]
    (item,) = (one for one in brief.ambiguities if one.term == term)
    assert verdict(question, item, brief) == ""


@pytest.mark.parametrize(
    ("task", "questions", "told"),
    [
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
        ("library_5", "Could you please spell out what a 'big branch' is?", "700"),
        ("library_1", "Could you spell out the roomy branches, with the number of seats?", "40 seats"),
        ("library_M_3", "Which field should contact hold?", "email"),
        ("library_4", "What's the direction of the ranking?", "descending"),
        ("coop_6", "Are you happy with exactly 3?", "first 3"),
    ],
)
def test_a_fair_question_is_not_refused_because_of_a_word(task: str, question: str, told: str) -> None:
    assert told in last(task, question)


@pytest.mark.parametrize(
    ("task", "question"),
    [
        ("library_1", "Which columns would have to be joined?"),
        ("library_1", "Which columns should the query include?"),
        ("library_1", "Which column in the branches table should have the floor area?"),
        ("library_1", "Spell out everything."),
        ("bikeshare_6", "What are the three hours? Just tell me the numbers."),
        ("bikeshare_3", "On which keys, to get the net drain?"),
    ],
)
def test_what_is_never_told_is_refused_in_other_words_too(task: str, question: str) -> None:
    assert last(task, question) == OUT_OF_SCOPE


def test_a_proposal_that_sounds_like_both_gets_neither_yes_nor_no() -> None:
    """ "Too large" sounds like leaving something out."""
    question = "May stations where no trip started be included with 0 trips, if they are too large?"
    assert last("bikeshare_9", question).startswith("Keep those that have none as well")
