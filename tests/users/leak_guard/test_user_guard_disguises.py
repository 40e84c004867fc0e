"""Strangers in the user's seat: secrets in disguise are stopped, a human's ordinary sentences are not."""

from __future__ import annotations

import base64
import codecs
import time

import pytest

from birdenv.users import Ambiguity, Brief
from birdenv.users.leak_guard import GuardedAnswer, guard_answer

CLEAR = "List members who borrowed more than nine books last spring, with the mean delay of their returns."
GOLD = (
    "SELECT m.full_name, AVG(x.delay_days) AS mean_delay FROM members m JOIN loansheet x "
    "ON x.memref = m.memref WHERE m.tier IN ('junior', 'student') AND x.days_out "
    "BETWEEN '2023-03-01' AND '2023-05-31' GROUP BY m.full_name HAVING COUNT(*) > 9"
)
BRIEF = Brief(
    clear_query=CLEAR,
    ambiguities=(
        Ambiguity("young", "m.tier IN ('junior', 'student')", "critical"),
        Ambiguity("spring", "x.days_out BETWEEN '2023-03-01' AND '2023-05-31'", "critical"),
        Ambiguity("drift", "s.freqdrifthzs", "critical"),
        Ambiguity("busy", "m.visits >= 40", "critical"),
    ),
    gold=(GOLD,),
    identifiers=frozenset(
        {
            "members",
            "loansheet",
            "memref",
            "full_name",
            "delay_days",
            "days_out",
            "tier",
            "FreqDriftHzs",
            "visits",
        }
    ),
)
GRANTED = ("m.visits >= 40",)


def leet(text: str) -> str:
    return text.lower().translate(str.maketrans("oieast", "013457"))


def hyphened(text: str) -> str:
    return "-".join(text)


REFERENCES = [
    "The reference wants this",
    "According to the solution",
    "The benchmark expects that",
    "the true query says so",
    "my gold answer",
    "The answer key has it.",
    "It passes the test cases.",
]
RAW = [
    "m.tier IN ('junior', 'student')",
    "tier in ('junior', 'student')",
    "s.freqdrifthzs",
    "It is freqdrifthzs.",
    "the x.days_out",
    "take m.tier for it",
    "days between '2023-03-01' and '2023-05-31'",
    "tier = 'junior'; delay / 2; m.visits >= 41",
]
DISGUISES = {
    "leet": leet,
    "backwards": lambda text: text[::-1],
    "words backwards": lambda text: " ".join(reversed(text.split())),
    "hyphens": hyphened,
    "lines": lambda text: "\n".join(text.split()),
    "letters on lines": "\n".join,
    "dots": lambda text: text.replace(" ", "."),
    "no spaces": lambda text: text.replace(" ", ""),
    "underscores": lambda text: text.replace(" ", "__"),
    "leet backwards": lambda text: leet(text)[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 in prose": lambda text: f"Here you are: {base64.b64encode(text.encode()).decode()} - enjoy.",
    "urlsafe": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 on lines": lambda text: base64.encodebytes(text.encode()).decode(),
    "base64 shifted": lambda text: "x" + base64.b64encode(text.encode()).decode(),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "hex spaced": lambda text: text.encode().hex(" "),
    "codes": lambda text: " ".join(str(b) for b in text.encode()),
}
HUMAN = [
    "I mean members who joined in 2023 and paid between 5 and 10 euros.",
    "Only those with at least 40 visits, please.",
    "The ones who come often, say 40 times or more.",
    "Yes, exactly.",
    "No, leave the empty ones out.",
    "Sort them from the highest to the lowest.",
    "Two decimals will do.",
    "I don't mind; whichever is easier for you.",
    "For reference, I count a visit as one day.",
    "We see no solution other than counting each visit once.",
    "Members (e.g. students) count if they visited 40 times, i.e. about weekly.",
    "Everyone in the juniors, in (roughly) the last spring.",
    "It's the person's own visits, not the family's.",
    "By 'busy' I mean that the visits are 40 or more.",
    "Between March and May, both included.",
    "You could call www.example.org or write to me at 9 a.m. or 5 p.m.",
    "The mean of the delay in days, rounded.",
    "Group them by their tier and show the mean for each.",
    "Either of the two is fine and/or both.",
    "Take the first 10 rows; I only need a sample.",
    "If somebody has no visits, treat it as 0.",
    "About 3/4 of them, or 75 %.",
    "Visits are counted per week: 40/week is busy.",
    "Phone numbers such as 555 123 456 789 do not matter.",
    "Great question! I'd like only adults, older than 18, and no duplicates.",
    "The characteristics that matter are responsiveness, trustworthiness and straightforwardness.",
    "Please do not count a visit twice.When in doubt, leave it out.",
]


@pytest.mark.parametrize("text", REFERENCES + RAW)
def test_references_and_raw_sql_are_stopped(text: str) -> None:
    assert guard_answer(text, BRIEF, GRANTED).reason


@pytest.mark.parametrize(
    "secret", [CLEAR, GOLD, CLEAR[:70], GOLD[60:170]], ids=["clear", "gold", "some clear", "some"]
)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_disguised_secrets_are_stopped(disguise: str, secret: str) -> None:
    assert guard_answer(DISGUISES[disguise](secret), BRIEF, GRANTED).reason


@pytest.mark.parametrize(
    "name",
    ["fu11_n4me", "eman_lluf", "syad_yaled", "l04nsh33t", "teehsn4ol", "d-a-y-s-_-o-u-t", "d a y s _ o u t"],
)
def test_names_in_disguise_are_stopped(name: str) -> None:
    assert guard_answer(f"It is {name}.", BRIEF, GRANTED).reason


@pytest.mark.parametrize("text", HUMAN)
def test_ordinary_sentences_pass(text: str) -> None:
    assert guard_answer(text, BRIEF, GRANTED) == GuardedAnswer(text)


def test_a_snippet_is_secret_only_until_it_is_granted() -> None:
    words = "the days out is between '2023-03-01' and '2023-05-31'"
    assert guard_answer(words, BRIEF, GRANTED).reason
    assert not guard_answer(words, BRIEF, (BRIEF.ambiguities[1].snippet,)).reason


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "piece", ["QUJD", "4a ", "74 ", "a.b ", "in (", "between '", "x=y ", "a-", "A" * 13 + " ", "the "]
)
def test_long_disguises_take_bounded_time(piece: str) -> None:
    start = time.process_time()
    guard_answer(piece * (100_000 // len(piece)), BRIEF, GRANTED)
    assert time.process_time() - start < 3
