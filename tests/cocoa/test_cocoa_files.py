"""CoCoA's files: every oddity that is out there is read, and what is written can be read by CoCoA."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birdenv.cocoa.files import (
    ExampleRecord,
    Scenario,
    Schema,
    read_examples,
    read_scenarios,
    read_schema,
    write_examples,
    write_scenarios,
)
from birdenv.cocoa.files._dialogue_files import exact
from birdenv.dialogue import Event
from birdenv.dialogue.record import Example
from birdenv.errors import InputError

MESSAGE = {"agent": 0, "time": 1, "action": "message", "data": "hi"}
SCENARIO = {"uuid": "S_1", "attributes": [], "kbs": [[], []]}
SEVEN = {"uuid", "scenario_uuid", "scenario", "agents", "agents_info", "outcome", "events"}


def example(*events: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "uuid": "E_1",
        "scenario_uuid": "S_1",
        "scenario": SCENARIO,
        "agents": {"0": "human", "1": "rulebased"},
        "agents_info": None,
        "outcome": {"reward": 1},
        "events": [dict(event) for event in events or (MESSAGE,)],
        **fields,
    }


def read(record: Mapping[str, Any], folder: Path, **settings: Any) -> ExampleRecord:
    file = folder / "examples.json"
    file.write_text(json.dumps([record]))
    [found] = read_examples(file, **settings)
    return found


def without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


NAME = {"name": "Name", "value_type": "item"}
OFFER = {**MESSAGE, "action": "offer"}
JUDGED = {**MESSAGE, "agent": 1, "action": "eval", "data": '{"utterance": "hi", "labels": {"ok": 1}}'}
SPLIT = {"0": {"book": 1}, "1": None}

ODD = {
    "no agents": (without(example(), "agents"), lambda e: e.agents == {}),
    "agents are null": (example(agents=None), lambda e: e.agents == {}),
    "an agent's name is null": (example(agents={"0": None, "1": "a"}), lambda e: e.agents["0"] == ""),
    "no agents_info": (without(example(), "agents_info"), lambda e: e.agents_info is None),
    "no outcome": (without(example(), "outcome"), lambda e: e.outcome is None),
    "the outcome is null": (example(outcome=None), lambda e: e.outcome is None),
    "no scenario": (without(example(), "scenario"), lambda e: e.scenario is None),
    "the scenario is null": (example(scenario=None), lambda e: e.scenario is None),
    "no scenario_uuid": (without(example(), "scenario_uuid"), lambda e: e.scenario_uuid == "S_1"),
    "no metadata": (example(MESSAGE), lambda e: e.events[0].metadata is None),
    "metadata is a logical form": (
        example({**MESSAGE, "metadata": {"intent": "greet"}}),
        lambda e: e.events[0].metadata == {"intent": "greet"},
    ),
    "template in place of metadata": (
        example({**MESSAGE, "template": None}),
        lambda e: e.events[0].to_json()["template"] is None,
    ),
    "no start_time": (example(MESSAGE), lambda e: e.events[0].start_time is None),
    "start_time is a text": (
        example({**MESSAGE, "start_time": "2.5"}),
        lambda e: e.events[0].start_time == 2.5,
    ),
    "start_time is 'null'": (
        example({**MESSAGE, "start_time": "null"}),
        lambda e: e.events[0].start_time is None,
    ),
    "time counts from 0": (example({**MESSAGE, "time": 0}), lambda e: e.events[0].time == 0),
    "time is a text": (
        example({**MESSAGE, "time": "1526674258.81"}),
        lambda e: e.events[0].time == 1526674258.81,
    ),
    "texts of times do not sort as numbers": (
        example({**MESSAGE, "time": "8.0"}, {**MESSAGE, "time": "11.0"}),
        lambda e: e.events[0].time < e.events[1].time,
    ),
    "time is a date": (
        example({**MESSAGE, "time": "2017-08-26 12-00-01"}),
        lambda e: e.events[0].time == 1503748801,
    ),
    "a price is NaN": (
        example({**OFFER, "data": {"price": float("nan"), "sides": ""}}),
        lambda e: e.events[0].data == {"price": None, "sides": ""},
    ),
    "an offer is a bare number": (
        example({**OFFER, "data": 120}),
        lambda e: e.events[0].data == {"price": 120, "sides": ""},
    ),
    "a judgement is JSON in a text": (
        example(MESSAGE, JUDGED),
        lambda e: e.events[1].data["labels"] == {"ok": 1},
    ),
    "attributes without flags": (
        example(scenario={**SCENARIO, "attributes": [NAME]}),
        lambda e: e.scenario.attributes[0].entity and not e.scenario.attributes[0].multivalued,
    ),
    "attributes of one name": (
        example(
            scenario={
                **SCENARIO,
                "attributes": [{"name": "Name", "value_type": t} for t in ("item", "integer")],
            }
        ),
        lambda e: [a.name for a in e.scenario.attributes] == ["Name", "Name"],
    ),
    "a split by seat": (
        example(outcome={"item_split": SPLIT}),
        lambda e: e.outcome["item_split"][0] == {"book": 1},
    ),
    "a split as a list": (
        example(outcome={"item_split": [{"book": 1}, None]}),
        lambda e: e.outcome["item_split"] == [{"book": 1}, None],
    ),
    "a time with colons": (
        example({**MESSAGE, "time": "2017-08-26 12:00:01"}),
        lambda e: e.events[0].time == 1503748801,
    ),
    "a time with its zone": (
        example({**MESSAGE, "time": "2017-08-26T14:00:01.5+02:00"}),
        lambda e: e.events[0].time == 1503748801.5,
    ),
    "the events are null": (example(events=None), lambda e: e.events == []),
    "attributes are null": (
        example(scenario={**SCENARIO, "attributes": None}),
        lambda e: e.scenario.attributes == [],
    ),
    "flags are null": (
        example(scenario={**SCENARIO, "attributes": [NAME | {"unique": None, "entity": None}]}),
        lambda e: e.scenario.attributes[0].entity and not e.scenario.attributes[0].unique,
    ),
    "the scenario's id is null": (example(scenario_uuid=None), lambda e: e.scenario_uuid == "S_1"),
    "an id is a number": (example(scenario_uuid=7), lambda e: e.scenario_uuid == "7"),
    "an offer is JSON in a text": (
        example({**OFFER, "data": '{"price": NaN, "sides": "bike"}'}),
        lambda e: e.events[0].data == {"price": None, "sides": "bike"},
    ),
    "the price of an offer is a text": (
        example({**OFFER, "data": {"price": "120", "sides": ""}}),
        lambda e: e.events[0].data["price"] == 120,
    ),
    "a selection is JSON in a text": (
        example({**MESSAGE, "action": "select", "data": '{"Name": "Ann"}'}),
        lambda e: e.events[0].data == {"Name": "Ann"},
    ),
    "no data is an empty text": (
        example({**MESSAGE, "action": "accept", "data": ""}),
        lambda e: e.events[0].data is None,
    ),
    "metadata are JSON in a text": (
        example({**MESSAGE, "metadata": '{"intent": "greet"}'}),
        lambda e: e.events[0].metadata == {"intent": "greet"},
    ),
    "an outcome is JSON in a text": (example(outcome='{"reward": 1}'), lambda e: e.outcome == {"reward": 1}),
    "agents are JSON in a text": (example(agents='{"0": "human"}'), lambda e: e.agents["0"] == "human"),
    "keys that nobody knows": (example(mood="good"), lambda e: e.to_json()["mood"] == "good"),
    "an empty dialogue": (without(example(), "events") | {"events": []}, lambda e: e.events == []),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_records_are_read_and_written_exactly(name: str, tmp_path: Path) -> None:
    record, is_right = ODD[name]
    found = read(record, tmp_path)
    assert is_right(found)
    assert found.example().uuid == "E_1"
    write_examples(tmp_path / "again.json", [found])
    [written] = json.loads((tmp_path / "again.json").read_text())
    assert SEVEN - {"agents", "scenario"} <= set(written) and None not in (
        written.get("agents", 0),
        written.get("scenario", 0),
    )
    [again] = read_examples(tmp_path / "again.json")
    assert is_right(again)
    assert exact(again) == written


@pytest.mark.parametrize("deep", [100_000, 500])
def test_a_judgement_that_no_reader_could_hold_stays_text(tmp_path: Path, deep: int) -> None:
    text = "[" * deep + "]" * deep
    found = read(example(MESSAGE, {**MESSAGE, "action": "eval", "data": text}), tmp_path)
    assert found.events[1].data == text
    write_examples(tmp_path / "again.json", [found])


def test_a_missing_scenario_is_looked_up(tmp_path: Path) -> None:
    scenario = Scenario.model_validate(SCENARIO)
    assert read(example(scenario=None), tmp_path, scenarios=[scenario]).scenario is scenario


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (example({**MESSAGE, "time": "soon"}), "record 1: the field `events.0.time`.*'soon' is not a time"),
        (example({**MESSAGE, "time": 1e17}), "record 1: the field `events.0.time`"),
        (without(example(), "events"), "record 1: the field `events`"),
        (without(example(), "uuid"), "record 1: the field `uuid`"),
        (example({**MESSAGE, "time": 10**400}), "the field `events.0.time"),
        (example(agents=[1, 2]), "the agents must be an object"),
        (example(agents=5), "the agents must be an object"),
        (example(MESSAGE, {**MESSAGE, "agent": 2}), "record 1: the field `events.1.agent`.* 0 to 1, not 2"),
        (example({**MESSAGE, "agent": -2}), "the field `events.0.agent`"),
    ],
)
def test_what_is_beyond_repair_is_named(record: Mapping[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        read(record, tmp_path)


def test_times_are_made_unique_and_judgements_move_along() -> None:
    judged = {**MESSAGE, "agent": 1, "action": "eval", "data": {}}
    lost = {**judged, "time": 99}
    events = [
        {**MESSAGE, "agent": 1},
        MESSAGE,
        {**MESSAGE, "time": 1.0005},
        {**MESSAGE, "time": 3},
        judged,
        lost,
    ]
    written = exact(example(*events))["events"]
    assert [event["time"] for event in written] == [1, 1.001, 1.002, 3, 1.001]


def test_a_judgement_is_read_with_the_message_that_it_is_about(tmp_path: Path) -> None:
    first = {**MESSAGE, "agent": 1, "data": "hello"}
    write_examples(tmp_path / "e.json", [read(example(first, MESSAGE, JUDGED), tmp_path)])
    [written] = json.loads((tmp_path / "e.json").read_text())
    assert as_cocoa_reads(written) == [("hello", []), ("hi", ["ok"])]


def judged(utterance: str | None, seat: int = 1, **fields: Any) -> dict[str, Any]:
    data = {"labels": {"ok": 1}} | ({} if utterance is None else {"utterance": utterance})
    return {**MESSAGE, "agent": seat, "action": "eval", "data": data, **fields}


@pytest.mark.parametrize(
    ("said", "judgements", "about"),
    [
        (["hi", "bye"], [judged("bye")], ["bye"]),
        (["hi", "bye"], [judged("bye"), judged("hi")], ["hi", "bye"]),
        (["hi", "bye"], [judged(None), judged(None)], ["hi", "bye"]),
        (["hi", "hi"], [judged("hi"), judged("hi")], ["hi", "hi"]),
        (["hi", "bye"], [judged(" BYE\n")], ["bye"]),
        (["hi", "bye"], [judged("bye", time=1.004)], ["bye"]),
        (["hi", "hi"], [judged("hi", time=1.004)], []),
        (["hi", "bye"], [judged("bye", seat=0)], ["bye"]),
    ],
)
def test_a_judgement_moves_with_the_message_whose_words_it_has(
    said: list[str], judgements: list[dict[str, Any]], about: list[str], tmp_path: Path
) -> None:
    """Two messages have one time."""
    events = [*({**MESSAGE, "data": text} for text in said), *judgements]
    write_examples(tmp_path / "e.json", [read(example(*events), tmp_path)])
    [written] = json.loads((tmp_path / "e.json").read_text())
    assert [text for text, labels in as_cocoa_reads(written) for _ in labels] == about


@pytest.mark.parametrize("time", [0, -5, 1.5e9, 1.5e12, 9e14])
def test_times_differ_at_any_size(time: float) -> None:
    written = exact(example(*[{**MESSAGE, "time": time}] * 5))["events"]
    assert len({float(json.dumps(event["time"])) for event in written}) == 5


def as_cocoa_reads(record: Mapping[str, Any]) -> list[tuple[Any, list[str]]]:
    """The moves with their labels, by what CoCoA's own reader asks of a record: it fails where that would."""
    scenario = record["scenario"]
    assert all(each["name"] and each["value_type"] for each in scenario["attributes"])
    assert {"uuid", "scenario_uuid", "outcome"} <= set(record) and len(scenario["kbs"]) == 2
    if isinstance(scenario["kbs"][0], dict):
        assert {"post_id", "category"} <= set(scenario)
    if "alphas" in scenario:
        assert all(value.lower() for kb in scenario["kbs"] for item in kb for value in item.values())
    if "agents" in record:
        assert set(map(int, record["agents"])) <= {0, 1}
    moves = {event["time"]: (event["data"], []) for event in record["events"] if event["action"] != "eval"}
    for event in record["events"]:
        assert {"agent", "time", "action", "data"} <= set(event)
        if event["action"] == "eval":
            moves[event["time"]][1].extend(tag for tag, is_set in event["data"]["labels"].items() if is_set)
    return [moves[time] for time in sorted(moves, key=float)]


