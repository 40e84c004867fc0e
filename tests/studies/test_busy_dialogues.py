"""Dialogues in which a statement runs, or that are slow to make: they keep up nobody else."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_study import LIMITS, World
from web_browser import Browser, Chat, served

from birdenv.dialogue import Action, Field, Game, Move, Reply, Rules, Seat
from birdenv.dialogue.games import Settings, TaskList
from birdenv.studies._sockets import MOST_WAITING
from birdenv.studies.study._config import Partner, StudyConfig
from birdenv.studies.study._loaded_dialogues import LoadedDialogues
from birdenv.studies.study._store import Store
from birdenv.studies.study._study import Study

RUNS = threading.Event()
GO_ON = threading.Event()


class Talk(Rules):
    """Two seats may speak at any time; one word takes until the test lets it go on."""

    seats = tuple(Seat(name, (Action("say", (Field("words"),)),)) for name in ("one", "other"))

    def open(self) -> tuple[int, ...]:
        return () if self.status else (0, 1)

    def legal(self, seat: int) -> tuple[str, ...]:
        return ("say",)

    def instruction(self, seat: int) -> str:
        return ""

    def play(self, seat: int, move: Move) -> Reply:
        if move.data == "slow":
            RUNS.set()
            assert GO_ON.wait(30)
        return Reply()


class Talks(TaskList):
    def start(self, instance_id: str) -> Rules:
        return Talk()


TALK = Game("talk", Talk.seats, Settings, lambda settings: Talks(["a", "b"]))


@pytest.fixture(autouse=True)
def slow() -> Iterator[None]:
    RUNS.clear()
    GO_ON.clear()
    yield
    GO_ON.set()


def begin(port: int) -> tuple[Chat, Chat]:
    """Pair two people; the first one's move has begun to run."""
    browsers = Browser(port), Browser(port)
    for browser in browsers:
        browser.enter()
    one, other = (Chat(browser) for browser in browsers)
    for chat in (one, other):
        chat.wait_turn()
    one.play("say", "slow", "slow")
    assert RUNS.wait(20)
    return one, other


def said(study: Study) -> list[Any]:
    return [move.event.data for move in study.store.moves(study.store.dialogues()[0].id)]


def until(wanted: Any) -> None:
    for _ in range(2000):
        if wanted():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.mark.slow
def test_one_who_closes_the_page_while_their_statement_runs_is_gone_at_once(tmp_path: Path) -> None:
    config = StudyConfig(limits={"away": 0.1})
    with served(tmp_path, TALK, config) as (study, port):
        one, other = begin(port)
        one.__exit__(None, None, None)
        other.until(lambda: other.status == "alone")  # the statement still runs
        assert not GO_ON.is_set() and study.store.dialogues()[0].ended is None
        GO_ON.set()
        until(lambda: study.store.dialogues()[0].status == "left")
        assert said(study) == ["slow", "left"]
        other.__exit__(None, None, None)


def test_what_was_sent_before_the_page_was_closed_was_said_in_its_order(tmp_path: Path) -> None:
    with served(tmp_path, TALK, StudyConfig()) as (study, port):
        one, other = begin(port)
        for word in ("second", "third"):
            one.play("say", word, word)
        one.play("say", "second", "second")  # sent again
        one.__exit__(None, None, None)
        person = study.store.seated(study.store.dialogues()[0].id)
        until(lambda: sum(study.presence.tabs(each) for each in person.values()) == 1)
        other.play("say", "hello", "hello")
        GO_ON.set()
        other.wait_for(4)
        heard = said(study)
        assert [word for word in heard if word != "hello"] == ["slow", "second", "third"]
        assert sorted(heard) == ["hello", "second", "slow", "third"]
        other.__exit__(None, None, None)


def test_one_who_sends_more_than_can_wait_is_told_what_was_not_taken(tmp_path: Path) -> None:
    with served(tmp_path, TALK, StudyConfig()) as (study, port):
        one, other = begin(port)
        for number in range(MOST_WAITING + 3):
            one.play("say", f"{number}", f"{number}")
        one.until(lambda: sum('"too_fast"' in frame for frame in one.frames) == 3)
        refused = [frame for frame in one.frames if '"too_fast"' in frame]
        assert [f'"{MOST_WAITING + number}"' in frame for number, frame in enumerate(refused)] == [True] * 3
        GO_ON.set()
        for chat in (one, other):
            chat.wait_for(1 + MOST_WAITING)
        assert said(study) == ["slow", *(f"{number}" for number in range(MOST_WAITING))]
        for chat in (one, other):
            chat.__exit__(None, None, None)


def test_the_server_ends_while_a_statement_runs_and_the_move_is_sent_again(tmp_path: Path) -> None:
    with served(tmp_path, TALK, StudyConfig()) as (_, port):
        begin(port)
    assert not GO_ON.is_set()  # `served` has seen the server's end
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["secret", "study.sqlite"]
    store = Store(tmp_path / "study.sqlite")
    assert store.moves(store.running()[0].id) == []
    store.close()


def test_one_who_leaves_while_a_statement_runs_lets_the_partner_go_on() -> None:
    world = World(Store(":memory:"), limits={**LIMITS, "idle": None})
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    (stored,) = world.store.running()
    with world.study.room(stored.id)._held():  # a statement runs
        world.study.leave("a")
        assert [world.status(name) for name in "ab"] == ["left", "alone"]
        world.study.again("b")
        world.come("c")
        world.pass_time(1)
        assert [world.status(name) for name in "bc"] == ["chat", "chat"]
    world.pass_time(1)
    assert world.store.dialogue(stored.id).status == "left"
    assert [world.status(name) for name in "bc"] == ["chat", "chat"]  # the old end is none of theirs


