"""What the leak guard stops, and what it lets pass, whoever speaks."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from birdenv.users import Ambiguity, Brief, BriefNotes, RuleUser
from birdenv.users.leak_guard import guard_answer

BRIEF = Brief(
    clear_query=(
        "For every shop, list the loaves whose crust score is above seven and rank them by the margin."
    ),
    ambiguities=(Ambiguity("best loaves", "l.crust_score > 7 AND l.tier = 'Gold'", "critical"),),
    gold=(
        "SELECT l.loaf_name, AVG(x.margin_eur) AS m FROM loaves AS l "
        "JOIN salesref AS x ON x.loafkey = l.loafkey "
        "WHERE l.crust_score > 7 AND l.tier = 'Gold' GROUP BY l.loaf_name ORDER BY m DESC LIMIT 3",
    ),
    identifiers=frozenset(
        {
            "loaves",
            "salesref",
            "loafkey",
            "loaf_name",
            "crust_score",
            "marginEur",
            "margin_eur",
            "status",
            "name",
        }
    ),
)
GRANTED = (BRIEF.ambiguities[0].snippet,)

LEAKS = [
    "SELECT the name FROM the loaves",
    "select\n*\nfrom shops",
    "sEl\u200bEcT a fRoM b",
    "ＳＥＬＥＣＴ a ＦＲＯＭ b",
    "sеlесt a frоm b",  # Cyrillic letters
    "S E L E C T a F R O M b",
    "SEL/**/ECT a FR/* x */OM b",
    "s\u0301elect a from b",
    "INSERT INTO loaves",
    "update shops set price",
    "delete from shops",
    "Create or replace view x",
    "create table x",
    "WITH best AS (something)",
    "join shops on the key",
    "union all of them",
    "```\nanything\n```",
    "Use COUNT(*) of them",
    "It is avg( distinct price)",
    "It is count(loaves)",
    "where price > 3",
    "case when it is old",
    "The ground truth says seven.",
    "According to the ground-truth, seven.",
    "The reference SQL sorts them.",
    "My solution query sorts them.",
    "It was annotated as seven.",
    "That is in the snippet.",
    "My SQL has it.",
    "It is margin_eur.",
    "It is MARGIN_EUR.",
    "It is margin\u200b_eur.",
    "It is marginEur.",
    "Look at the loafkey.",
    "Look at the L o a f k e y.",
    "loaf name avg x margin eur as m from",
    "list the loaves whose crust score is above seven and",
    "LIST, the loaves whose crust-score is: above seven AND!",
]

FINE = [
    "",
    "By 'best loaves' I mean that the crust score is greater than 7 and the tier equals 'Gold'.",
    "Yes.",
    "I mean the crust_score, above 7.",
    "Please order by price, the status and name do not matter.",
    "Choose from what is there.",
    "Join us.",
    "Whole loaves only, and each once.",
    "Count them (without the broken ones).",
    "I would update it when the sun has set and everything is calm again.",
    "The crust score is above seven.",
    "Größer als sieben, s'il vous plaît.",
]


@pytest.mark.parametrize("text", LEAKS)
def test_leaks_are_replaced_with_a_reason(text: str) -> None:
    guarded = guard_answer(text, BRIEF, GRANTED)
    assert guarded.reason
    assert guarded.text == guard_answer("SELECT a FROM b", BRIEF, ()).text != text


@pytest.mark.parametrize("text", FINE)
def test_plain_words_pass_unchanged(text: str) -> None:
    guarded = guard_answer(text, BRIEF, GRANTED)
    assert (guarded.text, guarded.reason) == (text, "")


def test_a_name_is_free_only_where_it_is_granted() -> None:
    assert not guard_answer("It is the crust_score.", BRIEF, GRANTED).reason
    assert guard_answer("It is the crust_score.", BRIEF, ()).reason


def test_gold_is_a_telltale_only_where_the_task_does_not_speak_of_gold() -> None:
    assert guard_answer("Gold says so.", Brief("", ()), ()).reason
    assert not guard_answer("The gold ones.", BRIEF, GRANTED).reason
    assert not guard_answer("The price of gold.", Brief("What does gold cost?", ()), ()).reason


def test_the_meaning_of_a_granted_column_may_speak_of_a_reference() -> None:
    snippet = "r.refmark LIKE '%Target%'"
    notes = BriefNotes({"refmark": "Reference markers used in the scan."}, {})
    brief = Brief(
        "", (Ambiguity("reliable", snippet, "critical"),), identifiers=frozenset({"refmark"}), notes=notes
    )
    answer = RuleUser().answer(brief, "What do you mean by 'reliable'?")
    assert "reference mark" in answer.text
    assert not guard_answer(answer.text, brief, answer.granted).reason
    assert guard_answer(answer.text, brief, ()).reason


@pytest.mark.parametrize(
    "request_",
    [
        "For every shop, list the loaves whose crust score is above seven.",
        "List the loaves with their marginEur.",
        "List the loaves, with the best one as a reference.",
        "List the loaves with a score > 7.",
    ],
)
def test_the_request_is_public_and_may_be_repeated(request_: str) -> None:
    gold = replace(BRIEF, gold=("SELECT a FROM loaves WHERE score > 7",))
    assert guard_answer(f"As I said: {request_}", gold, ()).reason
    known = replace(gold, request=request_)
    assert guard_answer(f"As I said: {request_}", known, ()).reason == ""
    assert guard_answer(f"As I said: {request_} See salesref.", known, ()).reason


def test_the_canned_reply_passes_itself() -> None:
    canned = guard_answer("SELECT a FROM b", BRIEF, ()).text
    assert guard_answer(canned, BRIEF, ()).reason == ""


def test_a_brief_without_secrets_still_stops_sql() -> None:
    empty = Brief("", ())
    assert guard_answer("select a from b", empty, ()).reason
    assert not guard_answer("the first five", empty, ()).reason


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "piece", ["select ", "a_", "a b ", "with x ", "where a", "/*", "count ", "ground ", "🙂 ", "é\u200b"]
)
def test_long_text_takes_bounded_time(piece: str) -> None:
    start = time.process_time()
    guard_answer(piece * (100_000 // len(piece)), BRIEF, GRANTED)
    assert time.process_time() - start < 3


def test_invisible_signs_are_not_passed_on() -> None:
    tags = "".join(chr(0xE0000 + ord(c)) for c in "loaf_kind = 'rye'")
    said = guard_answer(f"The dark\u200b ones{tags}.\ufe01", BRIEF, ()).text
    assert said == "The dark ones."


def test_the_verdict_depends_on_what_was_granted() -> None:
    for _ in range(2):
        assert not guard_answer("It is the crust_score.", BRIEF, GRANTED).reason
        assert guard_answer("It is the crust_score.", BRIEF, ()).reason


def test_many_different_answers_are_filtered_each_by_itself() -> None:
    for i in range(1200):
        assert not guard_answer(f"The best {i} of them.", BRIEF, ()).reason
        assert guard_answer(f"The crust_score, {i} times.", BRIEF, ()).reason