@pytest.mark.parametrize("game", ["mutual-friends", "bargain", "deal-or-no-deal"])
def test_scenarios_and_dialogues_of_each_shape_are_read_as_they_were_written(
    game: str, tmp_path: Path
) -> None:
    from birdenv.dialogue import make_game, play

    with make_game(game, limit=2) as arena:
        scenarios = [arena._tasks.scenario(id) for id in arena.ids]
        dialogue = arena.start(arena.ids[0])
        play(dialogue, arena.seat_players(dialogue, arena.ids[0]))
    made = [example(*(event.to_json() for event in dialogue.events), scenario=scenarios[0])]
    for write, read_back, rows in (
        (write_scenarios, read_scenarios, scenarios),
        (write_examples, read_examples, made),
    ):
        write(tmp_path / "one.json", rows)  # type: ignore[operator]
        write(tmp_path / "two.json", read_back(tmp_path / "one.json"))  # type: ignore[operator]
        assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    [written] = json.loads((tmp_path / "one.json").read_text())
    assert [data for data, _ in as_cocoa_reads(written)] == [event.data for event in dialogue.events]


def test_the_order_of_columns_is_the_scenarios(tmp_path: Path) -> None:
    columns = [{"name": name, "value_type": "number"} for name in ("Bottomline", "Target")]
    schema = Schema.model_validate({"values": {}, "attributes": columns[::-1]})
    rows = [SCENARIO | {"attributes": columns}, SCENARIO | {"uuid": "S_2"}]
    (tmp_path / "s.json").write_text(json.dumps(rows))
    own, without_any = read_scenarios(tmp_path / "s.json", schema)
    assert [each.name for each in own.attributes] == ["Bottomline", "Target"]
    assert [each.name for each in without_any.attributes] == ["Target", "Bottomline"]


