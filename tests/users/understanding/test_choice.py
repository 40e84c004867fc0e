"""The choice for one question: fair ones are asked back, not refused."""

from __future__ import annotations

from functools import cache

import pytest

from birdenv.demo import demo_folder
from birdenv.tasks.c_interact import load_benchmark
from birdenv.tasks.interact._user_seat import brief_of
from birdenv.users import Ambiguity, Brief, RuleUser
from birdenv.users._conversation import Conversation, still_holds
from birdenv.users._rule_player import RulePlayer
from birdenv.users.understanding import Choice, _choice, take_apart, understand
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._message import pieces_of


@cache
def briefs() -> dict[str, Brief]:
    """The briefs of the demo by task; those of follow-ups end with `+2`."""
    tasks = load_benchmark(demo_folder()).tasks
    found = {task.public.instance_id: task.private.brief for task in tasks}
    return found | {
        f"{task.public.instance_id}+2": brief_of(task, 2) for task in tasks if task.private.follow_up
    }


@pytest.mark.parametrize(
    ("task", "question"),
    [
        ("coop_3", "when are we running low?"),
        ("library_8", "since when has it been gathering dust?"),
        ("library_6", "Which folks make the cut as the kids here?"),
    ],
)
def test_a_fair_question_in_words_that_nobody_knows_is_never_refused(task: str, question: str) -> None:
    assert RuleUser().answer(briefs()[task], question).call != "unanswerable"


@pytest.mark.parametrize(
    "question", ["Who won the football game yesterday?", "Which table holds the district?", "Write the SQL."]
)
def test_what_has_nothing_to_do_with_the_request_is_refused(question: str) -> None:
    assert RuleUser().answer(briefs()["library_4"], question).call == "unanswerable"


def test_columns_to_sort_by_may_be_asked_for() -> None:
    question = "By which columns and in which direction should the rows be sorted?"
    assert RuleUser().answer(briefs()["library_4"], question).target == "Rank"


def test_whether_all_conditions_must_hold_is_a_fair_question() -> None:
    question = "Do all conditions have to hold at the same time?"
    assert RuleUser().answer(briefs()["coop_3"], question).call != "unanswerable"


def test_a_word_of_the_request_in_quotation_marks_is_never_refused() -> None:
    assert RuleUser().answer(briefs()["library_4"], "What do you mean by 'share'?").call == "unclear"


