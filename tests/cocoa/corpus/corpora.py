"""Small corpora whose statistics can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from birdenv.cocoa.corpus import CorpusDialogue
from birdenv.cocoa.corpus._corpus import listed_dialogues

NOON = 1_700_000_000.0


def event(
    agent: int, time: float, action: str, data: Any = None, start: float | None = None
) -> dict[str, Any]:
    return {"agent": agent, "time": time, "action": action, "data": data, "start_time": start}


def row(
    id: str,
    scenario: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    outcome: Mapping[str, Any],
    players: Sequence[str] = ("human", "rulebased"),
    surveys: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "uuid": id,
        "scenario_uuid": scenario["uuid"],
        "scenario": dict(scenario),
        "agents": {str(seat): name for seat, name in enumerate(players)},
        "agents_info": {"surveys": surveys} if surveys else None,
        "outcome": dict(outcome),
        "events": list(events),
    }


def friend(name: str, school: str) -> dict[str, str]:
    return {"Name": name, "School": school}


LISTS = [
    [friend("Ann", "Yale"), friend("Bob", "Yale"), friend("Cy", "Duke")],
    [friend("Ann", "Yale"), friend("Di", "Rice")],
]
FRIENDS = {"uuid": "S1", "attributes": [], "alphas": [1.0, 0.3], "kbs": LISTS}
"""Seat 0 has three names and two schools."""

MATCH = LISTS[0][0]


def friends() -> list[CorpusDialogue]:
    """Two dialogues of MutualFriends: one succeeds at the second selection, one fails."""
    found = [
        event(0, NOON, "message", "Hi! I have two friends at Yale.", NOON - 2),
        event(1, NOON + 10, "message", "Any Ann?", NOON - 1),  # began while the first was typed
        event(0, NOON + 20, "message", "Yes, 1 Ann at Yale, and 2 at Duke.", NOON + 12),
        event(1, NOON + 25, "select", LISTS[1][1]),
        event(1, NOON + 30, "select", MATCH),
        event(0, NOON + 31, "select", MATCH),
    ]
    lost = [event(0, NOON, "message", "Sorry?"), event(1, NOON + 5, "message", "Bye")]
    survey = {"1": {"fluent": 5, "comments": "ok"}}
    return listed_dialogues(
        [
            row("D1", FRIENDS, found, {"reward": 1, "status": "completed"}, surveys=survey),
            row("D2", {**FRIENDS, "uuid": "S2"}, lost, {"reward": 0, "status": "left"}),
        ],
        "friends.json",
    )


def listing(uuid: str, price: int) -> dict[str, Any]:
    item = {
        "Title": "Bike from 2012",
        "Category": "bike",
        "Price": price,
        "Description": ["red, fast"],
        "Images": [],
    }
    people = [{"Role": "buyer", "Target": price // 2}, {"Role": "seller", "Target": price}]
    return {
        "uuid": uuid,
        "category": "bike",
        "attributes": [],
        "kbs": [{"personal": p, "item": item} for p in people],
    }


def bargains() -> list[CorpusDialogue]:
    """Two dialogues of Bargain: a deal at 150 of targets 100 and 200, and a rejection."""
    deal = [
        event(0, 1, "message", "Hello, is the red bike from 2012 fast?"),
        event(1, 2, "message", "Sure! It is $200."),
        event(0, 3, "message", "I can give $100 and pick it up."),
        event(1, 4, "message", "150?"),
        event(0, 5, "offer", {"price": 150, "sides": ""}),
        event(1, 6, "accept"),
    ]
    none = [event(0, 1, "offer", {"price": 90, "sides": ""}), event(1, 2, "reject")]
    return listed_dialogues(
        [
            row("B1", listing("L1", 200), deal, {"reward": 1, "offer": {"price": 150, "sides": ""}}),
            row("B2", listing("L2", 200), none, {"reward": 0, "offer": {"price": 90, "sides": ""}}),
        ],
        "bargains.json",
    )


def divisions() -> list[CorpusDialogue]:
    """A valid deal, one whose shares do not fit, and none."""
    kbs = [[{"Name": name, "Count": 1, "Value": 3} for name in ("book", "hat", "ball")]] * 2
    outcomes = [
        {"reward": {"0": 6, "1": 3}, "valid_deal": True, "agreed": True},
        {"reward": {"0": 0, "1": 0}, "valid_deal": False, "agreed": True},
        {"reward": {"0": 0, "1": 0}, "valid_deal": False, "agreed": False},
    ]
    return listed_dialogues(
        [
            row(f"N{i}", {"uuid": f"F{i}", "attributes": [], "kbs": kbs}, [event(0, 1, "quit")], outcome)
            for i, outcome in enumerate(outcomes)
        ],
        "divisions.json",
    )
