"""`birdenv web` and `birdenv export` of a study, as commands."""

from __future__ import annotations

import json
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from test_study import World

from birdenv.cli import main
from birdenv.cocoa.files import read_examples
from birdenv.dialogue import Move, make_game, replay
from birdenv.dialogue.games import find_game, game_names
from birdenv.errors import InputError
from birdenv.studies.commands.web import _config
from birdenv.studies.study._config import Partner, StudyConfig
from birdenv.studies.study._config_files import read_config
from birdenv.studies.study._export import study_game, study_rows
from birdenv.studies.study._store import open_store
from birdenv.studies.study._study import Study
from birdenv.studies.study._study_game import study_arena


def told(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says when it refuses."""
    monkeypatch.setattr(sys, "argv", ["birdenv", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nothing"], "unknown game 'nothing'"),
        (["bird", "--scenario-path", "x.json"], "does not use scenario files"),
        (["bargain", "--buyer", "nobody"], "unknown .* 'nobody'"),
        (["bargain", "--buyer", "rulebased", "--seller", "rulebased"], "leave one seat free"),
        (["bargain", "--seller", "human"], "'human' is not a player"),
        (["c-interact", "--system", "llm:some-model"], "the player .llm:some-model. cannot play: no API key"),
        (["bargain", "--seller", "learned:gone.json"], "cannot play: gone.json: no such file"),
        (["bargain", "--colour", "red"], "No such option: --colour"),
        (["bargain", "--colour=red"], "No such option: --colour"),
        (["bargain", "--config", "missing.json"], "missing.json"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    words: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import re

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert re.search(why, told(["web", *words], monkeypatch, capsys))
    assert not list(tmp_path.iterdir())


def test_a_seat_may_be_named_beside_a_config_that_names_none(tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    file.write_text(json.dumps({"title": "Ours", "least_words": 3}))
    game = find_game("c-interact")
    made = _config(game, file, {"user": "rule"})
    assert (made.title, made.least_words, made.seat, list(made.partners)) == ("Ours", 3, "system", ["rule"])


def test_a_seat_on_the_command_line_holds_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    partners = {"ours": {"player": "rule", "chats": 3}, "human": {}}
    file.write_text(json.dumps({"title": "Ours", "seat": "user", "partners": partners, "standby": "ours"}))
    game = find_game("c-interact")
    with pytest.warns(UserWarning, match="--user rule replaces `seat` and `partners` in .*json"):
        made = _config(game, file, {"user": "rule"})
    assert (made.title, made.seat, made.standby) == ("Ours", "system", "ours")
    assert made.partners == {"ours": Partner(player="rule", chats=3)}
    with pytest.warns(UserWarning):
        made = _config(game, file, {"system": "asks-first"})
    assert (made.seat, made.standby, list(made.partners)) == ("user", None, ["asks-first"])


@pytest.mark.parametrize("game", [name for name in game_names() if ":" not in name])
def test_an_example_is_complete_and_can_be_served(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["birdenv", "web", "--example", game])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    file = tmp_path / "study.json"
    file.write_text(capsys.readouterr().out)
    assert json.loads(file.read_text()).keys() == StudyConfig.model_fields.keys()
    made = read_config(file)
    with study_arena(find_game(game), made, {"limit": 1}) as arena:
        Study(arena, made, open_store(tmp_path)).store.close()


def test_a_player_of_the_other_seat_only_says_which_json_is_missing(tmp_path: Path) -> None:
    made = StudyConfig(partners={"rule": Partner(player="rule")})
    with pytest.raises(InputError, match=r'unknown agent .rule.* write "seat": "system"'):
        study_arena(find_game("c-interact"), made, {})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_from_outside_leaves_one_file_with_everything(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import uvicorn

    def interrupted(*_: object, **__: object) -> None:
        signal.raise_signal(number)  # as uvicorn does after it has ended

    before = signal.getsignal(number)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(uvicorn.Server, "run", interrupted)
    monkeypatch.setattr(sys, "argv", ["birdenv", "web", "bargain", "--port", "0"])
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        main()
    assert {path.name for path in (tmp_path / "study-bargain").iterdir()} == {"secret", "study.sqlite"}
    assert signal.getsignal(number) == before


def test_an_address_that_is_taken_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        says = told(["web", "bargain", "--port", port], monkeypatch, capsys)
    assert (
        f"127.0.0.1:{port} (Address already in use): use --port 0 for a free" in says
        and says.count("\n") == 1
    )


def test_without_the_extra_the_command_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'birdenv[web]'" in told(["web", "bargain"], monkeypatch, capsys)
    assert not list(tmp_path.iterdir())


def test_a_study_is_exported_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = StudyConfig(seat="seller", partners={"bot": Partner(player="rulebased")})
    with study_arena("bargain", config, {"limit": 1}) as arena:
        store = open_store(tmp_path / "study")
        study = Study(arena, config, store)
        study.agree("p")
        study.understood("p", {})
        study.presence.connect("p")
        study.tick()
        study.play("p", Move("message", "hello"), "1")
        study.leave("p")
        exported: dict[str, Any] = {}
        for form in ("cocoa", "openai", "potato"):
            file = tmp_path / f"{form}.json"
            words = ["export", str(tmp_path / "study"), "--format", form, "-o", str(file)]
            monkeypatch.setattr(sys, "argv", ["birdenv", *words])
            with pytest.raises(SystemExit) as end:
                main()
            assert not end.value.code
            exported[form] = json.loads(file.read_text())
        assert study_rows(tmp_path / "study", "cocoa", min_reward=0.5) == []
        store.close()
    (dialogue,) = exported["cocoa"]
    assert dialogue["agents"] == {"0": "rulebased", "1": "human"}
    assert [event["data"] for event in dialogue["events"]] == ["hello"]
    assert exported["openai"]["seat"] == "seller"
    assert exported["potato"]["text"] == "seller: hello"


def test_what_a_running_study_exports_is_a_dataset_that_replays_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "study")
    world = World(store)
    for name in "abcdef":
        world.come(name)
    world.pass_time(1)
    for name in "af":
        world.study.play(name, Move("message", "hello"), "1")
    world.win("a")
    world.study.leave("c")
    file = tmp_path / "transcripts.json"
    monkeypatch.setattr(
        sys, "argv", ["birdenv", "export", str(tmp_path / "study"), "-f", "cocoa", "-o", str(file)]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    ended = [each for each in store.dialogues() if each.ended is not None]
    assert len(ended) == 2 and len(store.running()) == 1
    for stored, example in zip(ended, read_examples(file), strict=True):
        heard = [move.event for move in store.moves(stored.id) if move.event.agent >= 0]
        assert [(e.agent, e.action, e.data) for e in example.events] == [
            (e.agent, e.action, e.data) for e in heard
        ]
        again = replay(world.arena.start(stored.task).rules, example.example().events)
        assert example.outcome is not None and again.outcome()["reward"] == example.outcome["reward"]
        assert list(again.rewards) == stored.rewards and again.terminated == (stored.status == "completed")
    store.close()
    world.arena.close()


def test_a_study_that_kept_where_its_sql_runs_goes_on(tmp_path: Path) -> None:
    """Studies of earlier versions kept `isolation` among the settings of their game."""
    with study_arena("c-interact", StudyConfig(), {"limit": 1}) as arena:
        store = open_store(tmp_path)
        Study(arena, StudyConfig(), store)
        store.rows("UPDATE study SET value = json_set(value, '$.settings.isolation', 'inline')")
        assert '"isolation":"inline"' in store.setting("game", "")
        Study(arena, StudyConfig(), store)
        store.close()
        game, settings = study_game(tmp_path)
        assert make_game(game, **settings).settings == arena.settings


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    from birdenv.errors import InputError

    config = StudyConfig()
    others = {
        ("bargain", 2): r"started with limit 1 \(now 2\)",
        ("deal-or-no-deal", 1): "started with bargain, not",
    }
    for game, limit in (("bargain", 1), *others):
        with study_arena(game, config, {"limit": limit}) as arena:
            store = open_store(tmp_path)
            if (game, limit) == ("bargain", 1):
                Study(arena, config, store)
            else:
                with pytest.raises(InputError, match=others[game, limit]):
                    Study(arena, config, store)
            store.close()
