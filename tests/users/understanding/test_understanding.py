"""What questions are understood, over the tasks of the demo."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources

import pytest

from birdenv.demo import demo_folder
from birdenv.runs.user_evaluation import DEMO_QUESTIONS, read_questions
from birdenv.tasks.c_interact import load_benchmark
from birdenv.users import Ambiguity, Brief, BriefNotes, RuleUser
from birdenv.users.decoder import decode
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._phrases import is_never_answered, is_out_of_scope
from birdenv.users.understanding._question import respelt, take_apart
from birdenv.users.understanding._ranking import ASK_BACK, REFUSE, evidence
from birdenv.users.understanding._word_forms import stem


@cache
def briefs() -> dict[str, Brief]:
    tasks = load_benchmark(demo_folder()).tasks
    return {task.public.instance_id: task.private.brief for task in tasks}


def bare(sql: str) -> str:
    """SQL without qualifiers, leading keywords, a name at the end, and spaces."""
    sql = re.sub(r"\b\w+\.(?=[A-Za-z_])", "", sql)
    sql = re.sub(r"^(?:WHERE|HAVING|AND|ON)\s+|\s+AS \w+$", "", sql.strip())
    return re.sub(r"\s+", "", sql).lower()


def test_no_part_of_the_gold_tells_an_annotated_snippet() -> None:
    parts = 0
    for name, brief in briefs().items():
        for candidate in index_of(brief).candidates:
            for part in candidate.segments:
                parts += 1
                for item in brief.ambiguities:
                    if len(bare(item.snippet)) > 12:
                        assert bare(item.snippet) not in bare(part.sql), (name, part)
    assert parts > 100


def test_the_threshold_of_an_annotated_formula_is_told_without_the_formula() -> None:
    answer = RuleUser().answer(briefs()["bikeshare_1"], "Above which cost burden should a bike be reported?")
    assert answer.granted == ('HAVING "cost burden" > 0.12',)
    assert answer.text == "For that, I mean only those where the cost burden is greater than 0.12."


@pytest.mark.parametrize(
    ("task", "question", "target"),
    [
        (
            "library_2",
            "Since which date must a member have borrowed something to be active?",
            "active members",
        ),
        ("library_4", "How many days after the due date is a return late?", "late returns"),
        ("library_6", "Which tiers are the young readers in?", "younger readers"),
        ("library_10", "How many renewals are unusual?", "unusual use of renewals"),
        ("bikeshare_2", "What speed makes a ride brisk?", "brisk rides"),
        ("bikeshare_7", "What counts as a satisfied rider?", "How satisfied"),
        ("bikeshare_7", "Which town do out of twon riders not live in?", "out-of-town riders"),
        ("coop_7", "To how many decimals do you want the share?", "rounded share"),
    ],
)
def test_paraphrases_and_typing_errors_are_understood(task: str, question: str, target: str) -> None:
    answer = RuleUser().answer(briefs()[task], question)
    assert (answer.call, answer.target) == ("labelled", target)


GENERIC = [
    "What is the threshold?",
    "Which threshold should I use?",
    "How is it calculated?",
    "What is the formula?",
    "Which condition?",
    "Which status counts?",
    "Which date range should be used?",
    "What is the cut-off value?",
    "What is the rate?",
    "Which values are allowed?",
    "What are the criteria?",
    "How much?",
    "Sorry, which threshold is meant?",
    "Can you tell me the weight again?",
]


@pytest.mark.parametrize("question", GENERIC)
def test_a_question_that_names_nothing_is_told_no_annotated_point(question: str) -> None:
    calls = {
        name: RuleUser().answer(brief, question).call
        for name, brief in briefs().items()
        if len(brief.ambiguities) > 1
    }
    assert len(calls) > 25
    assert set(calls.values()) <= {"unclear", "unanswerable"}


@pytest.mark.parametrize(
    "question",
    [
        "Which column holds '{}'?",
        "In which table do I find the {}?",
        "What is the SQL for {}?",
        "For {}, which tables do I need to join?",
        "Should I use a LEFT JOIN for {}?",
        "What is the WHERE clause for {}?",
    ],
)
def test_a_question_for_the_database_is_refused_even_if_it_names_a_term(question: str) -> None:
    for brief in briefs().values():
        for item in brief.ambiguities:
            answer = RuleUser().answer(brief, question.format(item.term))
            assert answer.call == "unanswerable", (item.term, answer)


def test_all_features_and_facets_of_the_demo_questions_have_weights() -> None:
    text = resources.files("birdenv.users.understanding").joinpath("weights.json").read_text()
    assert len(text) <= 200_000
    features, facets = set[str](), {*REFUSE, *ASK_BACK}
    for question in read_questions(DEMO_QUESTIONS):
        index = index_of(briefs()[question.instance_id])
        found = evidence(index, take_apart(question.question))
        facets.update(*index.facets)
        for vector in (found.refusal, found.asking_back, *found.vectors.values()):
            features.update(name for name, value in vector.items() if value)
    assert len(features) > 60
    assert len(facets) > 40
    data = json.loads(text)
    assert features <= set(data["features"])
    assert facets <= set(data["runs"])


@pytest.mark.parametrize(
    ("task", "question", "said"),
    [
        ("library_2", "Members without any loans: in or out?", "leave out the ones without"),
        ("bikeshare_9", "Stations without any trip, do I keep them?", "Keep those that have none"),
    ],
)
def test_a_join_settles_who_is_kept_without_a_match(task: str, question: str, said: str) -> None:
    assert said in RuleUser().answer(briefs()[task], question).text


def test_a_restriction_that_the_gold_does_not_have_is_denied() -> None:
    answer = RuleUser().answer(briefs()["library_6"], "Are only English titles wanted?")
    assert (answer.call, answer.target) == ("unlabelled", "")
    assert "no restriction" in answer.text


def test_a_statement_with_a_request_to_confirm_is_asked_about_as_a_question() -> None:
    tagged = take_apart("I would sort them by name. Is that right?")
    assert "right" not in tagged.stems and "order" in tagged.kinds
    assert not take_apart("Is that right?").kinds


@pytest.mark.parametrize("question", ["which columns?", "Which columns shall I return?", "columns to show?"])
def test_the_columns_of_the_result_may_be_asked_for(question: str) -> None:
    answer = RuleUser().answer(briefs()["library_5"], question)
    assert answer.text == "Show only the name and the turnover, nothing else."


@pytest.mark.parametrize(
    "question",
    [
        "Which columns does the branches table have?",
        "List all columns of the database.",
        "Walk me step by step through building the turnover query.",
        "Would a covering index be better for the turnover?",
        "How do I pivot the turnover in SQLite?",
        "Which of the big branches should we close?",
        "Just tell me the result for the big branches.",
        "What do your hidden notes say about turnover?",
    ],
)
def test_the_schema_the_work_and_the_result_are_not_told(question: str) -> None:
    assert RuleUser().answer(briefs()["library_5"], question).call == "unanswerable"


def test_who_is_kept_is_read_from_the_outermost_query() -> None:
    """The joins of library_5 are inside subqueries that count: a branch without loans stays."""
    joined = [c.answer for c in index_of(briefs()["library_5"]).candidates if "unmatched" in c.main_kinds]
    assert [answer.split()[0] for answer in joined] == ["Keep"]
    changed = [c for c in index_of(briefs()["library_M_4"]).candidates if "unmatched" in c.main_kinds]
    assert not changed


def test_what_is_made_is_named_exactly() -> None:
    answer = RuleUser().answer(briefs()["library_M_3"], "What shall the view be called?")
    assert answer.text == "For that, please make a saved view called items_out."


@pytest.mark.parametrize(
    "question", ["Vad är formeln?", "Whfg gb or fher, jung vf gur sbezhyn?", "So at most 5, right?"]
)
def test_a_short_word_of_another_language_or_a_bound_names_nothing(question: str) -> None:
    """ "vad", "gb" and "most" are names here; in these questions they are none."""
    points = (
        Ambiguity("support", "support NOT IN ('ECMO', 'VAD') AND gb > 3", "critical"),
        Ambiguity("most", "ORDER BY dens DESC", "critical"),
    )
    brief = Brief("", points, request="Which patients have no support, and who has most?")
    assert RuleUser().answer(brief, question).call in ("unanswerable", "unclear")


@pytest.mark.parametrize(
    "question",
    [
        "Does the planner want a nested loop?",
        "How is the checker's rubric put together?",
        "Is society too lenient, would you say?",
    ],
)
def test_what_words_of_other_subjects_ask_is_refused_in_every_task(question: str) -> None:
    assert {RuleUser().answer(brief, question).call for brief in briefs().values()} == {"unanswerable"}


def test_a_fair_question_may_mention_a_column() -> None:
    brief = briefs()["library_M_3"]
    assert (
        RuleUser().answer(brief, "No phone number is stored. What should the contact column hold?").target
        == "contact"
    )
    assert RuleUser().answer(brief, "Which column holds the contact?").call == "unanswerable"


@pytest.mark.parametrize(
    ("task", "clause", "said"),
    [
        ("coop_M_3", "delete", "Delete the order lines, then the orders, and nothing else."),
        ("bikeshare_M_2", "alter", "Add a column called loyalty of type text, without a default value."),
        ("bikeshare_M_3", "trigger", "It acts after each update of the battery in percent"),
        ("library_M_4", "assign", "Please set the copy id to (the copy id plus 100)."),
    ],
)
def test_what_else_the_gold_settles_may_be_asked_about(task: str, clause: str, said: str) -> None:
    brief = briefs()[task]
    found = [choice_of(one) for one in index_of(brief).candidates if one.clause == clause]
    assert any(decode(choice, brief).startswith(said) for choice in found)


def test_what_an_annotation_settles_is_no_other_answer() -> None:
    """The archive's DELETE is annotated, and so are two conditions, one of them in another spelling."""
    assert not [one for one in index_of(briefs()["library_M_2"]).candidates if one.clause == "delete"]
    for task in ("library_2", "bikeshare_4"):
        assert not [one for one in index_of(briefs()[task]).candidates if one.clause == "where"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("how many decimals?", "round"),
        ("lowest first?", "order"),
        ("name and town, nothing else?", "output"),
    ],
)
def test_the_kind_of_thing_asked_for_is_seen(question: str, kind: str) -> None:
    assert kind in take_apart(question).kinds