def test_one_who_left_just_before_the_server_was_killed_has_left() -> None:
    world = World(Store(":memory:"))
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    (stored,) = world.store.running()
    world.store.move_person("a", "finished", world.clock(), ending="left")  # the first half of leaving
    world.study = world.started()
    world.study.presence.connect("b")
    world.study.room(stored.id)
    world.pass_time(1)
    assert world.status("b") == "alone" and world.store.dialogue(stored.id).status == "left"


def test_a_person_is_not_idle_while_their_statement_runs() -> None:
    world = World(Store(":memory:"), limits={**LIMITS, "chat": None})
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    room = world.study.room(world.store.running()[0].id)
    with room._lock:
        world.pass_time(1000)
        assert [world.status(name) for name in "ab"] == ["chat", "chat"]


def test_a_dialogue_that_is_slow_to_make_keeps_up_no_other() -> None:
    made: list[str] = []

    def make(id: str) -> Any:
        if id == "slow":
            RUNS.set()
            assert GO_ON.wait(30)
        made.append(id)
        return World

    World.is_lost = False  # type: ignore[attr-defined]
    dialogues = LoadedDialogues(make)
    threads = [threading.Thread(target=dialogues.get, args=("slow",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert RUNS.wait(20)
    dialogues.get("quick")
    assert dialogues.find("slow") is None
    GO_ON.set()
    for thread in threads:
        thread.join(20)
    assert made == ["quick", "slow"]


def test_a_move_that_cannot_be_stored_did_not_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(Store(tmp_path / "study.sqlite"))
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    (stored,) = world.store.running()
    world.study.play("a", Move("message", "first"), "1")
    before = world.study.room(stored.id).shown(0)

    with monkeypatch.context() as full:
        full.setattr(world.store, "add_move", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="full"):
            world.study.play("a", Move("message", "second"), "2")
    assert world.study.room(stored.id).shown(0) == before
    world.study.play("a", Move("message", "second"), "2")  # as the browser does
    assert [move.event.data for move in world.store.moves(stored.id)] == ["first", "second"]
    world.store.close()


def test_a_file_that_cannot_be_written_is_told_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, TALK, StudyConfig()) as (study, port):
        person = Browser(port)
        with monkeypatch.context() as full:
            error = sqlite3.OperationalError("database or disk is full")
            full.setattr(study.store, "add_person", lambda *_: (_ for _ in ()).throw(error))
            assert person.post("/consent") == 503
        assert "try again in a minute" in person.page
        assert person.post("/consent") == 200


def test_a_move_counts_in_the_dialogue_that_it_was_sent_to() -> None:
    world = World(Store(":memory:"))
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    (stored,) = world.store.running()
    world.study.play("a", Move("message", "not for you"), "1", None, "another")
    world.study.play("a", Move("message", "for you"), "2", None, stored.id)
    assert [move.event.data for move in world.store.moves(stored.id)] == ["for you"]


def test_a_dialogue_that_cannot_be_made_has_broken_off(tmp_path: Path, caplog: Any) -> None:
    world = World(Store(tmp_path / "study.sqlite"))
    for name in "abcd":
        world.come(name)
    world.pass_time(1)
    world.study = world.started()
    for name in "abcd":
        world.study.presence.connect(name)
    first, second = world.study.unloaded()
    world.store.rows("UPDATE dialogue SET task = 'gone' WHERE id = ?", first)
    with pytest.raises(Exception, match="gone"):
        world.study.room(first)
    assert sorted(world.status(name) for name in "abcd") == ["alone", "alone", "chat", "chat"]
    assert world.study.unloaded() == [second]
    world.store.close()


def test_nobody_pays_for_the_time_in_which_no_server_ran() -> None:
    world = World(Store(":memory:"), limits={**LIMITS, "chat": None})
    for name in "abc":
        world.come(name)
    world.pass_time(1)
    (stored,) = world.store.running()
    world.clock.now += 10_000
    world.study = world.started()
    world.study.room(stored.id)
    world.pass_time(1)
    assert [world.status(name) for name in "abc"] == ["chat", "chat", "waiting"]
    for name in "abc":
        world.study.presence.connect(name)
    world.pass_time(LIMITS["away"])
    assert [world.status(name) for name in "abc"] == ["chat", "chat", "nobody_came"]


def test_a_study_s_clock_does_not_jump_with_the_machine_s(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(Store(":memory:"))
    study = Study(world.arena, world.config, world.store)
    before = study.clock()
    assert abs(before - time.time()) < 60
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    assert study.clock() - before < 3600


def test_a_partner_that_does_not_answer_in_time_is_given_up() -> None:
    partners = {"slow": Partner(player="test_busy_dialogues:Thinker")}
    world = World(Store(":memory:"), partners=partners, limits={**LIMITS, "chat": None})
    world.come("a")
    world.clock.now += 1
    (room,) = world.study.tick()
    thread = threading.Thread(target=room.next_move)
    thread.start()
    assert RUNS.wait(20)
    world.pass_time(199)
    assert world.status("a") == "chat"
    world.pass_time(2)
    assert world.status("a") == "alone" and world.store.dialogues()[0].status == "partner error"
    GO_ON.set()
    thread.join(20)


class Thinker:
    def move(self, view: Any) -> None:
        RUNS.set()
        assert GO_ON.wait(30)
