"""MutualFriends, Bargain and DealOrNoDeal: what moves come to."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from birdenv.cocoa.files import read_examples
from birdenv.cocoa.games.bargain import margins
from birdenv.cocoa.games.bargain._draw_scenarios import DISCOUNTS
from birdenv.cocoa.games.deal_or_no_deal import THINGS, DealRules, DealSettings
from birdenv.cocoa.games.mutual_friends import generate
from birdenv.cocoa.games.mutual_friends._draw_scenarios import SCHEMA
from birdenv.dialogue import Dialogue, DialogueOver, Move, make_game
from birdenv.errors import InputError


def started(game: str, **settings: Any) -> Dialogue:
    with make_game(game, limit=1, **settings) as arena:
        return arena.start(arena.ids[0])


def common(dialogue: Dialogue) -> Any:
    mine, theirs = (dialogue.view(seat).kb for seat in (0, 1))
    [item] = [item for item in mine if item in theirs]
    return item


def test_generated_lists_have_exactly_one_friend_in_common() -> None:
    scenarios = generate(SCHEMA, 500, seed=3)
    for scenario in scenarios:
        mine, theirs = scenario.kbs
        assert 5 <= len(mine) == len(theirs) <= 12
        assert all(mine.count(item) == 1 for item in mine) and all(theirs.count(item) == 1 for item in theirs)
        assert sum(item in theirs for item in mine) == 1
        assert len(scenario.alphas) == len(scenario.attributes) == 3  # type: ignore[attr-defined]
    assert [each.to_json() for each in generate(SCHEMA, 500, seed=3)] == [s.to_json() for s in scenarios]
    sized = generate(SCHEMA, 20, items=(7, 7), attributes=(2, 4))
    assert {len(kb) for scenario in sized for kb in scenario.kbs} == {7}
    assert {len(scenario.attributes) for scenario in sized} == {2, 3, 4}


def test_friends_are_found_when_the_last_selections_are_equal() -> None:
    dialogue = started("mutual-friends")
    friend = common(dialogue)
    wrong = next(item for item in dialogue.view(0).kb if item != friend)
    assert dialogue.apply(0, Move("select", wrong)).metadata is None
    refused = dialogue.apply(1, Move("select", wrong))  # not one of its own
    assert refused.metadata is not None and refused.metadata["refused"] and refused not in dialogue.heard(0)
    choices = f"one of your {len(dialogue.view(1).choices)} choices, complete and exactly as listed"
    needs = f"select needs item: {choices}"
    assert refused.metadata["reply"] == f"Not done: {needs}. Possible actions: message, select."
    dialogue.apply(1, Move("select", friend))
    assert dialogue.rewards == (0.0, 0.0) and dialogue.open == (0, 1)
    dialogue.apply(0, Move("select", friend))
    assert dialogue.terminated and dialogue.outcome() == {"reward": 1}


@pytest.mark.parametrize("game", ["mutual-friends", "bargain", "deal-or-no-deal"])
def test_cross_talk_is_a_setting_and_the_last_event_truncates(game: str) -> None:
    strict = started(game, cross_talk=False, max_events=4)
    strict.apply(0, Move("message", "hello"))
    assert strict.open == (1,)
    strict.apply(0, Move("message", "are you there?"))
    assert [event.data for event in strict.heard(1)] == ["hello"]
    assert strict.heard(0)[-1].metadata["reply"] == "It is not your turn."  # type: ignore[index]
    strict.apply(1, Move("typing", "started"))
    assert strict.open == (1,)  # to type is no answer
    free = started(game, cross_talk=True, max_events=4)
    for _ in range(3):
        free.apply(0, Move("message", "hello"))
    assert len(free.heard(1)) == 3 and free.view(0).events_left == 1
    free.apply(0, Move("nonsense"))
    assert free.truncated and free.status == "event limit"


OFFER = Move("offer", {"price": 100})


@pytest.mark.parametrize(
    ("moves", "status", "reward"),
    [
        ([OFFER, Move("accept")], "completed", 1),
        ([OFFER, Move("reject")], "no deal", 0),
        ([OFFER, Move("quit")], "no deal", 0),
        ([Move("message", "hi"), Move("quit")], "no deal", 0),
    ],
)
def test_ends_of_a_bargain(moves: list[Move], status: str, reward: int) -> None:
    dialogue = started("bargain")
    for place, move in enumerate(moves):
        dialogue.apply(place % 2, move)
    offered = {"price": 100, "sides": ""} if moves[0] is OFFER else None
    assert dialogue.terminated and dialogue.status == status
    assert dialogue.outcome() == {"reward": reward, "offer": offered}
    assert status == "completed" or dialogue.rewards == (-0.5, -0.5)


@pytest.mark.parametrize(
    ("before", "seat", "move", "said"),
    [
        ([], 0, Move("accept"), "accept is not possible now. Possible actions: message, offer, quit."),
        ([], 1, Move("reject"), "reject is not possible now"),
        ([OFFER], 1, OFFER, "offer is not possible now. Possible actions: accept, reject, quit."),
        ([OFFER], 0, Move("accept"), "It is not your turn."),
        ([OFFER], 1, Move("message", "hm"), "message is not possible now"),
        ([], 0, Move("offer", {"price": -1}), "price: a number from 0 to 10,000,000; sides: text of at most"),
        ([], 0, Move("offer", 5), "offer needs price: a number"),
    ],
)
def test_impossible_moves_of_a_bargain_are_refused(
    before: list[Move], seat: int, move: Move, said: str
) -> None:
    dialogue = started("bargain")
    for made in before:
        dialogue.apply(0, made)
    refused = dialogue.apply(seat, move).metadata or {}
    assert refused["refused"] and said in refused["reply"]
    assert not dialogue.is_over


def test_margins() -> None:
    assert margins(60, 60, 100) == (1, -1)
    assert margins(80, 60, 100) == (0, 0)
    assert margins(100, 60, 100) == (-1, 1)
    assert margins(100, 100, 100) is None


def test_the_role_says_who_is_the_buyer(tmp_path: Path) -> None:
    from birdenv.cocoa.files import write_scenarios
    from birdenv.cocoa.games.bargain._draw_scenarios import generate as bargains

    [scenario] = bargains(1)
    swapped = scenario.to_json() | {"kbs": scenario.kbs[::-1]}
    write_scenarios(tmp_path / "s.json", [swapped])
    dialogue = started("bargain", scenarios=str(tmp_path / "s.json"))
    assert [dialogue.view(seat).kb["personal"]["Role"] for seat in (0, 1)] == ["buyer", "seller"]


def test_a_deal_is_hidden_until_both_have_selected() -> None:
    dialogue = started("deal-or-no-deal")
    counts = {item["Name"]: item["Count"] for item in dialogue.view(0).kb}
    too_many = {name: count + 1 for name, count in counts.items()}
    assert (dialogue.apply(0, Move("select", too_many)).metadata or {})["refused"]
    dialogue.apply(0, Move("select", counts))
    assert dialogue.view(1).heard[-1].data is None and dialogue.view(1).legal == ("select", "quit")
    dialogue.apply(1, Move("select", dict.fromkeys(counts, 0)))
    assert dialogue.rewards == (10.0, 0.0)
    assert dialogue.outcome()["item_split"] == [counts, dict.fromkeys(counts, 0)]


NOTHING, ALL = dict.fromkeys(THINGS, 0), None


@pytest.mark.parametrize(
    ("moves", "status", "agreed", "valid"),
    [
        ([Move("quit")], "no deal", False, False),
        ([Move("select", NOTHING), Move("quit")], "no deal", False, False),
        ([Move("select", NOTHING), Move("select", NOTHING)], "no deal", True, False),
        ([Move("select", ALL), Move("select", ALL)], "no deal", True, False),
        ([Move("select", NOTHING), Move("select", ALL)], "completed", True, True),
    ],
)
def test_ends_of_a_division(moves: list[Move], status: str, agreed: bool, valid: bool) -> None:
    dialogue = started("deal-or-no-deal")
    counts = {item["Name"]: item["Count"] for item in dialogue.view(0).kb}
    for seat, move in enumerate(moves):
        dialogue.apply(seat, move._replace(data=counts) if move == Move("select", ALL) else move)
    outcome = dialogue.outcome()
    assert (dialogue.status, outcome["agreed"], outcome["valid_deal"]) == (status, agreed, valid)
    assert outcome["reward"] == {"0": 0, "1": 10 if valid else 0}
    with pytest.raises(DialogueOver):
        dialogue.apply(0, Move("message", "one more thing"))


def test_a_division_that_broke_off_is_no_agreement() -> None:
    dialogue = started("deal-or-no-deal")
    dialogue.apply(0, Move("select", {item["Name"]: item["Count"] for item in dialogue.view(0).kb}))
    dialogue.stop("left")
    assert dialogue.outcome()["agreed"] is False


def test_buyers_of_the_real_advertisements_have_our_discounts(shared_data: Path) -> None:
    path = shared_data / "cocoa" / "craigslistbargain" / "sample-scenarios.json"
    with make_game("bargain", scenarios=str(path)) as arena:
        for instance_id in arena.ids:
            buyer, seller = arena.start(instance_id).rules.kbs
            price = seller["item"]["Price"]
            assert seller["personal"]["Target"] == price
            assert buyer["personal"]["Target"] in {int(round(share * price, 6)) for share in DISCOUNTS}
        assert len(arena.ids) == 20


@pytest.mark.slow
def test_outcomes_of_real_deals_are_those_of_the_file(shared_data: Path) -> None:
    examples = read_examples(shared_data / "cocoa" / "dealornodeal" / "val-60.json")
    for example in examples:
        assert example.scenario is not None
        dialogue = Dialogue(DealRules(example.scenario, DealSettings()))
        for event in example.events:
            made = dialogue.apply(event.agent, Move(event.action, event.data))
            assert made.metadata is None
        assert dialogue.terminated and dialogue.outcome() == example.outcome
    assert len(examples) == 60


@pytest.mark.parametrize("game", ["mutual-friends", "bargain", "deal-or-no-deal"])
def test_nothing_of_the_other_seat_can_be_seen(game: str) -> None:
    with make_game(game, limit=20) as arena:
        for instance_id in arena.ids:
            dialogue = arena.start(instance_id)
            for seat in (0, 1):
                own, others = (dialogue.rules.knowledge(each) for each in (seat, 1 - seat))
                context = arena.context(dialogue, instance_id, seat)
                seen = repr((dialogue.view(seat), context.scenario, context.brief, list(context.tasks)))
                assert not [secret for secret in secrets(game, others, own) if secret in seen]


def secrets(game: str, others: Any, own: Any) -> list[str]:
    if game == "bargain":
        target, price = others["personal"]["Target"], own["item"]["Price"]
        hidden = [line for line in others["item"]["Description"] if line not in own["item"]["Description"]]
        return hidden + ([f"'Target': {target}"] if target != price else [])
    return [repr(item) for item in others if item not in own]


def test_every_move_that_a_random_player_can_make_leaves_a_dialogue_that_ends() -> None:
    for game in ("mutual-friends", "bargain", "deal-or-no-deal"):
        rng = Random(game)
        with make_game(game, limit=10, max_events=30) as arena:
            for instance_id in arena.ids:
                dialogue = arena.start(instance_id)
                while dialogue.open:
                    seat = rng.choice(list(dialogue.open))
                    dialogue.apply(seat, random_move(dialogue, seat, rng))
                assert len(dialogue.events) <= 31 and dialogue.status


def random_move(dialogue: Dialogue, seat: int, rng: Random) -> Move:
    view = dialogue.view(seat)
    action = dialogue.rules.seats[seat].by_name[rng.choice(view.legal)]
    values = {
        field.name: rng.choice(view.choices)
        if field.kind == "item"
        else "words"
        if field.is_text
        else rng.randint(0, 2)
        for field in action.fields
    }
    return Move(action.name, action.data_of(values) if values else None)


NAMES = '"attributes": [{"name": "Name", "value_type": "name"}]'
BUYER = """{"personal": {"Role": "buyer", "Target": 1},
 "item": {"Title": "A", "Category": "bike", "Price": 2, "Description": []}}"""


@pytest.mark.parametrize(
    ("game", "scenarios", "says"),
    [
        (
            "mutual-friends",
            '[{"uuid": "S", "kbs": [[], []], "attributes": []}]',
            "a list must have 1 to 20 friends",
        ),
        ("mutual-friends", '[{"uuid": "S", "kbs": [[{"Name": 3}], []]}]', "kbs.0.0.Name: .* valid string"),
        (
            "mutual-friends",
            f'[{{"uuid": "S", "kbs": [[{{}}], [{{}}]], {NAMES}}}]',
            "each with strings for Name",
        ),
        (
            "bargain",
            '[{"uuid": "S", "kbs": [{}, {}]}]',
            "cannot be played: kbs.0.personal: Field",
        ),
        ("bargain", f'[{{"uuid": "S", "kbs": [{BUYER}, {BUYER}]}}]', "one seat must be the buyer"),
        ("deal-or-no-deal", '[{"uuid": "S", "kbs": [[], []]}]', "both seats must have the same counts"),
        ("deal-or-no-deal", '[{"uuid": "S", "kbs": [[]]}]', "record 1: the field `kbs`"),
        ("bargain", '[{"kbs": [{}, {}]}]', "record 1: the field `uuid`"),
        ("bargain", '[{"uuid": "S", "kbs": [[{"Name": "A"}], []]}]', "is a scenario of mutual-friends"),
        ("mutual-friends", f'[{{"uuid": "S", "kbs": [{BUYER}, {BUYER}]}}]', "is a scenario of bargain"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_told_at_once(
    game: str, scenarios: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "scenarios.json"
    file.write_text(scenarios)
    with pytest.raises(InputError, match=says):
        make_game(game, scenarios=str(file))