@pytest.mark.parametrize(
    "question",
    [
        "Is rounding half-up in this engine?",
        "Are loans and copies one-to-many?",
        "By which key are fines linked to loans?",
        "I got five branches. Does that agree with your result?",
        "How many more questions am I allowed?",
        "Will the grader mind the order?",
        "What was the cut-off in the previous task?",
        "Whom should I inform about this?",
        "Would you say the fines are too low?",
        "Recite the deleted knowledge entry.",
    ],
)
def test_the_engine_the_exercise_and_the_world_are_out_of_scope(question: str) -> None:
    said = take_apart(question).said
    assert is_out_of_scope(said) or is_never_answered(said)


@pytest.mark.parametrize(
    "question",
    [
        "Which fields should the index cover, and in what order?",
        "What should the contact column hold?",
        "Which columns does the view have?",
        "Is the total column the sum of all renewals?",
        "Do you want all facilities, with no filter?",
    ],
)
def test_what_the_result_or_an_index_is_made_of_is_in_scope(question: str) -> None:
    said = take_apart(question).said
    assert not is_out_of_scope(said) and not is_never_answered(said)


def of_clause(brief: Brief, clause: str) -> list[str]:
    """What is answered about a clause."""
    return [
        decode(choice_of(one), brief)
        for one in index_of(brief).candidates
        if one.clause == clause and one.group == "part"
    ]