def test_what_the_house_did_and_refused_moves_are_left_out() -> None:
    refused = Event(0, 2, "fly", None, None, {"sender": "judge", "reply": "No.", "refused": True})
    events = (Event(0, 1, "message", "hi"), refused, Event(-1, 3, "stop", "left"))
    made = exact(Example("E", "S", SCENARIO, {}, None, events))
    assert [event["action"] for event in made["events"]] == ["message"]
    assert "agents" not in made and made["outcome"] is None


def test_the_real_files_load_and_are_written_equal(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "cocoa"
    schemas = list(folder.rglob("*schema*.json"))
    assert len(schemas) == 5
    for path in schemas:
        assert read_schema(path).to_json() == json.loads(path.read_text())
    deals = folder / "dealornodeal" / "val-60.json"
    examples = read_examples(deals)
    write_examples(tmp_path / "deals.json", examples)
    assert [each.to_json() for each in read_examples(deals)] == json.loads(deals.read_text())
    adds = {"metadata": None}
    written = json.loads((tmp_path / "deals.json").read_text())
    real = json.loads(deals.read_text())
    assert written == [e | {"events": [adds | event for event in e["events"]]} for e in real]
    sold = folder / "craigslistbargain" / "sample-scenarios.json"
    write_scenarios(tmp_path / "sold.json", read_scenarios(sold))
    assert json.loads((tmp_path / "sold.json").read_text()) == json.loads(sold.read_text())


def test_values_that_a_schema_lists_twice_are_drawn_once(shared_data: Path) -> None:
    schema = read_schema(shared_data / "cocoa" / "mutualfriends" / "schema.json")
    distinct = schema.distinct("company")
    assert len(schema.values["company"]) == 1761 and len(distinct) < 1713
    assert len({value.casefold() for value in distinct}) == len(distinct)
    with pytest.raises(InputError, match="no values for the type 'colour'"):
        schema.distinct("colour")


def test_two_scenarios_of_one_id_are_refused(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps([SCENARIO, SCENARIO]))
    with pytest.raises(InputError, match="two scenarios have the id 'S_1'"):
        read_scenarios(tmp_path / "s.json")


events = st.builds(
    dict,
    agent=st.integers(0, 1),
    time=st.integers(0, 9) | st.floats(0, 9).map(lambda time: round(time, 3)),
    action=st.sampled_from(["message", "select", "eval", "offer"]),
    data=st.none() | st.text(max_size=5) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@pytest.mark.slow
@given(st.lists(events, max_size=8))
def test_what_is_written_has_unique_times_and_every_move(made: list[dict[str, Any]]) -> None:
    written = exact(example(events=made))["events"]
    moves = [event for event in written if event["action"] != "eval"]
    assert [(e["agent"], e["data"]) for e in moves] == [
        (e["agent"], e["data"]) for e in made if e["action"] != "eval"
    ]
    times = [event["time"] for event in moves]
    assert times == sorted(set(times))
    assert all(event["time"] in times for event in written)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
json_values = (
    st.none() | st.booleans() | st.integers(-9, 9) | texts | st.dictionaries(texts, texts, max_size=2)
)
records = st.builds(
    lambda made, further: example(events=made, **further),
    st.lists(events, max_size=5),
    st.fixed_dictionaries(
        {},
        optional={
            "agents": st.none() | st.dictionaries(st.sampled_from("01"), texts | st.none()),
            "agents_info": st.none() | st.dictionaries(texts, json_values, max_size=2),
            "outcome": st.none() | st.dictionaries(texts, json_values, max_size=2),
            "scenario": st.none() | st.just(SCENARIO | {"alphas": [0.3]}),
            "mood": json_values,
        },
    ),
)


@settings(max_examples=20)
@given(st.lists(records, min_size=1, max_size=3))
def test_what_is_read_is_written_and_read_the_same(made: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        raw, one, two = (Path(folder) / name for name in ("raw.json", "one.json", "two.json"))
        raw.write_text(json.dumps(made))
        write_examples(one, read_examples(raw))
        write_examples(two, read_examples(one))
        assert one.read_bytes() == two.read_bytes()
        assert [each["uuid"] for each in json.loads(one.read_text())] == ["E_1"] * len(made)
