"""One fault in a file of CoCoA's: it is read, or refused in one line that names the file and the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from birdenv.cocoa.corpus import analyse
from birdenv.cocoa.corpus._corpus import file_dialogues
from birdenv.cocoa.files import as_examples, read_scenarios, read_schema, write_scenarios
from birdenv.cocoa.files._dialogue_files import exact
from birdenv.dialogue import make_game, play
from birdenv.errors import InputError

DROPPED = object()


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places in JSON data; of a list the first two."""
    if way:
        yield way
    pairs = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for name, inner in pairs:
        yield from places(inner, (*way, name))


def others(value: Any) -> list[Any]:
    """What may stand in place of a value: nothing, null, a text for a number, a number for a text ..."""
    found = [DROPPED, None, {"a": [1]}, [[]], "\u202e<b>"]
    if isinstance(value, bool):
        return [*found, str(value), 7]
    if isinstance(value, int | float):
        return [*found, str(value), float("nan"), 1e300, -1, True]
    return [*found, 5, True] if isinstance(value, str) else [*found, json.dumps(value), 7, [], {}]


def faulty(whole: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Copies of records with one fault each, and what it is."""
    text = json.dumps(whole)
    for way in places(whole):
        old: Any = whole
        for name in way:
            old = old[name]
        for new in others(old):
            copy = json.loads(text)
            inner = copy
            for name in way[:-1]:
                inner = inner[name]
            if new is DROPPED:
                del inner[way[-1]]
            else:
                inner[way[-1]] = new
            yield f"{way}: {new!r}", copy


def tried(whole: list[Any], take: Callable[[list[Any]], Any], named: str, every: int = 1) -> tuple[int, int]:
    """How often files with one fault were taken, and how often they were refused in one line."""
    taken = refused = 0
    for number, (fault, records) in enumerate(faulty(whole)):
        if number % every:
            continue
        try:
            take(records)
            taken += 1
        except InputError as error:
            refused += 1
            assert named in str(error) and "\n" not in str(error) and len(str(error)) < 500, (fault, error)
        except Exception as error:
            raise AssertionError(fault) from error
    return taken, refused


def drawn(game: str) -> list[Any]:
    """A dialogue of two players with a judgement, as a file has it."""
    with make_game(game, limit=1) as arena:
        [task] = arena.ids
        dialogue = arena.start(task)
        play(dialogue, arena.seat_players(dialogue, task))
        events = [event.to_json() for event in dialogue.events[:4]]
        judged = {"utterance": events[0]["data"], "labels": {"ok": 1}}
        events.append({"agent": 1 - events[0]["agent"], "time": 1, "action": "eval", "data": judged})
        row = {"uuid": "E", "scenario_uuid": task, "scenario": arena._tasks.scenario(task), "events": events}
        agents = {"agents": {"0": "human", "1": "rulebased"}, "agents_info": {"surveys": {"0": {"nice": 4}}}}
        return [json.loads(json.dumps(row | agents | {"outcome": dialogue.outcome()}))]


@pytest.mark.every(4)
@pytest.mark.parametrize("game", ["real deals", "mutual-friends", "bargain", "deal-or-no-deal"])
def test_a_dialogue_with_one_fault_is_read_or_refused(game: str, shared_data: Path) -> None:
    if game == "real deals":
        whole = json.loads((shared_data / "cocoa" / "dealornodeal" / "val-60.json").read_text())[:1]
    else:
        whole = drawn(game)

    def take(records: list[Any]) -> None:
        read = as_examples(records, "some.json")
        written = [exact(each) for each in read]
        assert [exact(each) for each in as_examples(written, "again.json")] == written

    taken, refused = tried(whole, take, "some.json: record 1: the field `", every=5)
    assert taken > refused > 0


@pytest.mark.every(3)
@pytest.mark.parametrize("game", ["mutual-friends", "bargain", "deal-or-no-deal"])
def test_a_dialogue_with_one_fault_is_analysed_or_refused(game: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"

    def take(records: list[Any]) -> None:
        path.write_text(json.dumps(records))
        made = analyse(file_dialogues(path))
        made.text()
        json.dumps(made.to_json(), allow_nan=False)

    tried(drawn(game), take, "some.json", every=29)


@pytest.mark.every(3)
@pytest.mark.parametrize("game", ["mutual-friends", "bargain", "deal-or-no-deal"])
def test_a_scenario_with_one_fault_is_played_or_refused(game: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"

    def take(records: list[Any]) -> None:
        path.write_text(json.dumps(records))
        write_scenarios(tmp_path / "again.json", read_scenarios(path))
        with make_game(game, scenarios=str(path)) as arena:
            dialogue = arena.start(arena.ids[0])
            play(dialogue, arena.seat_players(dialogue, arena.ids[0]))

    tried([drawn(game)[0]["scenario"]], take, "some.json", every=9)


@pytest.mark.parametrize("name", ["friends-schema", "friends-schema-old"])
def test_a_schema_with_one_fault_is_drawn_from_or_refused(
    name: str, shared_data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "some.json"

    def take(records: list[Any]) -> None:
        path.write_text(json.dumps(records[0] if records else None))
        read_schema(path)
        make_game("mutual-friends", schema_file=str(path), limit=1).close()

    whole = [json.loads((shared_data / "cocoa" / "mutualfriends" / f"{name}.json").read_text())]
    taken, refused = tried(whole, take, "some.json", every=3)
    assert taken and refused