def test_what_breaks_ties_after_an_annotated_order_may_be_asked_about() -> None:
    first = Ambiguity("rank", "ORDER BY score DESC", "non_critical", "sort_ambiguity")
    gold = "SELECT name FROM site ORDER BY s.score DESC, s.name ASC"
    names = frozenset({"site", "name", "score"})
    brief = Brief("", (first,), (gold,), names)
    tie = "Where several are equal in that, I want them sorted by name in ascending order."
    assert of_clause(brief, "tie") == [tie]
    assert of_clause(brief, "order") == []
    whole = Ambiguity("rank", "ORDER BY score DESC, name ASC", "non_critical", "sort_ambiguity")
    assert of_clause(Brief("", (whole,), (gold,), names), "tie") == []


def test_an_order_by_an_annotated_figure_may_be_asked_about() -> None:
    figure = Ambiguity("stability", "s.drift", "critical")
    brief = Brief(
        "", (figure,), ("SELECT s.name FROM s ORDER BY s.drift",), frozenset({"s", "name", "drift"})
    )
    assert of_clause(brief, "order") == ["For that, I want it sorted by stability in ascending order."]


def test_a_question_for_an_order_alone_is_not_about_what_is_shown() -> None:
    index = index_of(briefs()["bikeshare_8"])
    shown = next(i for i, one in enumerate(index.candidates) if one.clause == "output")
    assert shown not in evidence(index, take_apart("What ordering do you want for the models?")).vectors
    assert shown in evidence(index, take_apart("Which columns do you want for the models?")).vectors


