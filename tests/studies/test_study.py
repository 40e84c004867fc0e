"""The study without network, under a clock of the test's own: stages, limits, quotas, pairing, restarts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from birdenv.databases.sqlite._source import SqliteSource
from birdenv.dialogue import Arena, Move
from birdenv.errors import InputError
from birdenv.studies.rating_round._export import people_rows
from birdenv.studies.study._config import Partner, StudyConfig
from birdenv.studies.study._deletion import delete_person
from birdenv.studies.study._export import study_rows
from birdenv.studies.study._store import Store, open_store
from birdenv.studies.study._study import Study
from birdenv.studies.study._study_game import study_arena

ANSWERS = {"fluent": "3", "correct": "3", "humanlike": "3", "cooperative": "3"}
BOT = Partner(player="rulebased")
LIMITS = {"waiting": 60, "chat": 600, "idle": 200, "away": 30, "steady": 10}


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class World:
    """One study over drawn scenarios, and what its people do."""

    def __init__(self, store: Store, number: int = 3, **fields: Any) -> None:
        self.config = StudyConfig(**{"limits": LIMITS, **fields})
        self.arena: Arena = study_arena("mutual-friends", self.config, {"limit": number})
        self.clock = Clock()
        self.store = store
        self.rng = Random(1)
        self.study = self.started()

    def started(self) -> Study:
        """Return a study of a server that has just started."""
        return Study(self.arena, self.config, self.store, clock=self.clock, rng=self.rng)

    def come(self, name: str) -> None:
        self.study.agree(name, f"prolific:{name}", {"SESSION_ID": name})
        self.study.understood(name, {})
        self.study.presence.connect(name)

    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds
        self.study.tick()

    def status(self, name: str) -> str:
        person = self.store.person(name)
        assert person is not None
        return person.ending or person.status

    def win(self, name: str) -> None:
        """Let both people of a dialogue select the common friend."""
        person = self.store.person(name)
        assert person is not None and person.dialogue is not None
        room = self.study.room(person.dialogue)
        (match,) = [item for item in room.shown(0).state["choices"] if item in room.shown(1).state["choices"]]
        for id in self.store.seated(person.dialogue).values():
            self.study.play(id, Move("select", match), "pick")


@pytest.fixture
def store() -> Store:
    return Store(":memory:")


def test_two_who_wait_are_paired_and_finish_with_a_code_each(store: Store) -> None:
    world = World(store)
    world.come("a")
    world.pass_time(1)
    assert world.status("a") == "waiting"
    world.come("b")
    world.pass_time(1)
    assert world.status("a") == world.status("b") == "chat"
    world.win("a")
    for name in "ab":
        assert world.status(name) == "survey"
        with pytest.raises(InputError, match="please answer"):
            world.study.answer(name, {"humanlike": "3"})
        with pytest.raises(InputError, match="from 1 to 5"):
            world.study.answer(name, ANSWERS | {"humanlike": "9"})
        world.study.answer(name, ANSWERS)
        world.study.answer(name, {})  # sent twice: the first one counts
        assert world.status(name) == "done"
    codes = {store.person(name).code for name in "ab"}  # type: ignore[union-attr]
    assert len(codes) == 2 and None not in codes


def test_the_people_are_told_with_their_platform_ids_and_codes(tmp_path: Path) -> None:
    world = World(open_store(tmp_path), codes={"done": "C1"})
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    world.win("a")
    world.study.answer("b", ANSWERS)
    (stored,) = world.store.dialogues()
    one, two = people_rows(tmp_path)
    assert (one["platform_id"], one["status"], one["code"]) == ("prolific:a", "survey", None)
    assert (two["platform_id"], two["ending"], two["code"]) == ("prolific:b", "done", "C1")
    assert {one["dialogues"], two["dialogues"]} == {f"{stored.id}/{seat}" for seat in (0, 1)}
    assert two["since"] == "1970-01-01T00:16:41+00:00"
    with pytest.raises(InputError, match="contains neither a study nor a rating round"):
        list(people_rows(tmp_path / "elsewhere"))


def test_who_wrote_too_little_may_try_again_and_the_partner_goes_on(store: Store) -> None:
    world = World(store, least_words=3)
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    world.study.play("a", Move("message", "hello"), "1")
    world.study.play("b", Move("message", "hello, who are yours?"), "1")
    world.win("a")
    assert (world.status("a"), world.status("b")) == ("alone", "survey")
    world.study.again("a")
    assert world.status("a") == "waiting"
    world.come("c")
    world.pass_time(1)
    world.win("a")
    world.study.end_alone("a")
    assert world.status("a") == "too_short" and store.person("a").code is None  # type: ignore[union-attr]


def test_nothing_is_left_of_one_who_withdraws(tmp_path: Path) -> None:
    world = World(open_store(tmp_path))
    for name in ("one-who-withdraws", "b"):
        world.come(name)
    world.pass_time(1)
    world.study.play("one-who-withdraws", Move("message", "my secret"), "1")
    world.study.report("one-who-withdraws", "my trouble")
    with pytest.raises(InputError, match="is in a dialogue"):
        delete_person(world.store, "one-who-withdraws")
    world.win("b")
    world.study.answer("one-who-withdraws", ANSWERS | {"comments": "my word"})
    assert len(study_rows(tmp_path, "cocoa")) == 1
    assert delete_person(world.store, "one-who-withdraws") == 1
    assert study_rows(tmp_path, "cocoa") == [] and not world.study.used()
    world.study.answer("b", ANSWERS)
    assert world.status("b") == "done"
    with pytest.raises(InputError, match="no person in this study has the id"):
        delete_person(world.store, "one-who-withdraws")
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not any(words in stored for words in (b"withdraws", b"my secret", b"my trouble", b"my word"))


def test_a_problem_is_told_and_nothing_else_happens(store: Store) -> None:
    world = World(store)
    world.come("a")
    for text in (" ", "x" * 5_001):
        with pytest.raises(InputError):
            world.study.report("a", text)
    for number in range(30):
        world.study.report("a", f"problem {number}")
    world.study.report("nobody", "hello")
    assert [each.text for each in store.reports()] == [f"problem {number}" for number in range(20)]
    assert world.status("a") == "waiting"


def test_waiting_has_an_end(store: Store) -> None:
    world = World(store, codes={"nobody_came": "NOBODY"})
    world.come("a")
    world.pass_time(61)
    person = store.person("a")
    assert person is not None and (person.ending, person.code) == ("nobody_came", "NOBODY")


def test_the_stand_by_player_comes_when_nobody_did(store: Store) -> None:
    world = World(
        store, partners={"human": Partner(), "bot": Partner(player="rulebased", chats=0)}, standby="bot"
    )
    world.come("a")
    world.pass_time(59)
    assert world.status("a") == "waiting"
    world.pass_time(2)
    assert world.status("a") == "chat"
    assert store.dialogues()[0].partner == "bot"


def test_fifty_one_at_once_are_twenty_five_dialogues_and_one_with_the_stand_by_player(store: Store) -> None:
    partners = {"human": Partner(), "bot": Partner(player="rulebased", chats=0)}
    world = World(store, 30, partners=partners, standby="bot", limits={**LIMITS, "idle": None})
    names = [f"p{number:02}" for number in range(51)]
    for name in names:
        world.come(name)
    world.pass_time(1)
    seated = [person for each in store.dialogues() for person in store.seated(each.id).values()]
    assert len(store.dialogues()) == 25 and sorted(seated) == names[:50]
    assert world.status("p50") == "waiting"
    world.pass_time(60)
    assert world.status("p50") == "chat" and store.dialogues()[-1].partner == "bot"


def test_one_who_went_is_not_paired_and_one_who_came_back_must_stay(store: Store) -> None:
    world = World(store)
    world.come("a")
    world.study.presence.disconnect("a")
    world.come("b")
    world.pass_time(1)
    assert world.status("b") == "waiting"
    world.study.presence.connect("a")
    world.pass_time(9)
    assert world.status("b") == "waiting"
    world.pass_time(1)
    assert world.status("b") == "chat"


@pytest.mark.parametrize("how", ["button", "tab closed", "idle"])
def test_one_who_leaves_does_not_block_the_other(store: Store, how: str) -> None:
    world = World(store)
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    if how == "button":
        world.study.leave("a")
    elif how == "tab closed":
        world.study.presence.disconnect("a")
        world.pass_time(29)
        assert world.status("b") == "chat"
        world.pass_time(2)
    else:
        for number in range(3):
            world.pass_time(90)
            world.study.play("b", Move("message", "hello?"), str(number))
        world.pass_time(1)
    assert world.status("a") == "left"
    assert store.person("a").code is None  # type: ignore[union-attr]
    assert world.status("b") == "alone"
    world.study.again("b")
    world.come("c")
    world.pass_time(1)
    assert world.status("b") == world.status("c") == "chat"
    tasks = [each.task for each in store.dialogues()]
    assert tasks[0] != tasks[1]


def test_the_time_limit_of_a_dialogue_sends_both_to_the_survey(store: Store) -> None:
    world = World(store, limits={**LIMITS, "idle": None})
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    world.pass_time(601)
    assert world.status("a") == world.status("b") == "survey"
    assert store.dialogues()[0].status == "time limit"


def test_a_dialogue_that_is_busy_holds_up_nobody_else_s_time(store: Store) -> None:
    world = World(store, limits={**LIMITS, "idle": None})
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    busy = world.study.room(store.dialogues()[0].id)
    with busy._lock:  # a statement runs
        world.pass_time(601)
        for name in "cd":
            world.come(name)
        world.pass_time(1)
        assert world.status("c") == world.status("d") == "chat"
        assert world.status("a") == "chat"
    world.pass_time(1)
    assert world.status("a") == world.status("b") == "survey"


def test_the_last_places_are_waited_for_until_they_are_filled_or_free(store: Store) -> None:
    limits = {**LIMITS, "idle": None}
    world = World(store, 3, partners={"bot": Partner(player="rulebased", chats=1)}, limits=limits)
    for name in "abcdef":
        world.come(name)
        world.pass_time(1)
    assert [world.status(name) for name in "abcdef"] == ["chat"] * 3 + ["waiting"] * 3
    world.study.leave("a")  # what broke off fills nothing: who came first has the place
    world.pass_time(1)
    assert [world.status(name) for name in "def"] == ["chat", "waiting", "waiting"]
    world.pass_time(60)  # nobody waits longer than anybody waits
    assert [world.status(name) for name in "ef"] == ["nobody_came"] * 2
    world.pass_time(500)
    world.come("g")
    world.pass_time(1)
    assert world.status("g") == "waiting"
    world.pass_time(50)  # the time of the dialogues is over, and they fill the quota
    world.pass_time(1)
    world.come("h")
    world.pass_time(1)
    assert [each.status for each in store.dialogues()] == ["left"] + ["time limit"] * 3
    assert [world.status(name) for name in "gh"] == ["full", "full"]


def test_the_comprehension_check_has_two_tries(store: Store) -> None:
    check = [{"question": "Which?", "options": ["this", "that"], "answer": 1}]
    world = World(store, check=check)
    for name in "ab":
        world.study.agree(name)
        assert not world.study.understood(name, {0: 0})
    assert world.study.understood("a", {0: 1})
    assert world.status("a") == "waiting"
    assert not world.study.understood("b", {0: 0}, 0)  # a double click: the first try, sent again
    assert world.status("b") == "instructions"
    assert not world.study.understood("b", {}, 1)
    assert world.status("b") == "failed_check"


def test_a_study_goes_on_where_a_killed_server_was(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    world = World(Store(path))
    for name in "ab":
        world.come(name)
    world.pass_time(1)
    world.study.play("a", Move("message", "hello"), "1")
    for number, name in enumerate(("offer", "typing", "eval")):  # refused, and kept
        world.study.play("a", Move(name, 3), f"refused {number}")
    world.study.play("b", Move("message", "hi"), "1")
    (stored,) = world.store.dialogues()
    before = [world.study.room(stored.id).shown(seat) for seat in (0, 1)]
    world.store = Store(path)  # the old one is never closed
    world.study = world.started()
    room = world.study.room(stored.id)
    assert [room.shown(seat) for seat in (0, 1)] == before
    world.study.play("a", Move("message", "hello"), "1")  # the browser had no answer, and sends again
    assert [room.shown(seat) for seat in (0, 1)] == before
    world.study.play("a", Move("message", "are you there?"), "3")
    for name in "ab":
        world.study.presence.connect(name)
    world.win("a")
    assert world.status("a") == world.status("b") == "survey"


def test_a_player_goes_on_after_a_restart_as_if_there_had_been_none(tmp_path: Path) -> None:
    said: list[list[Any]] = []
    for restarts in (False, True):
        store = Store(tmp_path / f"{restarts}.sqlite")
        world = World(store, 1, seat="agent_0", partners={"bot": BOT})
        world.come("a")
        world.pass_time(1)
        (stored,) = store.dialogues()
        for number, words in enumerate(("hello", "none of them", "I have two of these")):
            room = world.study.room(stored.id)
            while found := room.next_move():
                room.play_for(*found)
            if restarts:
                world.study = world.started()
                room = world.study.room(stored.id)
                assert room.next_move() is None  # it has moved, and the person has not
            world.study.play("a", Move("message", words), str(number))
        said.append([each["data"] for each in world.study.room(stored.id).shown(0).events])
    assert len(said[0]) > 4
    assert said[0] == said[1]


def test_what_was_sent_is_kept_beside_what_was_heard_and_a_restart_shows_what_was_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = StudyConfig(partners={"human": Partner()})
    path = tmp_path / "study.sqlite"
    settings = {"limit": 1, "leak_guard": "filter", "execute_sql": True}
    with study_arena("c-interact", config, settings) as arena, monkeypatch.context() as broken:
        study = Study(arena, config, Store(path), rng=Random(1))
        for name in "ab":
            study.agree(name)
            study.understood(name, {})
            study.presence.connect(name)
        [room] = study.tick()
        system, user = (study.store.seated(room.stored.id)[seat] for seat in (0, 1))
        study.play(system, Move("clarify", "What is roomy?"), "1")
        study.play(user, Move("answer", "I mean b.seats >= 40."), "2")
        study.play(system, Move("execute_sql", "SELECT 1"), "3")
        study.play(system, Move("submit_sql", "SELECT 1"), "4")
        broken.setattr(SqliteSource, "open", None)  # no SQL runs again
        before = [room.shown(seat) for seat in (0, 1)]
        again = Study(arena, config, Store(path))
        assert [again.room(room.stored.id).shown(seat) for seat in (0, 1)] == before
        again.leave(system)
        assert len(study_rows(tmp_path, "openai")) == 2
        sent = again.store.rows("SELECT data FROM move ORDER BY number")
        heard = [move.event.data for move in again.store.moves(room.stored.id)]
    assert sent[1][0] == '"I mean b.seats >= 40."'
    assert "seats" not in heard[1] and before[0].events[1]["data"] == heard[1] == before[1].events[1]["data"]


def test_a_player_that_fails_costs_its_own_dialogue(store: Store) -> None:
    world = World(store, partners={"bad": Partner(player="test_study:Failing")})
    world.come("a")
    (room,) = world.study.tick()
    assert room.next_move() is None
    world.study.settle(room)
    assert world.status("a") == "alone"
    assert store.dialogues()[0].status == "partner error"


def test_a_player_that_can_be_told_is_not_asked_again_after_a_restart(tmp_path: Path) -> None:
    Remembering.asked, Remembering.told = 0, []
    world = World(Store(tmp_path / "s.sqlite"), 1, partners={"b": Partner(player="test_study:Remembering")})
    world.come("a")
    (room,) = world.study.tick()
    while found := room.next_move():
        room.play_for(*found)
    world.study.play("a", Move("message", "hello"), "1")
    asked = Remembering.asked
    room = world.started().room(room.stored.id)
    assert room.next_move() == (1 - room.people[0], Move("message", f"{asked + 1}"))
    assert Remembering.told == [Move("message", "1")] and asked == 1


class Remembering:
    asked = 0
    told: ClassVar[list[Move]] = []

    def move(self, view: Any) -> Move:
        Remembering.asked += 1
        return Move("message", f"{self.asked}")

    def remember(self, view: Any, move: Move) -> None:
        self.told.append(move)


class Failing:
    def move(self, view: Any) -> Move:
        raise RuntimeError("no")


class People(RuleBasedStateMachine):
    """Any order of coming, going, moving and waiting, with restarts of the server."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        partners = {"human": Partner(chats=2), "bot": Partner(player="rulebased", chats=1)}
        self.world = World(Store(":memory:"), 3, partners=partners)
        self.here: set[str] = set()
        self.count = 0
        self.last: dict[str, tuple[str, str]] = {}  # what each name said last, and its number
        self.read: dict[str, tuple[str, list[Any]]] = {}  # by name: the dialogue, and what the page was sent

    @initialize(target=names)
    def four_talk(self) -> Any:
        """So that there is something to go wrong from the first step on."""
        came = [self.come() for _ in range(4)]
        self.pass_time(1)
        return multiple(*came)

    @rule(target=names)
    def come(self) -> str:
        self.count += 1
        name = f"p{self.count}"
        self.world.come(name)
        self.here.add(name)
        return name

    @rule(name=names)
    def close_tab(self, name: str) -> None:
        if name in self.here:
            self.world.study.presence.disconnect(name)
            self.here.discard(name)

    @rule(name=names)
    def open_tab(self, name: str) -> None:
        if name not in self.here:
            self.world.study.presence.connect(name)
            self.here.add(name)

    @rule(name=names)
    def come_under_the_same_id(self, name: str) -> None:
        """In a browser that is not theirs; or in another one of theirs."""
        for visit, is_free in ((name, not self.world.study.presence.tabs(name)), ("another", False)):
            came = "thief", f"prolific:{name}", {"SESSION_ID": visit}
            if is_free:
                assert self.world.study.agree(*came).id == name
            else:
                with pytest.raises(InputError, match="already taking part with your platform id"):
                    self.world.study.agree(*came)
        assert self.world.store.person("thief") is None

    @rule(name=names, text=st.text(min_size=1, max_size=5), cid=st.sampled_from("12"))
    def talk(self, name: str, text: str, cid: str) -> None:
        self.last[name] = text, cid
        self.world.study.play(name, Move("message", text), cid)

    @rule(name=names)
    def win(self, name: str) -> None:
        person = self.world.store.person(name)
        if person is None or person.status != "chat" or person.dialogue is None:
            return
        if len(self.world.store.seated(person.dialogue)) == 2:
            self.world.win(name)

    @rule(name=names, step=st.sampled_from(("leave", "again", "end_alone")))
    def step(self, name: str, step: str) -> None:
        getattr(self.world.study, step)(name)

    @rule(name=names)
    def survey(self, name: str) -> None:
        self.world.study.answer(name, ANSWERS)

    @rule(seconds=st.sampled_from((1, 15, 70, 250, 700)))
    def pass_time(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    @rule(name=names)
    def read_on(self, name: str) -> None:
        """The page is sent what is new after its cursor."""
        person = self.world.store.person(name)
        if person is None or person.status != "chat" or person.dialogue is None or person.seat is None:
            return
        dialogue, told = self.read.get(name, ("", []))
        told = told if dialogue == person.dialogue else []
        events = self.world.study.room(person.dialogue).shown(person.seat).events
        self.read[name] = person.dialogue, [*told, *events[len(told) :]]

    @rule()
    def restart(self) -> None:
        """Pages come back, and send again what may not have arrived."""
        self.world.study = self.world.started()
        for name in self.here:
            self.world.study.presence.connect(name)
            if name in self.last:
                self.talk(name, *self.last[name])

    @invariant()
    def nobody_is_in_two_places(self) -> None:
        store = self.world.store
        busy: list[str] = []
        for each in store.running():
            people = store.seated(each.id)
            assert len(set(people.values())) == len(people)
            busy += people.values()
        assert len(set(busy)) == len(busy)
        for name in (f"p{place + 1}" for place in range(self.count)):
            person = store.person(name)
            assert person is not None
            assert (person.status == "chat") == (name in busy)
            assert (person.status == "finished") == (person.ending is not None)

    @invariant()
    def quotas_hold(self) -> None:
        for (_, partner), count in self.world.study.used().items():
            assert count <= (self.world.config.partners[partner].chats or 0)

    @invariant()
    def pages_have_what_is_stored_once_and_in_order(self) -> None:
        for each in self.world.store.running():
            moves = self.world.store.moves(each.id)
            room = self.world.study.room(each.id)
            for seat, name in self.world.store.seated(each.id).items():
                events = room.shown(seat).events
                heard = [
                    move
                    for move in moves
                    if move.seat == seat or not (move.event.metadata or {}).get("refused")
                ]
                assert [event["data"] for event in events] == [move.event.data for move in heard]
                own = [move.cid for move in moves if move.seat == seat]
                assert [event["cid"] for event in events if event["who"] == "you"] == own
                assert len(set(own)) == len(own)
                dialogue, told = self.read.get(name, ("", []))
                assert dialogue != each.id or told == list(events[: len(told)])

    def teardown(self) -> None:
        for seconds in (1, 700, 700):
            self.world.pass_time(seconds)
        assert not self.world.store.running()
        assert not self.world.store.people("waiting")


class PeopleAtLength(People):
    """The same, much longer."""


def machine(people: type[People], examples: int, steps: int) -> Any:
    people.TestCase.settings = settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    return people.TestCase


test_people = machine(People, 6, 20)
test_people_at_length = pytest.mark.slow(machine(PeopleAtLength, 80, 50))
