"""Transcripts survive a file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from birdenv.dialogue import Action, Dialogue, Event, Field, Move, Reply, Rules, Seat, View, play
from birdenv.dialogue.record import Example

SAY = Action("say", (Field("number", "integer"),))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
events = st.builds(
    Event,
    agent=st.integers(0, 1),
    time=st.integers(0, 99),
    action=st.text(max_size=8),
    data=json_values,
    start_time=st.none() | st.integers(0, 9),
    metadata=st.none() | objects,
)
examples = st.builds(
    Example,
    uuid=st.text(),
    scenario_uuid=st.text(),
    scenario=objects,
    agents=st.dictionaries(st.sampled_from("01"), st.text(max_size=5)),
    outcome=st.none() | objects,
    events=st.lists(events, max_size=2).map(tuple),
    agents_info=st.none() | objects,
)


@given(examples)
def test_json_round_trip(example: Example) -> None:
    assert Example.from_json(json.loads(json.dumps(example.to_json()))) == example


def test_the_seven_keys_of_cocoa() -> None:
    example = Example("E_1", "S_1", {}, {"0": "a", "1": "b"}, None, (Event(0, 1, "message", "hi"),))
    assert list(example.to_json()) == [
        "uuid",
        "scenario_uuid",
        "scenario",
        "agents",
        "agents_info",
        "outcome",
        "events",
    ]
    assert {"agent", "time", "action", "data"} <= set(example.to_json()["events"][0])


class Countdown(Rules):
    """Two seats take turns saying numbers until one says 0."""

    seats = (Seat("even", (SAY,)), Seat("odd", (SAY,)))

    def __init__(self) -> None:
        self.left = 4

    def open(self) -> tuple[int, ...]:
        return () if self.status else (self.left % 2,)

    def legal(self, seat: int) -> tuple[str, ...]:
        return ("say",)

    def instruction(self, seat: int) -> str:
        return "Count down."

    def gauges(self, seat: int) -> Mapping[str, float]:
        return {"left": self.left}

    def play(self, seat: int, move: Move) -> Reply:
        self.left = move.data - 1
        self.status = "" if move.data else "completed"
        return Reply()


class Teller:
    def move(self, view: View) -> Move:
        return Move("say", view.left)


def test_play_asks_the_seat_whose_turn_it_is() -> None:
    game = Dialogue(Countdown())
    play(game, [Teller(), Teller()])
    assert game.terminated
    assert [(event.agent, event.data) for event in game.events] == [(0, 4), (1, 3), (0, 2), (1, 1), (0, 0)]