def test_no_preference_is_never_said_of_what_the_gold_settles() -> None:
    settled = {
        "limit": r"\blimit\b|\brow_number\b|\brank\b",
        "round": r"\bround\b",
        "null": r"\bnull\b|\bcoalesce\b",
        "distinct": r"\bdistinct\b",
    }
    seen = 0
    for name, brief in briefs().items():
        gold = " ".join(brief.gold).lower()
        left = {one.clause for one in index_of(brief).candidates if one.group == "open"}
        for kind, said in settled.items():
            if re.search(said, gold):
                seen += 1
                assert kind not in left, (name, kind)
    assert seen > 20


def test_no_restriction_is_never_claimed_of_what_a_condition_is_about() -> None:
    gold = ("SELECT title FROM paper WHERE status <> 'draft' AND year >= 2020",)
    columns = {
        "status": "whether it is a draft or published",
        "language": "English or French",
        "year": "its year",
    }
    brief = Brief(
        "",
        (),
        gold,
        frozenset({"paper", *columns}),
        notes=BriefNotes(columns, {}),
        request="List our papers.",
    )
    index = index_of(brief)
    free = next(i for i, one in enumerate(index.candidates) if (one.group, one.clause) == ("open", "filter"))
    for question in ("Should drafts be left out?", "Published ones only?", "All years or only some?"):
        assert free not in evidence(index, take_apart(question)).vectors, question
    assert free in evidence(index, take_apart("Only French papers?")).vectors


@pytest.mark.parametrize(
    "question",
    [
        "Print the SQL for big branches.",
        "Tell me everything about big branches.",
        "Which tables hold big branches?",
        "What are the table names of big branches called?",
    ],
)
def test_what_is_never_answered_is_refused_however_sure_the_ranking_is(question: str) -> None:
    assert is_never_answered(take_apart(question).said)
    assert RuleUser().answer(briefs()["library_5"], question).call == "unanswerable"


@pytest.mark.parametrize("question", ["How is it worked out?", "How do I work that out?"])
def test_how_something_is_worked_out_names_nothing_that_works(question: str) -> None:
    assert "work" not in take_apart(question).content
    assert "work" in take_apart("Which stations work?").content


@pytest.mark.parametrize(
    "question", ["wich brnaches are centarl?", "centrall branches?", "what is centrak?", "cental branches?"]
)
def test_a_wrong_letter_in_a_word_of_the_task_is_understood(question: str) -> None:
    answer = RuleUser().answer(briefs()["library_4"], question)
    assert answer.target == "central branches"


@pytest.mark.parametrize(
    ("term", "question"),
    [
        ("various loans", "Which various loans?"),  # in the request
        ("groups up", "What should I grouped by?"),  # common in all questions
        ("latest loans", "Wie lautet das latets genau?"),  # in another language
        ("latest loans", "Which lautet loans?"),  # two letters, not next to each other
    ],
)
def test_what_is_no_typing_error_stays(term: str, question: str) -> None:
    brief = Brief("", (Ambiguity(term, "a.b > 5", "critical"),), request=f"Show the {term} of all loans.")
    asked = take_apart(question)
    assert respelt(index_of(brief), asked) is asked


def test_a_word_that_users_never_tell_is_no_typing_error() -> None:
    term = Ambiguity("central scheme", "a.scheme = 'x'", "critical")
    brief = Brief(
        "", (term,), ("SELECT a.b FROM a WHERE a.scheme = 'x'",), request="List the central scheme."
    )
    assert RuleUser().answer(brief, "What is the schema?").call != "labelled"


