"""The rule-based players of CoCoA's games: with each other, and with partners who talk as people do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
from birdenv_agents.bargain._reader import Prices, read
from birdenv_agents.cocoa_rules import phrases
from birdenv_agents.deal_or_no_deal import agrees, read_share
from birdenv_agents.mutual_friends._reader import Reader

from birdenv.cocoa.files import read_schema
from birdenv.dialogue import Dialogue, Move, PlayerContext, make_game, play, replay
from birdenv.dialogue.arena import Arena
from birdenv.errors import InputError

BANKS = Path(__file__).parent / "banks"


def played(game: str, players: tuple[str, str], number: int) -> Iterator[tuple[Arena, str, Dialogue]]:
    """Dialogues of two players, who take turns in beginning."""
    with make_game(game, limit=number) as arena:
        seats = dict(zip(arena.game.seat_names, players, strict=True))
    with make_game(game, limit=number, **seats) as arena:
        for place, instance_id in enumerate(arena.ids):
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id, seed=1), first=place % 2)
            yield arena, instance_id, dialogue


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("player", "success", "events", "by_select"),
    [("rulebased", 0.99, 8, 0.35), ("rulebased:2", 0.98, 13, 0.3)],
)
def test_friends_are_found(player: str, success: float, events: int, by_select: float) -> None:
    dialogues = [dialogue for *_, dialogue in played("mutual-friends", (player, player), 200)]
    found = sum(dialogue.outcome()["reward"] for dialogue in dialogues)
    selects = sum(event.action == "select" for dialogue in dialogues for event in dialogue.events)
    assert found / len(dialogues) >= success
    assert median(len(dialogue.events) for dialogue in dialogues) <= events
    assert found / selects >= by_select


def test_bargains_are_made_in_the_middle() -> None:
    dialogues = [dialogue for *_, dialogue in played("bargain", ("rulebased", "rulebased"), 200)]
    deals = [dialogue for dialogue in dialogues if dialogue.outcome()["reward"]]
    margins = [dialogue.rewards[1] for dialogue in deals]
    assert len(deals) >= 190 and median(len(dialogue.events) for dialogue in dialogues) <= 10
    assert abs(mean(margins)) <= 0.3 and max(map(abs, margins)) <= 1.2


def test_things_are_shared() -> None:
    dialogues = [dialogue for *_, dialogue in played("deal-or-no-deal", ("rulebased", "rulebased"), 100)]
    assert sum(dialogue.outcome()["valid_deal"] for dialogue in dialogues) >= 90
    assert mean(sum(dialogue.rewards) for dialogue in dialogues) >= 12


@pytest.mark.every(6)
@pytest.mark.parametrize("bank", ["", "_other_hand", "_chat"])
@pytest.mark.parametrize("game", ["mutual-friends", "bargain"])
@pytest.mark.parametrize("seat", [0, 1])
def test_partners_who_talk_like_people(game: str, seat: int, bank: str) -> None:
    """The other banks are by people who knew nothing of how the players read messages."""
    partner = f"phrases:{BANKS / game.replace('-', '_')}{bank}.json"
    players = (partner, "rulebased") if seat else ("rulebased", partner)
    won = [dialogue.outcome()["reward"] for *_, dialogue in played(game, players, 60)]
    assert mean(won) >= 0.85


@pytest.mark.parametrize("game", ["mutual-friends", "bargain"])
def test_two_partners_who_talk_like_people(game: str) -> None:
    partner = f"phrases:{BANKS / game.replace('-', '_')}_chat.json"
    won = [dialogue.outcome()["reward"] for *_, dialogue in played(game, (partner, partner), 40)]
    assert mean(won) >= 0.85


@pytest.mark.parametrize("game", ["mutual-friends", "bargain", "deal-or-no-deal"])
def test_dialogues_replay_to_the_same_end(game: str) -> None:
    for arena, instance_id, dialogue in played(game, ("rulebased", "rulebased"), 10):
        again = replay(arena.start(instance_id).rules, dialogue.events)
        assert again.rewards == dialogue.rewards and again.outcome() == dialogue.outcome()
        assert not any((event.metadata or {}).get("refused") for event in dialogue.events)


@pytest.mark.slow
def test_the_same_words_in_every_process() -> None:
    program = (
        "from birdenv.dialogue import make_game, play\n"
        "for game in ('mutual-friends', 'bargain', 'deal-or-no-deal'):\n"
        "    with make_game(game, limit=8) as arena:\n"
        "        for name in arena.ids:\n"
        "            dialogue = arena.start(name)\n"
        "            play(dialogue, arena.seat_players(dialogue, name))\n"
        "            print([event.data for event in dialogue.events])\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(said) == 1 and len(said.pop()) > 1000


FRIENDS = [
    dict(zip(("Name", "School", "Major", "Company", "Hobby", "Time Preference"), row, strict=True))
    for row in (
        ("Elena", "University of Pennsylvania", "Computer Science", "Google", "Hiking", "Morning"),
        ("Wanda", "Penn State", "Mathematics", "Electronic Arts", "Cooking", "Evening"),
        (
            "Bruno",
            "University of California - Berkeley",
            "Physics",
            "General Electric",
            "Board games",
            "Morning",
        ),
        ("Zoe", "Stanford University", "Dance", "Whole Foods", "Swimming", "Evening"),
        ("Pedro", "Yale University", "Law", "a21, Inc.", "Dance", "Afternoon"),
    )
]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("hi, do you have any friends at google?", "ask Google"),
        ("anyone who hikes?", "ask Hiking"),
        ("any cs people", "ask Computer Science"),
        ("UC Berkeley?", "ask University of California - Berkeley"),
        ("EA?", "ask Electronic Arts"),
        ("do any of your friends swim", "ask Swimming"),
        ("is it the physics major who likes board games?", "ask Board games, Physics"),
        ("somebody at A21?", "ask a21, Inc."),
        ("anybody at Adidas?", "ask"),
        ("anybody studying dance?", "ask Dance"),
        ("any dancers?", "ask Dance; ask Dance"),
        ("which company does he work for?", "open"),
        ("I have 3 who work at Google and 2 who study math", "inform Google, Mathematics"),
        ("only 2 of them like cooking", "inform Cooking"),
        ("none of my friends are into cooking", "deny Cooking"),
        ("I don't know anybody from Yale", "deny Yale University"),
        ("I've got neither law nor physics", "deny Law; deny Physics"),
        ("No hiking, no cooking", "deny Hiking; deny Cooking"),
        ("I can rule out Google", "deny Google"),
        ("mine all went to stanford", "only Stanford University"),
        ("i only have people that like hiking", "only Hiking"),
        ("everyone likes hiking except one", "only Hiking"),
        ("all my Stanford folks like hiking.", "only Hiking, Stanford University"),
        ("not all of mine like hiking", "inform Hiking"),
        ("nope, but 2 like hiking and one's into board games", "no; inform Board games, Hiking"),
        ("Yes. They all like Cooking.", "yes; only Cooking"),
        ("yes one, he likes board games", "yes; inform Board games"),
        ("No, I don't.", "no; no"),
        ("none of mine work there", "no"),
        ("I have no Adidas people", ""),
        ("just one", "yes"),
        ("hello!", ""),
        ("any friends?", ""),
        ("are you ready to find our mutual friend?", ""),
        ("how many friends do you have?", "ask Bruno, Elena, Pedro, Wanda, Zoe"),
        ("how many at Adidas?", "ask"),
        ("I do not. What majors do you have?", "no; open"),
    ],
)
def test_what_people_say_of_their_friends(text: str, claims: str) -> None:
    found = [
        " ".join([claim.kind, ", ".join(sorted(v for each in claim.values.values() for v in each))]).strip()
        for claim in Reader(FRIENDS).read(text)
    ]
    assert "; ".join(found) == claims


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many of your friends are at {}?", "I have {}."),
        ("Do all of your friends work at {}?", "I have {}."),
        ("do you have anybody at {}?", "Yes, {}."),
    ],
)
def test_answers_are_about_the_whole_list(question: str, answer: str) -> None:
    """Also about friends that the partner's words have ruled out."""
    with make_game("mutual-friends", limit=1, attributes=(7, 7), agent_1="rulebased") as arena:
        dialogue = arena.start(arena.ids[0])
        player = arena.seat_players(dialogue, arena.ids[0])[1]
        company = dialogue.view(1).kb[0]["Company"]
        count = sum(item["Company"] == company for item in dialogue.view(1).kb)
        for words in (f"I have none at {company}.", question.format(company)):
            dialogue.apply(0, Move("message", words))
        move = player.move(dialogue.view(1)) if player else None
    assert move and str(move.data).startswith(answer.format(count))


