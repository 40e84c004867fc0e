"""Recorded dialogues: what each seat saw, filters, who may look, and that nothing private is in a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from test_study import World
from web_browser import Browser, listening

from birdenv.cli import main
from birdenv.cocoa.files import write_examples
from birdenv.dialogue import Event, Move, make_game
from birdenv.dialogue.record import Example
from birdenv.errors import InputError
from birdenv.studies.rating_round._config import RatingConfig
from birdenv.studies.rating_round._raters import items_of
from birdenv.studies.replay import Records, ReplayedDialogue
from birdenv.studies.replay._pages import as_seen, make_replay_app
from birdenv.studies.study._store import FILE, Store


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with one dialogue that was won, and one that was left."""
    folder = tmp_path / "study"
    folder.mkdir()
    store = Store(folder / FILE)
    world = World(store)
    for name in "abcd":
        world.come(name)
    world.pass_time(1)
    world.study.play("a", Move("offer", 3), "1")  # refused
    world.study.play("a", Move("message", "<script>alert(1)</script>"), "2")
    world.win("a")
    world.study.leave("c")
    store.close()
    world.arena.close()
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one dialogue about SQL."""
    return played("c-interact", tmp_path_factory.mktemp("run"))


def played(game: str, where: Path) -> Path:
    """Play one task of a game; returns the folder."""
    folder = where / "played"
    sys_argv, sys.argv = sys.argv, ["birdenv", game, "-n", "1", "-o", str(folder)]
    try:
        with pytest.raises(SystemExit) as end:
            main()
    finally:
        sys.argv = sys_argv
    assert not end.value.code
    return folder


def only(records: list[ReplayedDialogue]) -> ReplayedDialogue:
    [record] = records
    return record


def test_each_seat_sees_what_it_heard_when_it_did(study: Path) -> None:
    with Records([study]) as records:
        won = next(record for record in records.all() if record.status == "completed")
        seen = as_seen(won)
    everything, *eyes = seen["views"]
    assert [line["at"] for line in everything["lines"]] == list(range(1, seen["count"] + 1))
    author = next(line["seat"] for line in everything["lines"] if line["refused"])
    for view in eyes:
        is_author = view["name"] == author
        assert any(line["refused"] for line in view["lines"]) == is_author
        assert view["told"]["panels"]
        said = next(line for line in view["lines"] if line["action"] == "message")
        assert (said["at"], said["who"]) == (2, "you" if is_author else "partner")
    assert eyes[0]["told"] != eyes[1]["told"]


def test_what_is_secret_between_seats_stays_so(tmp_path: Path) -> None:
    """DealOrNoDeal: the other's choice is not seen; by the owner it is."""
    with make_game("deal-or-no-deal", limit=1) as arena:
        events = [Event(0, 1, "message", "hello"), Event(0, 2, "select", {"book": 1, "hat": 0, "ball": 0})]
        record = ReplayedDialogue(
            "r", "r", "deal-or-no-deal", arena.ids[0], ("a", "b"), "", (), lambda: events, arena
        )
        chosen = {view["name"]: view["lines"][1]["data"] for view in as_seen(record)["views"]}
        gone = as_seen(record._replace(task="not in the data any more"))["views"]
    assert chosen == {"everything": events[1].data, "agent_0": events[1].data, "agent_1": None}
    assert [view["name"] for view in gone] == ["everything"]


def pages_of(records: Records) -> tuple[str, dict[str, dict[str, Any]]]:
    """All pages of one recorded dialogue as their owner gets them, and its views by name."""
    record = only(records.all())
    app, token = make_replay_app(records)
    with listening(app) as port:
        owner = Browser(port, "")
        pages = []
        for path in (f"/open/{token}", "/", f"/dialogue?id={quote(record.id)}", f"/record?id={record.id}"):
            assert owner.get(path) == 200
            pages.append(owner.page)
    seen = json.loads(pages.pop())
    text = "\n".join([*pages, json.dumps(seen, ensure_ascii=False)])
    return text, {view["name"]: view for view in seen["views"]}