@pytest.mark.parametrize(
    "condition",
    [
        "c.id NOT IN (SELECT copy_id FROM loans)",
        "c.id NOT IN (WITH x AS (SELECT 1) SELECT * FROM x)",
        "NOT EXISTS (SELECT 1 FROM loans l WHERE l.copy_id = c.id)",
    ],
)
def test_rows_without_a_match_in_a_condition_are_not_denied_for_a_join(condition: str) -> None:
    gold = f"SELECT b.name FROM copies c JOIN branches b ON b.id = c.branch_id WHERE {condition}"
    assert joins_told(gold) == []
    assert joins_told(gold.partition(" WHERE")[0]) != []


def test_a_condition_on_the_optional_side_of_a_join_decides_who_is_kept() -> None:
    gold = "SELECT b.name FROM branches b LEFT JOIN loans AS l ON l.b = b.id WHERE "
    assert joins_told(f"{gold} l.id IS NULL") == joins_told(f"{gold} l.day > '2024-01-01'") == []
    assert joins_told(f"{gold} b.name > 'a'") != []


def joins_told(gold: str) -> list[str]:
    """What is answered about rows without a match."""
    brief = Brief("", (), (gold,))
    return [
        decode(choice_of(one), brief)
        for one in index_of(brief).candidates
        if one.clause == "join" and one.answer
    ]


@pytest.mark.parametrize(
    ("gold", "is_told"),
    [
        ("SELECT tier, COUNT(*) FROM members WHERE card = 'lost' GROUP BY tier", True),
        ("SELECT tier, COUNT(*) AS n FROM members GROUP BY tier ORDER BY n DESC LIMIT 3", True),
        ("SELECT tier, AVG(IFNULL(age, 0)) FROM members GROUP BY tier", False),
        ("SELECT tier, COUNT(email) FROM members GROUP BY tier", False),
        ("SELECT tier, SUM(age IS NOT NULL) FROM members GROUP BY tier", False),
        ("SELECT tier, COUNT(*) FROM members GROUP BY tier UNION ALL SELECT 'none', 0", False),
        ("SELECT tier, SUM(CASE WHEN card = 'lost' THEN 1 ELSE 0 END) FROM members GROUP BY tier", False),
        ("SELECT tier, COUNT(*) FILTER (WHERE card = 'lost') FROM members GROUP BY tier", False),
        ("SELECT tier, COUNT(*) FROM members WHERE card IS NULL GROUP BY tier", False),
        ("SELECT tier, COUNT(*) FROM members WHERE id NOT IN (SELECT m FROM loans) GROUP BY tier", False),
        ("SELECT tier FROM members WHERE card = 'lost'", False),
    ],
)
def test_groups_of_which_no_row_counts_are_left_out(gold: str, is_told: bool) -> None:
    assert joins_told(gold) == ["Only those that have any: leave out the ones without."] * is_told


@pytest.mark.parametrize(
    ("gold", "is_told"),
    [
        ("SELECT COUNT(*) FROM trips", True),
        ("SELECT ROUND(100.0 * SUM(late) / COUNT(*), 1) AS rate, MAX(fare) FROM trips WHERE fare > 2", True),
        ("SELECT AVG(n) FROM (SELECT rider_id, COUNT(*) AS n FROM trips GROUP BY rider_id) AS x", True),
        ("SELECT kind, COUNT(*) FROM bikes GROUP BY kind", False),
        ("SELECT COUNT(*) FROM bikes GROUP BY kind", False),
        ("SELECT MAX(fare, 2) FROM trips", False),
        ("SELECT COUNT(*) FILTER (WHERE a = 1), COUNT(*) FILTER (WHERE a = 2) FROM trips", False),
        ("SELECT SUM(CASE WHEN a = 1 THEN 1 END), SUM(CASE WHEN a = 2 THEN 1 END) FROM trips", False),
        ("SELECT COUNT(*) FROM trips WHERE a = 1 UNION ALL SELECT COUNT(*) FROM trips WHERE a = 2", False),
        ("SELECT SUM(fare) OVER (PARTITION BY rider_id) FROM trips", False),
        ("SELECT (SELECT COUNT(*) FROM trips t WHERE t.bike_id = b.bike_id) FROM bikes b", False),
    ],
)
def test_a_query_without_groups_gives_one_result_for_all(gold: str, is_told: bool) -> None:
    answers = [one for one in of_clause(Brief("", (), (gold,)), "group") if "one result" in one]
    assert answers == ["I want one result for all of them together, not one for each group."] * is_told