def claimed(friends: list[dict[str, str]], text: str) -> set[str]:
    return {value for claim in Reader(friends).read(text) for each in claim.values.values() for value in each}


@pytest.mark.parametrize(
    "text",
    ["anyone who went to Yale University?", "who works at a21, Inc.?", "Is it the one who likes Dance?"],
)
def test_little_words_name_nobody(text: str) -> None:
    others = dict(
        zip(
            FRIENDS[0],
            ("Ian Torres", "Wentworth Institute", "World History", "Ann Taylor", "", ""),
            strict=False,
        )
    )
    assert len(claimed([*FRIENDS, others], text)) == 1


def test_the_values_of_the_real_schema_are_read_whole(shared_data: Path) -> None:
    """Also those with commas, signs or digits, and those that begin as others do."""
    schema = read_schema(shared_data / "cocoa" / "mutualfriends" / "schema.json")
    for kind, text in (
        ("company", "who works at {}?"),
        ("school", "anyone who went to {}?"),
        ("major", "{}?"),
    ):
        values = schema.distinct(kind)
        odd = [value for value in values if re.search(r"[^A-Za-z ]", value)]
        for own in (odd[i : i + 8] for i in range(0, len(odd), 8)):
            friends = [{"Name": "Ann", kind.title(): value} for value in [*own, *values[:8]]]
            for value in own:
                assert claimed(friends, text.format(value)) == {value}