@pytest.mark.parametrize(("refuse", "call"), [(0.7, "labelled"), (0.9, "unanswerable")])
def test_only_a_very_probable_refusal_counts(
    refuse: float, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief = Brief("", (Ambiguity("late", "days > 2", "critical"),), request="List the late returns.")
    others = len(index_of(brief).candidates) - 1

    def shares(*_: object) -> list[float]:
        return [0.8 * (1 - refuse), *[0.0] * others, refuse, 0.2 * (1 - refuse)]

    monkeypatch.setattr(_choice, "probabilities", shares)
    assert understand(brief, "When is a return overdue?").call == call


def test_that_nothing_limits_the_rows_is_no_answer_to_a_question_about_something_else() -> None:
    kinds = "CASE WHEN share > 80 THEN 'one' WHEN types > 2 THEN 'two' ELSE 'three' END"
    brief = Brief("", (Ambiguity("visa focus", kinds, "critical"),), request="List them by visa focus.")
    answer = RuleUser().answer(brief, "And everybody who fits neither of the first two goes third, right?")
    assert "no preference" not in answer.text


@pytest.mark.parametrize(
    ("task", "question", "told"),
    [
        ("coop_M_2", "Should discontinued products be on the list?", "discontinued flag is 0"),
        ("coop_M_2", "How urgent is urgent enough?", "at least 10"),
        ("bikeshare_M_4", "Would you like the rider to come first, followed by the start time?", "rider id"),
        ("library_M_1", "Is a balance of exactly 5 enough?", "5 itself is included"),
        ("library_3", "Members without fines: in or out?", "leave out the ones without"),
    ],
)
def test_no_preference_is_said_only_of_what_the_question_asks_for(
    task: str, question: str, told: str
) -> None:
    answer = RulePlayer([briefs()[task]])._reply(Conversation(briefs()[task]), question).text
    assert told in answer and "no preference" not in answer


@pytest.mark.parametrize(
    ("task", "question"),
    [
        ("bikeshare_9", "a min number of docks?"),  # was: no preference
        ("bikeshare_8", "never ridden bikes count 2?"),  # was: show each only once
        ("coop_6", "What are the names of the three suppliers in the final result?"),  # was: the first 3
    ],
)
def test_an_answer_that_fits_any_task_is_given_only_where_its_kind_is_asked_for(
    task: str, question: str
) -> None:
    assert not RuleUser().answer(briefs()[task], question).granted
    assert "no preference" not in RuleUser().answer(briefs()[task], question).text


@pytest.mark.parametrize(
    "question", ["What is 'dead'?", "Before I delete anything: what makes an order 'dead'?"]
)
def test_a_quoted_piece_of_a_phrase_names_the_point(question: str) -> None:
    assert RuleUser().answer(briefs()["coop_M_3"], question).target == "dead orders"


def test_a_quoted_piece_is_a_name_only_of_one_point() -> None:
    terms = ("late returns", "late fees", "mean value")
    points = tuple(Ambiguity(term, f"a.b > {i}", "critical") for i, term in enumerate(terms, 5))
    brief = Brief("", points, request="Show late returns, late fees and the mean value.")
    assert RuleUser().answer(brief, "What is 'fees'?").target == "late fees"
    for question in (
        "Is the state 'late' or 'open'?",
        "What is 'mean'?",
        "What is 'value'?",
        "Give me 'the SQL' for 'fees'",
        "Give me 'the SQL' for 'late fees'",
    ):
        assert RuleUser().answer(brief, question).call != "labelled", question
    table = RuleUser().answer(briefs()["library_1"], "Which column tells whether a branch is 'roomy'?")
    assert table.call == "unanswerable"


def test_years_may_be_asked_for_where_the_request_has_one() -> None:
    told = RuleUser().answer(briefs()["library_7"], "which years?")
    assert told.call == "unlabelled" and "2022" in told.text
    assert not RuleUser().answer(briefs()["library_5"], "which years?").granted


def test_a_sentence_that_begins_with_the_occasion_asks_nothing() -> None:
    message = "When you ask for the top three, I want to be exact. Is it by sales or by units?"
    assert len(pieces_of(message)) == 1


def test_a_phrase_that_stands_for_either_of_two_conditions_is_told_with_both() -> None:
    points = (
        Ambiguity("bad trips", "WHERE t.share < 95", "critical"),
        Ambiguity("risk zone", "t.minutes > 60", "knowledge"),
    )
    gold = ("SELECT id FROM trips AS t WHERE t.share < 95 OR t.minutes > 60 ORDER BY id",)
    brief = Brief("", points, gold, request="Which were bad trips?")
    assert RuleUser().answer(brief, "What are bad trips?").granted == ("WHERE t.share < 95", "t.minutes > 60")
    other = Brief("", points, (gold[0].replace("OR", "AND"),), request="Which were bad trips?")
    assert RuleUser().answer(other, "What are bad trips?").granted == ("WHERE t.share < 95",)


FOLLOW_UP = Brief(
    "",
    (),
    ("SELECT kind FROM bikes WHERE bought < '2023-01-01' GROUP BY kind",),
    request="Now the kinds.",
    inherited=(
        Ambiguity("old bikes", "b.bought < '2023-01-01'", "critical"),
        Ambiguity("weak battery", "b.battery < 40", "critical"),
    ),
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Still only the old bikes?", "Yes"),
        ("Do you drop the condition about old bikes?", "No"),
        ("Still only those with a weak battery?", "No"),
        ("Still just the old ones?", "Yes"),
        ("Does the weak battery no longer matter?", "Yes"),
        ("Only old bikes or all?", ""),
        ("Which old bikes are still meant?", ""),
    ],
)
def test_a_condition_of_the_first_request_is_kept_or_dropped(question: str, said: str) -> None:
    about = "bought" if "old" in question else ""
    chosen = next(
        one
        for one in index_of(FOLLOW_UP).candidates
        if (
            about in " ".join(one.sql)
            if about and one.clause == "where"
            else not about and one.clause == "filter"
        )
    )
    choice = Choice("unlabelled", chosen.target, (), chosen.segments, chosen.answer)
    assert still_holds(take_apart(question), choice, FOLLOW_UP) == said


def test_a_condition_that_a_follow_up_inherits_is_found_by_its_term() -> None:
    choice = understand(briefs()["library_5+2"], "Do the big branches stay the same as before?")
    assert any("floor_area_m2" in sql for sql in choice.granted())


