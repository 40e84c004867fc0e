"""CoCoA's games from the command line: scenarios in, dialogues out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.cocoa.files import read_examples, read_scenarios


def test_scenarios_are_drawn_played_and_exported(birdenv: Any, tmp_path: Path) -> None:
    schema = {
        "values": {"person": ["Ann", "Bob", "Cy", "Di", "Eve"], "city": ["Rome", "Oslo", "Bern", "Riga"]},
        "attributes": [{"name": "Name", "value_type": "person"}, {"name": "City", "value_type": "city"}],
    }
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    drawn = ["scenarios", "mutual-friends", "--schema", tmp_path / "schema.json", "-n", "4", "--items", "5,6"]
    for name in ("a", "b"):
        more = ["--attributes", "2,2", "--seed", "3", "-o", tmp_path / f"{name}.json"]
        assert birdenv(*drawn, *more).code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    scenarios = read_scenarios(tmp_path / "a.json")
    assert all(5 <= len(each.kbs[0]) <= 6 for each in scenarios) and len(scenarios) == 4
    played = ["play", "mutual-friends", "--agent", "rulebased", "--scenarios", tmp_path / "a.json"]
    assert "rulebased with rulebased as agent_1" in birdenv(*played, "-o", tmp_path / "run").out
    for form in ("cocoa", "openai", "potato"):
        assert birdenv("export", tmp_path / "run", "-f", form, "-o", tmp_path / form).code == 0
    failed = birdenv("export", tmp_path / "run", "-f", "cocoa", "--min-reward", "2", "-o", tmp_path / "none")
    assert failed.code == 2 and "there is nothing to export" in failed.err, failed
    examples = read_examples(tmp_path / "cocoa")
    assert [each.scenario for each in examples] == scenarios
    assert all(each.outcome and each.outcome["reward"] == 1 for each in examples)
    chat = [json.loads(line) for line in (tmp_path / "openai").read_text().splitlines()]
    assert all({"messages", "tools"} == set(row) for row in chat) and len(chat) == 4
    roles = {message["role"] for row in chat for message in row["messages"]}
    assert roles <= {"user", "assistant", "tool"}
    item = json.loads((tmp_path / "potato").read_text().splitlines()[0])
    assert item["text"].startswith("agent_0: ") and item["dialogue"][0]["speaker"] == "agent_0"
    secret = set(map(str, scenarios[0].kbs[1])) - set(map(str, scenarios[0].kbs[0]))
    assert not [friend for friend in secret if friend in json.dumps(chat[0])]


def test_bargains_about_advertisements_of_ones_own(birdenv: Any, shared_data: Path, tmp_path: Path) -> None:
    """With the columns of a schema, Craigslist's: the prices stay, and every discount comes in its turn."""
    schema = shared_data / "cocoa" / "craigslistbargain" / "craigslist-schema.json"
    chair = {"title": "A chair", "price": 12.5, "description": "It is old.\n\nIt is red.\nIt stands."}
    car = {"Title": "A car", "Price": 4000, "Category": "car", "Description": ["It runs."], "post_id": 77}
    mine, out = tmp_path / "mine.json", tmp_path / "s.json"
    mine.write_text(json.dumps([chair, car]))
    draw = ("scenarios", "bargain", "--schema", schema, "--listings", mine, "-o", out)
    ran = birdenv(*draw, "-n", "4", "--discounts", "0.9,0.5")
    assert ran.code == 0, ran
    scenarios = read_scenarios(out)
    columns = [each["name"] for each in json.loads(schema.read_text())["attributes"]]
    assert all([each.name for each in scenario.attributes] == columns for scenario in scenarios)
    targets = {(kb["item"]["Title"], kb["personal"]["Target"]) for each in scenarios for kb in each.kbs}
    assert targets == {
        *(("A chair", 12.5), ("A chair", 11), ("A chair", 6)),
        *(("A car", 4000), ("A car", 3600), ("A car", 2000)),
    }
    known = {kb["item"]["Title"]: kb["item"] for each in scenarios for kb in each.kbs[1:]}
    assert known["A chair"]["Description"] == ["It is old.", "It is red.", "It stands."]
    assert known["A chair"]["Category"] == "other" and known["A car"]["Category"] == "car"
    run = ("play", "bargain", "--agent", "rulebased", "--limit", "2", "-o", tmp_path / "run")
    assert birdenv(*run, "--listings", mine).code == 0
    mine.write_text(json.dumps([chair | {"price": "cheap"}]))
    ran = birdenv(*draw)
    assert ran.code == 2 and f"{mine}: record 1: the field `price" in ran.err