TITLE = "Road bike 2014 size 54 (like new)"
PRICES = Prices(listed=200, own=180, others=140)


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("would you take 150?", 150),
        ("how about one fifty", 150),
        ("what about a hundred and fifty dollars?", 150),
        ("I can't do 140, but 165 would work", 165),
        ("would you accept 120 instead of 180?", 120),
        ("you are asking 200, I have only 130", 130),
        ("200 is more than I want to spend, 145?", 145),
        ("150 is too low for me", None),
        ("Could you do 10% off?", 180),
        ("knock off 20 and we have a deal", 160),
        ("20 bucks less and I'm in", 160),
        ("I could come up 10", 150),
        ("let's split the difference", 160),
        ("I'd pay the full asking price", 200),
        ("half price?", 100),
        ("can't go under 170", 170),
        ("what if I paid 155?", 155),
        ("$160.00", 160),
        ("is it a 2014 model?", None),
        ("does the size 54 fit a person of 180 cm?", None),
        ("would you do 150 if I come today at 5pm", 150),
        ("bought it for 400 last year, I rode it 150 miles", None),
    ],
)
def test_prices_that_people_name(text: str, price: float | None) -> None:
    assert read(text, TITLE, PRICES).price == price


@pytest.mark.parametrize(
    ("text", "price"),
    [("I'd do 8,500", 8500), ("8.5k", 8500), ("eight and a half grand", 8500), ("nine?", 9000)],
)
def test_prices_of_cars(text: str, price: float) -> None:
    assert read(text, "2006 Toyota 4Runner", Prices(listed=10_000)).price == price


@pytest.mark.parametrize("text", ["hi! is it still 4 sale?", "what can u do 4 me", "so nice 2 see it"])
def test_shorthand_is_no_price(text: str) -> None:
    assert read(text, "2006 Toyota 4Runner", Prices(listed=5_000)).price is None


@pytest.mark.parametrize(
    ("text", "agrees_to", "refuses"),
    [
        ("Deal!", True, False),
        ("u got it", True, False),
        ("k, its urs", True, False),
        ("sry, no way", False, True),
        ("Sounds good, when can I pick it up?", True, False),
        ("yes that works", True, False),
        ("you drive a hard bargain but ok", True, False),
        ("that price is fine with me", True, False),
        ("no deal", False, True),
        ("that's a great deal but can you come down?", False, True),
        ("I don't think I can do that", False, True),
        ("is the price negotiable?", False, True),
        ("that's still a little high for me", False, True),
        ("does it come with 2 wheels?", False, False),
    ],
)
def test_agreements_and_refusals(text: str, agrees_to: bool, refuses: bool) -> None:
    found = read(text, TITLE, PRICES)
    assert (found.agrees, found.refuses) == (agrees_to, refuses)