@pytest.mark.parametrize("game", ["c-interact", "a-interact"])
def test_a_run_is_seen_without_what_is_private_unless_its_owner_asks(game: str, tmp_path: Path) -> None:
    run = played(game, tmp_path)
    with make_game(game, limit=1) as arena:
        brief = arena.start(arena.ids[0]).rules.private_brief(1)[0]
        told = arena.start(arena.ids[0]).rules.panels(1)
    with Records([run]) as records:
        text, views = pages_of(records)
    with Records([run], private=True) as records:
        secret, all_views = pages_of(records)
    hidden = [brief.clear_query, *(meaning for panel in told for _, meaning in panel.entries)]
    hidden += [*brief.gold, *(point.snippet for point in brief.ambiguities)]
    assert len(hidden) > 3
    assert brief.clear_query not in text and brief.clear_query in secret
    shown = json.dumps([view["told"] for view in views.values()], ensure_ascii=False)
    assert [each for each in hidden if json.dumps(each, ensure_ascii=False)[1:-1] in shown] == []
    assert "--private" in views["user"]["told"]["panels"][0]["text"] and views["user"]["told"]["guide"]
    assert [each["title"] for each in all_views["user"]["told"]["panels"]] == [
        "What you want",
        "What you mean",
    ]
    assert json.dumps(brief.gold[0])[1:-1] in secret and '"private": null' in text
    assert all_views["system"] == views["system"] and views["system"]["told"]["panels"]
    assert not any(line["action"] == "submit_sql" for line in views["user"]["lines"])
    assert any(line["action"] == "submit_sql" for line in views["system"]["lines"])


def test_a_file_of_dialogues_is_seen_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "transcripts.json"
    events = (Event(0, 1, "message", "hi"), Event(1, 2, "message", "hello"))
    write_examples(file, [Example("E_1", "S_1", {}, {"0": "human", "1": "human"}, {"reward": 1}, events)])
    with Records([file]) as records:
        record = only(records.all())
        assert [view["name"] for view in as_seen(record)["views"]] == ["everything"]
        assert record.rewards == (1.0,)
    with pytest.raises(InputError):
        Records([tmp_path / "nothing"])


@pytest.mark.parametrize("turned", [False, True])
def test_dialogues_of_a_file_are_seen_with_the_scenario_that_they_bring(tmp_path: Path, turned: bool) -> None:
    with make_game("bargain", limit=1) as arena:
        scenario = json.loads(json.dumps(arena._tasks.scenario(arena.ids[0])))
    told = [f"{kb['personal']['Target']} dollars" for kb in scenario["kbs"]]
    seller = 1
    if turned:  # the seller stands first
        scenario["kbs"].reverse()
        seller = 0
    file = tmp_path / "transcripts.json"
    events = (Event(seller, 1, "message", "I sell"), Event(1 - seller, 2, "message", "I buy"))
    agents = {str(seller): "sells", str(1 - seller): "buys"}
    write_examples(file, [Example("E_1", scenario["uuid"], scenario, agents, None, events)] * 2)
    with Records([file]) as records:
        for record in records.all():
            _, buyer, sold = as_seen(record)["views"]
            assert record.players == ("buys", "sells") and record.game == "bargain"
            assert [view["told"]["panels"][0]["text"] for view in (buyer, sold)] == told
            assert [line["who"] for line in buyer["lines"]] == ["partner", "you"]


