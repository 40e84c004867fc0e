"""Acts: moves without the names, values and prices of their episode; turns of recorded dialogues."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

from birdenv.cocoa.acts import Act, Lexicon, Listener, Transcripts
from birdenv.cocoa.acts._lexicon import PriceWords
from birdenv.cocoa.files import ExampleRecord
from birdenv.dialogue import Move, View, make_game
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError

FRIENDS = [{"Name": "Ann", "Company": "Ford"}, {"Name": "Bob", "Company": "Best Buy"}]
BUYER = {
    "personal": {"Role": "buyer", "Target": 800},
    "item": {"Title": "Bike 2014", "Price": 1000, "Category": "bike", "Description": []},
}


def test_words_of_a_seat_become_slots_and_back() -> None:
    lexicon = Lexicon(FRIENDS)
    taken = lexicon.take_out("Ann or bob, at Best Buy?")
    assert taken == "{Name} or {Name}, at {Company}?"
    filled = lexicon.put_in(taken, "do you know ford", Random(1))
    assert filled is not None and re.fullmatch(r"(Ann or Bob|Bob or Ann), at Ford\?", filled)
    assert lexicon.put_in("at {School}", "", Random(1)) is None


def test_letters_that_only_a_pattern_takes_for_others_are_no_value() -> None:
    lexicon = Lexicon([{"Name": "Kim", "City": "Boston"}])
    text = "K\u0131m of Bo\u017fton"
    assert lexicon.take_out(text) == text and not lexicon.entities(text)


@pytest.mark.parametrize(
    ("text", "prices", "taken"),
    [
        ("I could pay $720 for 20 miles", PriceWords(), "I could pay ${$0.90} for 20 miles"),
        ("How about 720?", PriceWords(700, 900), "How about {~0.10}?"),
        ("I stay at 700, not 900", PriceWords(700, 900), "I stay at {own}, not {theirs}"),
        ("Is the Bike 2014 sold? 1,200?", PriceWords(None, 900), "Is the {Title} sold? {$1.50}?"),
    ],
)
def test_prices_are_told_by_what_was_named_before(text: str, prices: PriceWords, taken: str) -> None:
    lexicon = Lexicon(BUYER)
    assert lexicon.take_out(text, prices) == taken
    assert lexicon.take_out(lexicon.put_in(taken, "", Random(1), prices) or "", prices) == taken


def test_a_price_that_nobody_named_cannot_be_said() -> None:
    assert Lexicon(BUYER).put_in("{theirs} it is", "", Random(1)) is None
    assert Lexicon(FRIENDS).put_in("for {$0.90}", "", Random(1)) is None


def test_things_are_called_by_their_worth() -> None:
    things = [{"Name": name, "Count": 2, "Value": worth} for name, worth in (("hat", 1), ("book", 4))]
    assert Lexicon(things).take_out("2 hats, a book") == "2 {thing 2}s, a {thing 1}"


@pytest.mark.parametrize(
    ("kb", "move", "act"),
    [
        (FRIENDS, Move("message", "Do you have any at Ford?"), Act("message", ("ask Company",))),
        (FRIENDS, Move("message", "No. All of mine are at Ford."), Act("message", ("all Company", "refuse"))),
        (FRIENDS, Move("message", "hi!"), Act("message", ("greet",))),
        (BUYER, Move("message", "ok deal"), Act("message", ("agree",))),
        (BUYER, Move("message", "I can do 850"), Act("message", ("tell price",))),
        (BUYER, Move("offer", {"price": 850, "sides": ""}), Act("offer", ("tell price",))),
        (BUYER, Move("quit"), Act("quit")),
    ],
)
def test_the_act_of_a_move(kb: Any, move: Move, act: Act) -> None:
    view = View(0, "", kb=kb)
    assert Listener(view).act_of(move, view)[0] == act


def held(game: str, *moves: tuple[int, str, Any]) -> ExampleRecord:
    """A dialogue as a file has it."""
    with make_game(game, limit=1) as arena:
        scenario = arena._tasks.scenario(arena.ids[0])
    events = [
        {"agent": seat, "time": time, "action": action, "data": data}
        for time, (seat, action, data) in enumerate(moves, 1)
    ]
    return ExampleRecord.model_validate({"uuid": "E", "scenario": scenario, "events": events})


def test_turns_are_what_each_seat_saw() -> None:
    said = [(0, "message", "hi"), (0, "message", "you there?"), (1, "accept", None), (1, "message", "yes")]
    example = held("bargain", *said, (0, "quit", None), (1, "message", "bye"))
    transcripts = Transcripts(find_game("bargain"), [example])
    with transcripts.arena:
        turns = transcripts.turns(0)
    assert [(turn.view.seat, turn.move.data) for turn in turns] == [
        (0, "hi"),
        (0, "you there?"),
        (1, "yes"),  # `accept` was not possible, and what came after the end is no turn
        (0, None),
    ]
    assert turns[2].view.message == "hi\nyou there?" and turns[2].view.kb["personal"]["Role"] == "seller"


def test_a_seller_who_stands_first_is_the_seller() -> None:
    example = held("bargain", (0, "message", "I sell"), (1, "message", "I buy"))
    assert example.scenario is not None
    example.scenario.kbs.reverse()
    transcripts = Transcripts(find_game("bargain"), [example])
    with transcripts.arena:
        roles = [(turn.move.data, turn.view.kb["personal"]["Role"]) for turn in transcripts.turns(0)]
    assert roles == [("I sell", "seller"), ("I buy", "buyer")]


def test_dialogues_of_another_game_are_told() -> None:
    example = held("bargain", (0, "message", "hi"))
    with pytest.raises(InputError, match="do not belong to mutual-friends"):
        Transcripts(find_game("mutual-friends"), [example])
    with pytest.raises(InputError, match="bird has no such task"):
        Transcripts(find_game("bird"), [example])
    bare = example.model_copy(update={"scenario": None, "scenario_uuid": "S_1"})
    with pytest.raises(InputError, match=r"'E' has no scenario, only the id 'S_1'.*--scenarios"):
        Transcripts(find_game("bargain"), [bare])