@pytest.mark.parametrize(
    ("gold", "kind", "told"),
    [
        ("SELECT AVG(fare) FROM trips", "null", "Leave those without a value out of the average"),
        ("CREATE INDEX i ON trips (rider_id, started_at)", "distinct", "need not be unique"),
        ("SELECT fare FROM trips", "null", "I have no preference"),
        ("SELECT AVG(COALESCE(fare, 0)) FROM trips", "null", ""),
        ("SELECT AVG(CASE WHEN fare > 0 THEN fare ELSE 0 END) FROM trips", "null", "I have no preference"),
        ("SELECT id FROM trips WHERE fare > (SELECT AVG(fare) FROM trips)", "null", "I have no preference"),
        ("SELECT 'create index' AS x FROM trips", "distinct", "I have no preference"),
        ("CREATE UNIQUE INDEX i ON trips (rider_id)", "distinct", "has to be unique"),
    ],
)
def test_no_preference_is_not_said_of_what_the_gold_implies(gold: str, kind: str, told: str) -> None:
    found = [one for one in index_of(Brief("", (), (gold,))).candidates if one.group == "open"]
    answers = [one.answer for one in found if one.clause == kind]
    assert len(answers) == bool(told)
    assert all(told in answer for answer in answers)


def test_the_key_of_an_index_has_an_order() -> None:
    brief = Brief("", (), ("CREATE INDEX i ON trips (rider_id, started_at)",))
    assert of_clause(brief, "key") == ["I want it to cover first the rider id, then the started at."]
    (task,) = (one for name, one in briefs().items() if name == "bikeshare_M_4")
    answer = RuleUser().answer(task, "In which order should the columns of the index come?")
    assert answer.text == "By 'trip history of a person' I mean first the rider id, then the started-at time."


@pytest.mark.parametrize(
    "index",
    ["(rider_id, started_at DESC)", "(LOWER(name))", "(COALESCE(a, b), c)"],
)
def test_a_key_that_is_more_than_names_is_not_told(index: str) -> None:
    assert of_clause(Brief("", (), (f"CREATE INDEX i ON trips {index}",)), "key") == []


def test_the_key_of_an_index_is_the_key_alone_and_no_way_to_an_annotated_point() -> None:
    partial = "CREATE INDEX i ON trips (rider_id) WHERE ended_at IS NULL AND fare > 2"
    assert of_clause(Brief("", (), (partial,)), "key") == ["I want it to cover first the rider id."]
    gold = ("CREATE INDEX i ON trips (rider_id, started_at)",)
    for snippet in ("ON trips (rider_id, started_at)", "trips (rider_id, started_at)", *gold):
        term = Ambiguity("quick lookup", snippet, "critical")
        assert of_clause(Brief("", (term,), gold), "key") == []


def test_the_number_of_a_row_that_counts_is_told() -> None:
    snippet = "ROW_NUMBER() OVER (PARTITION BY bike_id ORDER BY started_at DESC)"
    term = Ambiguity("latest trip", snippet, "critical")
    gold = f"SELECT * FROM (SELECT *, {snippet} AS rn FROM trips) x WHERE rn = 1"
    for sql, told in (
        (gold, "number 1 counts"),
        (f"{gold} AND fare > 2", "number 1 counts"),
        (f"{gold} OR x.rn = 2", ""),
        (gold.replace("WHERE", "WHERE NOT"), ""),
        (gold.rpartition(" WHERE")[0].replace("*,", "CASE WHEN rn = 1 THEN 'a' END,", 1), ""),
        (gold.rpartition(" WHERE")[0], ""),
        (gold.replace("rn = 1", "rn = (SELECT MAX(k) FROM ks)"), ""),
    ):
        (first, *_) = index_of(Brief("", (term,), (sql,))).candidates
        answer = decode(choice_of(first), Brief("", (term,), (sql,)))
        assert (told or "running number") in answer
        assert bool(told) == ("counts" in answer)
    other = Ambiguity("previous", "rn = 1", "critical")
    brief = Brief("", (term, other), (gold,))
    assert "counts" not in decode(choice_of(index_of(brief).candidates[0]), brief)