@pytest.mark.parametrize("game", ["bird", "c-interact"])
def test_tasks_of_a_benchmark_are_scenarios_too(game: str, birdenv: Any, tmp_path: Path) -> None:
    assert birdenv("scenarios", game, "-n", "2", "-o", tmp_path / "s.json").code == 0
    first, _ = read_scenarios(tmp_path / "s.json")
    assert first.kbs[0]["question"] and first.kbs[1] == {} and "gold" not in str(first)
    drawn = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert birdenv("scenarios", game, "--seed", seed, "-n", "5", "-o", tmp_path / name).code == 0
        drawn.append([each.uuid for each in read_scenarios(tmp_path / name)])
    assert drawn[0] == drawn[1] != drawn[2] and len(set(drawn[0])) == 5
    ran = birdenv("scenarios", game, "--schema", tmp_path / "s.json")
    assert ran.code == 2 and f"{game} does not use a schema: leave out --schema" in ran.err


@pytest.mark.parametrize("alphas", ["nan", "inf", "1e308", "0", "-1"])
def test_odd_alphas_are_one_line(alphas: str, birdenv: Any) -> None:
    ran = birdenv("scenarios", "mutual-friends", "--alphas", f"1,{alphas}", "-n", "1")
    assert ran.code == 2 and "alphas: must be numbers" in ran.err and ran.err.count("\n") == 1


def test_discounts_of_bargains_are_a_setting(birdenv: Any, tmp_path: Path) -> None:
    assert (
        birdenv("scenarios", "bargain", "-n", "9", "--discounts", "0.5", "-o", tmp_path / "s.json").code == 0
    )
    for scenario in read_scenarios(tmp_path / "s.json"):
        buyer, seller = scenario.kbs
        assert (
            buyer["personal"]["Target"] == seller["item"]["Price"] // 2 == seller["personal"]["Target"] // 2
        )


def test_an_sql_run_is_exported_for_cocoa(birdenv: Any, tmp_path: Path) -> None:
    birdenv("c-interact", "--agent", "asks-first", "-n", "2", "-o", tmp_path / "run")
    assert birdenv("export", tmp_path / "run", "-f", "cocoa", "-o", tmp_path / "e.json").code == 0
    for example in read_examples(tmp_path / "e.json"):
        assert example.scenario is not None and len(example.scenario.kbs) == 2
        assert [event.time for event in example.events] == sorted({event.time for event in example.events})


def test_selfplay_needs_two_players(birdenv: Any) -> None:
    ran = birdenv("selfplay", "bargain", "--players", "rulebased", "-n", "2")
    assert ran.code == 2 and "--players needs two players" in ran.err


def test_the_agents_seat_is_named_by_agent_only(birdenv: Any) -> None:
    for named in (("--buyer", "rulebased"), ("--buyer=rulebased",)):
        ran = birdenv("play", "bargain", "--agent", "rulebased", *named)
        assert (ran.code, "name its player with --agent" in ran.err) == (2, True), ran


def test_an_empty_player_is_not_the_default_one(birdenv: Any) -> None:
    ran = birdenv("play", "bargain", "--agent", "rulebased", "--seller", "", "--limit", "1")
    assert (ran.code, "unknown user ''" in ran.err) == (2, True), ran


def test_a_run_is_resumed_with_an_option_of_its_game(birdenv: Any, tmp_path: Path) -> None:
    run = ("-o", tmp_path / "run")
    assert birdenv("play", "bargain", "--agent", "rulebased", "--limit", "1", *run).code == 0
    resumed = birdenv("play", "--resume", tmp_path / "run", "--limit", "1")
    assert resumed.code == 0, resumed.err
    refused = birdenv("play", "--limit", "1", "bargain")
    assert (refused.code, "specify the game before --limit" in refused.err) == (2, True), refused


def test_a_person_at_the_terminal_reads_the_guide(
    birdenv: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    for game, told in (
        ("mutual-friends", "Do not read out your whole list"),
        ("bargain", "do not reveal it"),
    ):
        shown = " ".join(birdenv("play", game, "--limit", "1", "-o", tmp_path / game).out.split())
        assert shown.count(told) == 1, shown