def test_a_run_is_seen_where_its_file_of_scenarios_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    play = ["selfplay", "deal-or-no-deal", "--players", "rulebased", "rulebased", "-o", "played"]
    for said in (
        ["scenarios", "deal-or-no-deal", "-n", "1", "-o", "own.json"],
        [*play, "--scenarios", "own.json"],
    ):
        monkeypatch.setattr(sys, "argv", ["birdenv", *said])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
    config = json.loads(Path("played/latest/config.json").read_text())
    assert config["data_file"] == str(tmp_path / "own.json")  # to be found from any folder
    Path("own.json").unlink()
    with Records([Path("played")]) as records:
        record = only(records.all())
        assert len(as_seen(record)["views"]) == 3 and not records.notes
        assert record.task == config["tasks"][0]


def test_a_file_with_an_event_of_the_house_and_a_number_beyond_floats_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "transcripts.json"
    events = [{"agent": seat, "time": seat, "action": "message", "data": "hi"} for seat in (0, 1, -1)]
    file.write_text(json.dumps([{"uuid": "E", "outcome": {"reward": 10**400}, "events": events}]))
    with Records([file]) as records:
        record = only(records.all())
        assert [line["seat"] for line in record.everything().lines] == ["agent_0", "agent_1", ""]
        assert record.rewards == ()


def test_dialogues_with_one_id_are_all_there(tmp_path: Path) -> None:
    file = tmp_path / "transcripts.json"
    said = {"agent": 0, "time": 1.0, "action": "message", "data": "Hello"}
    file.write_text(json.dumps([{"uuid": "E", "events": [said]}] * 2))
    with Records([file]) as records:
        found = records.all()
        assert [(each.id, each.dialogue) for each in found] == [
            ("transcripts/E", "E"),
            ("transcripts/E#2", "E#2"),
        ]
        assert len({each.id for each in items_of(found, RatingConfig())}) == 2


def test_a_run_whose_data_are_gone_is_still_seen(run: Path, tmp_path: Path) -> None:
    import shutil

    moved = tmp_path / "moved"
    shutil.copytree(run / "latest", moved)
    config = json.loads((moved / "config.json").read_text())
    (moved / "config.json").write_text(json.dumps({**config, "data_file": str(tmp_path / "gone.jsonl")}))
    with Records([moved]) as records:
        assert len(as_seen(only(records.all()))["views"]) == 1
        assert "only the whole record" in records.notes[0]


def test_pages_open_with_the_token_only_and_filter(study: Path, run: Path) -> None:
    with Records([study, run]) as records:
        app, token = make_replay_app(records)
        won = next(record for record in records.all() if record.status == "completed")
        with listening(app) as port:
            owner = Browser(port)
            for path in ("/", f"/record?id={won.id}", f"/dialogue?id={won.id}", "/open/wrong"):
                assert owner.get(path) == 403 and "Open the address that the program printed" in owner.page
            assert owner.get(f"/open/{token}") == 200
            for query, count in (
                ("", 3),
                ("game=c-interact", 1),
                ("game=mutual-friends&outcome=left", 1),
                ("player=human", 2),
                ("player=human&earned=yes", 1),
                (f"scenario={won.task.lower()}", 1),
                ("player=nobody", 0),
                ("from=999", 3),
                ("from=%C2%B2", 3),
            ):
                assert owner.get(f"/?{query}") == 200
                assert f">{count} dialogue{'' if count == 1 else 's'}." in owner.page, query
            assert owner.get(f"/dialogue?id={quote(won.id)}") == 200
            assert owner.get(f"/record?id={won.id}") == 200
            assert "<script>alert(1)" in owner.page  # as JSON, which no page writes as HTML
            assert owner.get("/record?id=none") == 404
            assert "<script>alert(1)" not in owner.page


def test_the_command_wants_either_a_game_or_records(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for words, why in (
        ([], "specify a game"),
        (["bargain", "--replay", str(tmp_path)], "leave out the game"),
        (["bargain", "--private"], "only be used with --replay"),
    ):
        monkeypatch.setattr(sys, "argv", ["birdenv", "web", *words])
        with pytest.raises(SystemExit):
            main()
        assert why in " ".join(capsys.readouterr().err.split())