SENTENCES = json.loads((BANKS / "sentences_other_hand.json").read_text())["phrases"]


def test_prices_in_sentences_by_another_hand() -> None:
    wrong = []
    for each in (sentence for sentence in SENTENCES if sentence["game"] == "bargain"):
        standing, price = each.get("standing") or {}, each["price"]
        other = "seller" if each["by"] == "buyer" else "buyer"
        listed = standing.get("seller") or (price or 100) * (1.15 if other == "seller" else 1.0)
        found = read(each["text"], "it", Prices(listed, standing.get(other), standing.get(each["by"])))
        named = [price, *each.get("alternatives", [])]
        if found.price not in named and not (each["act"] == "agree" and found.agrees):
            wrong.append(each["text"])
    assert len(wrong) <= 2, wrong


def test_claims_in_sentences_by_another_hand() -> None:
    """What is asked for, what there is, and what there is not: nothing else may be ruled out."""
    names = ["Edward", "Carol", "Paul", "Doug", "Fiona", "Ian", "Molly", "Nathan", "Oscar", "Jill"]
    firms = ["Google", "Intel", "Uber", "Dropbox", "Apple", "Sony", "Panasonic", "Microsoft", "Facebook"]
    majors = ["computer science", "mathematics", "philosophy", "linguistics"]
    likes = ["hiking", "cooking", "surfing", "biking", "reading"]
    items = [
        {"Name": name, "Company": firms[n % 9], "Bachelors major": majors[n % 4], "Hobby": likes[n % 5]}
        for n, name in enumerate(names)
    ]
    reader, wrong = Reader(items), []
    for each in (sentence for sentence in SENTENCES if sentence["game"] == "mutual-friends"):
        claims = reader.read(each["text"])
        named = {
            kind: {v for c in claims if c.kind == kind for vs in c.values.values() for v in vs}
            for kind in ("ask", "inform", "deny")
        }
        counts = each.get("counts", {})
        there = {value for value, count in counts.items() if count}
        out = {value for value, count in counts.items() if not count} | set(each.get("none_both", ()))
        out |= {each[key] for key in ("rule_out", "instead_of") if key in each}
        asked = set(each.get("has", ())) if each["act"] == "ask-pair" else set()
        is_right = named["deny"] == out and there <= named["inform"] and named["ask"] == asked
        if not is_right and each["act"] != "select":
            wrong.append(each["text"])
    assert len(wrong) <= 2, wrong


COUNTS = {"book": 3, "hat": 2, "ball": 1}


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("I would take 2 hats and 1 ball, and you get the rest.", (0, 2, 1)),
        ("give me the books and you can have everything else", (3, 0, 0)),
        ("you can have the ball and one hat", (3, 1, 0)),
        ("i want two books, both hats", (2, 2, 0)),
        ("hello", None),
    ],
)
def test_shares_that_people_propose(text: str, share: tuple[int, ...] | None) -> None:
    found = read_share(text, COUNTS)
    assert (None if found is None else tuple(found.values())) == share
    assert agrees("ok deal") and not agrees("no deal, i need the hat")


@pytest.mark.parametrize(
    ("bank", "says"),
    [
        ({"game": "bargain", "phrases": []}, "expected an object with `game`"),
        (
            {"game": "mutual-friends", "phrases": [{"act": "sing", "text": "la"}]},
            "phrase 1: unknown act 'sing'",
        ),
        ({"game": "mutual-friends", "phrases": [{"act": "no", "text": "{price}"}]}, "no slot 'price'"),
        ({"game": "mutual-friends", "phrases": [{"act": "greet", "text": "hi"}]}, "no phrase for `ask`"),
    ],
)
def test_a_bank_that_cannot_be_used_is_told(bank: Any, says: str, tmp_path: Path) -> None:
    (tmp_path / "bank.json").write_text(json.dumps(bank))
    with make_game("mutual-friends", limit=1) as arena:
        dialogue = arena.start(arena.ids[0])
        context: PlayerContext = arena.context(dialogue, arena.ids[0], 0)
        with pytest.raises(InputError, match=says):
            phrases(str(tmp_path / "bank.json"), context)
