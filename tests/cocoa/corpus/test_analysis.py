"""Each statistic on corpora that are small enough to work it out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import pytest
from corpora import FRIENDS, bargains, divisions, event, friends, listing, row

from birdenv.cocoa.corpus import CorpusDialogue, analyse, page
from birdenv.cocoa.corpus._corpus import file_dialogues, listed_dialogues
from birdenv.cocoa.corpus._text_statistics import text_statistics
from birdenv.errors import InputError
from birdenv.statistics import Ratio, bootstrap, correlation, ratio_figure, wilson
from birdenv.studies.ratings._agreement import krippendorff_alpha
from birdenv.studies.ratings._judgements import Judgements, Rating, joined
from birdenv.studies.ratings._sources import rated, survey_ratings


def overall(dialogues: list[CorpusDialogue]) -> dict[str, Any]:
    return {name: of["value"] for name, of in analyse(dialogues).to_json()["figures"].items()}


def overall_why(dialogues: list[CorpusDialogue]) -> dict[str, str]:
    figures = analyse(dialogues).to_json()["figures"]
    return {name: figure["why"] for name, figure in figures.items() if "why" in figure}


def of_seat(dialogues: list[CorpusDialogue], seat: str) -> dict[str, Any]:
    return {name: of["value"] for name, of in analyse(dialogues).to_json()["seats"]["seat"][seat].items()}


def test_effectiveness_time_and_cross_talk_of_mutual_friends() -> None:
    found = overall(friends())
    assert found["success"] == found["completed"] == 0.5
    assert found["events"] == 4 and found["selections"] == 1.5
    assert found["success_per_selection"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["success_per_event"] == 1 / 8
    assert found["seconds"] == 31  # of the one that succeeds
    assert found["cross_talk"] == 1 / 4  # of the pairs between two people in the one with typing times


def test_acts_facts_and_first_attributes_of_mutual_friends() -> None:
    first = of_seat(friends(), "agent_0: human")
    assert first["words"] == pytest.approx((7 + 9 + 1) / 3)
    assert first["typing"] == pytest.approx((31 + 34) / (2 + 8))
    assert first["act_greeting"] == pytest.approx(1 / 3) and first["act_apology"] == pytest.approx(1 / 3)
    assert first["act_question"] == pytest.approx(1 / 3) and first["act_inform"] == pytest.approx(2 / 3)
    assert first["entities"] == pytest.approx(4 / 3) and first["several_entities"] == pytest.approx(1 / 3)
    assert first["repeated_entities"] == 1 / 4  # Yale, the second time
    assert first["entity_types"] == 1  # two in the first dialogue, none in the second
    # two at Yale and 1 Ann are right; "1 Ann at Yale" is no number of Yale; 2 at Duke is wrong
    assert first["facts"] == pytest.approx(2 / 3)
    assert first["first_least_uniform"] == 1 and first["first_domain"] == pytest.approx(2 / 3)
    second = of_seat(friends(), "agent_1: rulebased")
    assert second["first_least_uniform"] is None  # both attributes have two values in its list


def test_margins_stages_and_words_of_bargains() -> None:
    found = overall(bargains())
    assert found["success"] == 0.5 and found["price"] == 0.5
    # moves 1 and 2 inquire (the advertised price is no bid), 100 is discussed, 150 concludes
    assert [found[name] for name in ("inquire", "discuss", "conclude")] == [2 / 8, 3 / 8, 3 / 8]
    buyer, seller = (of_seat(bargains(), name) for name in ("buyer: human", "seller: rulebased"))
    assert buyer["margin"] == seller["margin"] == 0
    assert buyer["act_price"] == 0.5 and buyer["act_side_offer"] == 0.5  # 2012 is in the title
    assert seller["act_price"] == 1
    assert seller["in_the_ad"] == 0
    assert buyer["in_the_ad"] == pytest.approx(5 / 16)  # red bike from 2012 fast
    prices = analyse(bargains()).tables["prices"]
    assert prices["buyer"][-1] == {"part": 6, "mean": 0.5, "prices": 1}


def test_deals_points_and_mismatches_of_divisions() -> None:
    found = overall(divisions())
    assert found["agreed"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["success"] == found["mismatch"] == pytest.approx(1 / 3, abs=1e-6)
    first = of_seat(divisions(), "agent_0: human")
    assert first["points"] == 2 and first["points_agreed"] == 6


def test_questions_disclosure_and_phases_of_clarification() -> None:
    asked = [
        event(seat, time + 1, action, "words")
        for time, (seat, action) in enumerate(
            [
                (0, "clarify"),
                (1, "answer"),
                (0, "clarify"),
                (1, "answer"),
                (0, "execute_sql"),
                (0, "submit_sql"),
            ]
        )
    ]
    attempts = [
        {"phase": 1, "attempt": "first", "status": "failed", "reward": 0.0},
        {"phase": 1, "attempt": "debug", "status": "passed", "reward": 0.5},
        {"phase": 2, "attempt": "first", "status": "failed", "reward": 0.0},
    ]
    scenario = {"uuid": "library_1", "database": "library", "question": "Which?"}
    [made] = listed_dialogues([row("Q", scenario, asked, {"reward": 0.5, "attempts": attempts})], "q")
    made = replace(made, counts={"ambiguities": 4, "disclosed": 1, "labelled": 1, "unclear": 1})
    found = overall([made])
    assert made.seats == ("system", "user")
    assert (found["phase_1_first"], found["phase_1"], found["phase_2"]) == (0, 1, 0)
    assert found["questions"] == 2 and found["questions_per_ambiguity"] == 0.5 and found["disclosed"] == 0.25
    assert found["questions_labelled"] == found["questions_unclear"] == 0.5
    assert found["executions"] == found["submissions"] == 1
    assert found["messages"] == 4  # SQL is no message


def test_statistics_without_their_condition_say_so() -> None:
    text = analyse(divisions()).text()
    assert "not defined: times are not in seconds" in text
    assert "not defined: no start times of typing were recorded with the same clock" in text
    figures = analyse(bargains()[:1]).to_json()["figures"]
    assert figures["success"]["why"] == "an interval needs more than one scenario"
    with pytest.raises(InputError, match="no dialogues"):
        analyse([])


@pytest.mark.parametrize(
    ("time", "reward", "moves", "why"),
    [
        (1.0, 0, 2, "no dialogues were successful"),
        (1.7e9, 0, 2, "no dialogues were successful"),
        (1.0, 1, 2, "times are not in seconds"),
        (1.7e9, 1, 1, "no successful dialogue has two moves"),
    ],
)
def test_the_reason_for_missing_seconds_is_the_true_one(
    time: float, reward: int, moves: int, why: str
) -> None:
    said = [event(seat, time + seat, "message", "hi") for seat in range(moves)]
    made = analyse(listed_dialogues([row("D", FRIENDS, said, {"reward": reward})], "d"))
    assert made.to_json()["figures"]["seconds"]["why"] == why


def test_measures_that_are_missing_for_one_reason_share_a_line() -> None:
    scenario = {"uuid": "library_1", "database": "library", "question": "Which?"}
    asked = [event(0, 1, "clarify", "Which one?"), event(1, 2, "answer", "The first.")]
    made = analyse(listed_dialogues([row("Q", scenario, asked, {})], "q"))
    [line] = [line for line in made.text().splitlines() if "private record" in line]
    assert line.split("  ", 2)[1] == "Clarification: 7 further measures"
    assert line.endswith("not defined: questions are recorded only in the private records of runs")
    assert "private record" in made.to_json()["figures"]["disclosed"]["why"]
    [dialogue] = made.dialogues
    silent = overall_why([replace(dialogue, counts={"ambiguities": 2})])
    assert silent["ambiguities"] == "an interval needs more than one scenario"
    assert silent["disclosed"] == "the simulated user answered no question"


def test_words_are_counted_as_by_hand() -> None:
    found = text_statistics(["A b a?", "a c"], ["A {x} a?", "a {x}"])
    assert (found["messages"], found["words"], found["vocabulary"]) == (2, 5, 3)
    assert found["vocabulary_without_entities"] == 1 and found["templates"] == 2
    assert found["type_token_ratio"] == 0.6
    assert found["unigram_entropy_bits"] == pytest.approx(-(0.6 * log2(0.6) + 2 * 0.2 * log2(0.2)))
    assert found["top_bigrams"] == [("a b", 1), ("a c", 1), ("b a", 1)]
    # a after two starts twice; then b and c once each, 1 bit each; all else is certain: 2 bits over 7 words
    assert found["trigram_perplexity"] == pytest.approx(2 ** (2 / 7))
    assert text_statistics([], [])["trigram_perplexity"] is None


def test_templates_and_sequences_are_found() -> None:
    tables = analyse(friends()).tables
    templates = dict(tables["text"]["by_seat"]["agent_0: human"]["top_templates"])
    assert "yes, {number} {name} at {school}, and {number} at {school}." in templates
    acts = tables["acts"]["by_seat"]["agent_1: rulebased"]
    assert dict(acts["sequences"]) == {"inform + question > select > select": 1, "other": 1}
    assert acts["sequence_entropy_bits"] == 1
    assert tables["lengths"][0] == {"moves": 2, "dialogues": 1, "successes": 0}


def test_a_rate_over_single_scenarios_has_wilsons_interval() -> None:
    values = [Ratio(float(i < 30)) for i in range(100)]
    found = ratio_figure(values, range(100), is_rate=True)
    assert found.interval == pytest.approx(wilson(30, 100))
    doubled = ratio_figure(values * 2, [*range(100), *range(100)], is_rate=True)
    assert doubled.interval == pytest.approx(
        found.interval, abs=0.015
    )  # the same scenario twice tells nothing more


def test_other_figures_have_the_percentiles_of_resampled_scenarios() -> None:
    values = [0.7, 1, 0, 0.5, 1, 1, 0, 0.7, 0.2, 0.5, 1, 0]
    found = ratio_figure([Ratio(value) for value in values], range(12))
    assert found.interval == bootstrap(values, range(12))
    weighed = ratio_figure([Ratio(2 * value, 2.0) for value in values], range(12))
    assert weighed == found
    certain = ratio_figure([Ratio(3.0, 3.0)] * 10, [*range(5), *range(5)], is_rate=True)
    assert certain.interval == wilson(5, 5)  # not the point to which resamples of equal scenarios shrink
    assert "do not vary" in ratio_figure([Ratio(2.0)] * 3, "abc").why


def test_no_interval_goes_beyond_what_a_figure_can_be() -> None:
    bounded = ratio_figure([Ratio(1.0), Ratio(1.0), Ratio(0.7)], "abc")
    assert bounded.interval is not None and bounded.interval[1] == 1.0
    agreed = divisions()[0]
    many = [
        replace(agreed, id=name, scenario_id=name, outcome=agreed.outcome | {"reward": {"0": points, "1": 0}})
        for name, points in (("a", 10), ("b", 10), ("c", 4))
    ]
    points = analyse(many).to_json()["seats"]["seat"]["agent_0: human"]["points"]
    assert points["value"] == 8 and points["interval_95"][1] == 10


def test_two_scenarios_are_too_few_for_an_interval() -> None:
    found = ratio_figure([Ratio(1.0), Ratio(3.0)], "ab")
    assert (found.value, found.interval) == (2, None) and "too few" in found.why


def test_surveys_and_ratings_go_with_what_is_measured() -> None:
    [answer] = survey_ratings(friends())
    assert (answer.dialogue, answer.seat, answer.system, answer.value) == ("D1", "agent_1", "rulebased", 5)
    dialogues = [each for base in (friends(), bargains(), divisions()) for each in base]
    ratings = tuple(Rating(each.name, "r", "long", float(len(each.moves))) for each in dialogues)
    made = analyse(dialogues, rated(Judgements(ratings)))
    first = made.correlations[0]
    assert first["measure"] == "Moves in a dialogue" and first["value"] == 1 and first["n"] == 7
    assert correlation([(1, 2), (1, 3), (1, 4)]).why == "one of the two numbers does not vary"
    assert "only one rater" in made.text()


def test_dialogues_of_several_systems_may_have_one_name() -> None:
    rows = [
        row("E_1", FRIENDS, [event(0, 1, "message", "hi")] * count, {}, players=(f"system{count}", "human"))
        for count in (1, 2, 3, 4)
    ]
    found = [each for place, made in enumerate(rows) for each in listed_dialogues([made], f"run{place}")]
    ratings = tuple(
        Rating("E_1", rater, "long", float(len(each.moves)), "agent_0", each.players[0])
        for each in found
        for rater in "ab"
    )
    made = analyse(found, rated(joined([Judgements(ratings)])))
    [moves] = [each for each in made.correlations if each["measure"] == "Moves in a dialogue"]
    assert moves["value"] == 1 and moves["n"] == 4
    assert krippendorff_alpha(ratings).value == 1


def test_a_file_is_a_corpus_whatever_it_lacks(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"uuid": "X", "events": [{"agent": 0, "time": "3", "action": "message", "data": "hi"}]},
        {"uuid": "X", "agents": None, "scenario": None, "outcome": None, "events": []},
        {"uuid": "Y", "agents": {"0": "human"}, "events": [event(1, 2, "eval", "{}"), event(-1, 3, "stop")]},
    ]
    (tmp_path / "odd.json").write_text(json.dumps(rows))
    found = file_dialogues(tmp_path / "odd.json")
    assert [each.id for each in found] == ["odd.json/X", "odd.json/X#2", "odd.json/Y"]
    assert overall(found)["events"] == pytest.approx(1 / 3, abs=1e-6)
    assert [each.players for each in found] == [("unknown",), (), ("human", "unknown")]


HUGE = 10**400
CITY = {**FRIENDS, "kbs": [[{"Name": "Ida", "City": "Boston"}]] * 2}
BIKE = listing("L", 200)
SHARES = {"uuid": "F", "attributes": [], "kbs": [[{"Name": "hat", "Count": HUGE, "Value": "x"}]] * 2}
SQL = {"uuid": "Q", "question": "?", "database": "d"}


@pytest.mark.parametrize(
    ("scenario", "events", "outcome"),
    [
        (CITY, [event(0, 1, "message", "Is Ann at Bo\u017fton, or \u0131da?")], {"reward": HUGE}),
        ({**FRIENDS, "alphas": ["a", None, HUGE, 1]}, [event(0, 1, "message", "Ann")], {"reward": 1e308}),
        (BIKE, [event(0, 1, "offer", {"price": HUGE})], {"reward": 1, "offer": {"price": HUGE}}),
        (BIKE, [event(0, 1, "offer", {"price": 1e308})], {"reward": 1, "offer": {"price": 1e308}}),
        ({**BIKE, "kbs": [{"personal": "x", "item": [1]}] * 2}, [event(0, 1, "message", "$5")], {}),
        (SHARES, [event(0, 1, "quit")], {"reward": {"0": HUGE, "1": "x"}, "valid_deal": True}),
        (SQL, [event(0, 1, "execute_sql", "q")], {"attempts": [{"phase": 1, "reward": "x"}, 3]}),
    ],
)
def test_numbers_and_words_beyond_all_use_do_not_stop_an_analysis(
    scenario: dict[str, Any], events: list[dict[str, Any]], outcome: dict[str, Any]
) -> None:
    surveys = {"0": {"fluent": HUGE, "polite": 1e308}, "1": {"fluent": 3}, "\u00b2": {"fluent": 1}}
    rows = [
        row(id, scenario, events, outcome, players=("human", "<b>"), surveys=surveys) for id in ("1", "2")
    ]
    found = listed_dialogues(rows, "hostile.json")
    answers = survey_ratings(found)
    assert {each.value for each in answers} == {3.0}
    made = analyse(found, rated(Judgements(answers)))
    assert made.text() and json.dumps(made.to_json(), allow_nan=False)
    assert "<b>" not in page(made)


def test_the_published_dialogues_are_analysed(shared_data: Path) -> None:
    found = overall(file_dialogues(shared_data / "cocoa" / "dealornodeal" / "val-60.json"))
    assert 0 < found["success"] <= found["agreed"] <= 1 and found["events"] > 3
    assert found["cross_talk"] is None