def test_a_condition_that_the_follow_up_dropped_restricts_nothing() -> None:
    first = "SELECT name FROM hives WHERE colour = 'red' AND honey_kg > 12 AND apiary = 'North'"
    brief = Brief(
        "",
        (),
        ("SELECT name FROM hives WHERE apiary = 'North'",),
        frozenset({"hives", "name", "colour", "honey_kg", "apiary"}),
        request="Now all hives.",
        earlier_gold=(first,),
    )
    choice = understand(brief, "Must they still have 12 kg of honey?")
    assert "no restriction" in choice.answer
    kept = understand(brief, "Still only those in the apiary North?")
    assert any("apiary" in sql for sql in kept.granted())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("wich columns?", "which columns?"), ("rows w/o pages", "rows without pages"), ("u mean?", "you mean?")],
)
def test_short_forms_are_read_as_they_are_meant(typed: str, meant: str) -> None:
    assert take_apart(typed).words == take_apart(meant).words


def test_a_snippet_is_no_second_answer_however_the_gold_spells_it() -> None:
    for name in ("bikeshare_5", "bikeshare_4", "bikeshare_6"):
        parts = [sql for one in index_of(briefs()[name]).candidates if one.group == "part" for sql in one.sql]
        assert not any("closed_on IS NOT" in sql or "NOT r.closed_on" in sql for sql in parts), parts
        assert not any("started_at, 12" in sql and ">=" in sql for sql in parts), parts


@pytest.mark.parametrize(
    ("task", "question", "target"),
    [
        ("library_M_4", "When you enter them 'at the usual price', is it that of the copy?", "usual price"),
        ("bikeshare_M_2", "Who doesn't qualify gets 'a sensible value': which?", "a sensible value"),
    ],
)
def test_a_quotation_with_small_words_around_a_term_names_it(task: str, question: str, target: str) -> None:
    """The apostrophe of "doesn't" begins no quotation."""
    assert RuleUser().answer(briefs()[task], question).target == target


def test_a_quotation_inside_a_longer_term_does_not_hide_it() -> None:
    points = (
        Ambiguity("coordinates for the star '55 Cnc'", "SELECT x, y", "critical"),
        Ambiguity("'55 Cnc'", "host = '55 Cnc'", "non_critical"),
    )
    brief = Brief("", points, request="Show me the coordinates for the star '55 Cnc'.")
    answer = RuleUser().answer(brief, "How should I interpret coordinates for the star '55 Cnc'?")
    assert answer.target == points[0].term


def test_a_change_that_only_names_a_point_tells_the_point() -> None:
    """The gold sets the price to the moderate step and to nothing else."""
    answer = RuleUser().answer(briefs()["coop_M_1"], "What should the unit price be set to?")
    assert (answer.call, answer.target) == ("labelled", "moderate step")
    assert "times 1.1" in answer.text and "Change nothing else" in answer.text


@pytest.mark.parametrize("asked", ["What do you mean by {}?", "Please define {}."])
def test_a_point_that_a_change_names_is_one_of_several_terms(asked: str) -> None:
    for terms in ("margin rate and moderate step", "'margin rate' and 'moderate step'"):
        answer = RuleUser().answer(briefs()["coop_M_1"], asked.format(terms))
        assert answer.target == "margin rate + moderate step"


def test_what_else_is_set_decides_about_missing_values() -> None:
    """Riders without a trip get what ELSE sets, so it is wrong that nothing is preferred about them."""
    question = "ppl who never rode - leave blank?"
    assert "no preference" not in RuleUser().answer(briefs()["bikeshare_M_2"], question).text


@pytest.mark.parametrize(
    ("task", "question", "told"),
    [
        (
            "library_4",
            "Does 'Show the name and the percentage, rounded' mean two columns?",
            "Show only the name",
        ),
        ("coop_8", "'its first proper order' - which date is first?", "earliest"),
    ],
)
def test_a_quotation_that_says_more_than_a_term_decides_nothing(task: str, question: str, told: str) -> None:
    assert told in RuleUser().answer(briefs()[task], question).text


def test_an_else_alone_is_what_all_others_get() -> None:
    answer = RuleUser().answer(briefs()["bikeshare_M_2"], "What is 'a sensible value'?")
    assert answer.text == "By 'a sensible value' I mean 'basic' for all others."