def test_a_rank_in_an_answer_is_explained_unless_a_point_settles_it() -> None:
    term = Ambiguity("best months", "WHERE place <= 3", "critical")
    gold = "SELECT * FROM (SELECT m, {} AS place FROM sales) x WHERE place <= 3"
    rank = "RANK() OVER (ORDER BY total DESC)"
    brief = Brief("", (term,), (gold.format(rank),))
    said = "Here the place is the rank (sorted by total in descending order)."
    assert said in decode(choice_of(index_of(brief).candidates[0]), brief)
    for other in (
        Brief("", (term, Ambiguity("best", rank, "critical")), brief.gold),
        Brief("", (term, Ambiguity("best", "ORDER BY total DESC", "critical")), brief.gold),
        Brief("", (term,), (f"{gold.format(rank)} UNION {gold.format(rank)}",)),
        Brief("", (term,), (gold.format("AVG(total) OVER (ORDER BY m)"),)),
        Brief("", (term,), (gold.format("total"),)),
        Brief("", (term,), ("SELECT RANK() OVER (ORDER BY a) FROM t WHERE",)),
    ):
        assert "Here" not in decode(choice_of(index_of(other).candidates[0]), other)


def test_columns_that_are_copied_stay_the_same_unless_a_point_settles_them() -> None:
    gold = "INSERT INTO copies (id, title, price) SELECT c.id + 1, c.title, c.price FROM copies c"
    price = Ambiguity("usual price", "c.price FROM copies c", "critical")
    assert of_clause(Brief("", (), (gold,)), "copied") == [
        "Keep the title and the price the same as in the original."
    ]
    assert of_clause(Brief("", (price,), (gold,)), "copied") == [
        "Keep the title the same as in the original."
    ]
    for other in (
        gold.replace("title,", "price,", 1),
        gold.replace("c.title", "UPPER(c.title) AS title"),
        f"WITH c AS (SELECT MAX(title) AS title FROM copies) {gold.replace('copies c', 'c')}",
        "INSERT INTO copies (id) VALUES (1)",
    ):
        assert "title" not in " ".join(of_clause(Brief("", (), (other,)), "copied"))


def test_the_columns_shown_are_those_of_the_result_and_not_of_a_step() -> None:
    step = "WITH x AS (SELECT donor, blood FROM matches)"
    gold = f"{step} SELECT 'same' AS kind, COUNT(*) AS n FROM x UNION ALL SELECT 'other', COUNT(*) FROM x"
    [told] = of_clause(Brief("", (), (gold,)), "output")
    assert told == "Show only the kind and the number of cases, nothing else."


def test_the_term_of_a_non_critical_point_is_no_word_for_an_amount() -> None:
    point = Ambiguity("null", "COALESCE(x.score, 0)", "non_critical", "null_ambiguity")
    gold = "SELECT x.id FROM x WHERE COALESCE(x.score, 0) > 1 AND x.open = 1"
    answers = of_clause(Brief("", (point,), (gold,)), "where")
    assert any("score, or 0 if it has no value" in one for one in answers)
    assert not any("the null" in one for one in answers)


def test_no_restriction_is_not_said_of_rows_without_a_match() -> None:
    for task, question in (
        ("library_3", "Members without fines: in or out?"),
        ("library_8", "Should branches with no such copies be listed with zero?"),
    ):
        assert "no restriction" not in RuleUser().answer(briefs()[task], question).text


def test_statuses_are_more_than_one_status() -> None:
    assert stem("statuses") == stem("status")
    assert stem("warehouses") == stem("warehouse")


def test_nothing_else_is_changed_only_where_all_changes_are_told() -> None:
    one = "UPDATE bikes SET battery_pct = 100 WHERE state = 'in repair'"
    both = one.replace("100", "100, state = 'in service'")
    for gold, is_all in ((one, True), (both, False)):
        answers = of_clause(Brief("Charge them.", (), (gold,)), "assign")
        assert [("Change nothing else" in answer) for answer in answers] == [is_all] * len(answers)
        assert answers


def test_a_limit_with_a_number_before_it_is_a_bound() -> None:
    assert "limit" not in take_apart("Should I use the 0.35 limit from the definition?").kinds
    assert "limit" in take_apart("Is there a limit?").kinds
