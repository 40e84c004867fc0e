"""A dialogue in browsers: every game, either seat, with players and with people, from consent to code."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from web_browser import Browser, Chat, served

from birdenv.dialogue import Action, Field, Game, Move, Reply, Rules, Seat, make_game
from birdenv.dialogue.games import Settings, TaskList
from birdenv.studies.study._config import Partner, StudyConfig
from birdenv.studies.study._export import study_rows

SURVEY = {"fluent": "5", "correct": "3", "humanlike": "4", "cooperative": "5"}


class Guess(Rules):
    """A toy game: guess 7, and ask for hints."""

    seats = (
        Seat("guesser", (Action("ask", (Field("words"),)), Action("guess", (Field("n", "integer"),)))),
        Seat("keeper", (Action("hint", (Field("words"),)),)),
    )
    asked = False

    def open(self) -> tuple[int, ...]:
        return () if self.status else (int(self.asked),)

    def legal(self, seat: int) -> tuple[str, ...]:
        return self.seats[seat].kinds

    def instruction(self, seat: int) -> str:
        return "The number is 7." if seat else "Guess the number."

    def play(self, seat: int, move: Move) -> Reply:
        self.asked = move.action == "ask"
        if move.action == "guess":
            self.status, self.rewards = "completed", (float(move.data == 7),) * 2
        return Reply()


class Numbers(TaskList):
    def start(self, instance_id: str) -> Rules:
        return Guess()


TOY = Game("toy", Guess.seats, Settings, lambda settings: Numbers(["seven"]))


def against(player: str, seat: str) -> StudyConfig:
    return StudyConfig(seat=seat, partners={"player": Partner(player=player)})


def code_of(browser: Browser) -> str:
    found = re.search(r'<code id="code">([^<]+)<', browser.page)
    return found[1] if found else ""


def test_a_person_in_the_system_seat_comes_from_consent_to_the_code(tmp_path: Path) -> None:
    config = against("rule", "system")
    with served(tmp_path, "c-interact", config, limit=1, execute_sql=True) as (study, port):
        person = Browser(port)
        person.enter()
        with Chat(person) as chat:
            chat.wait_turn()
            assert "clarify" in chat.state["legal"]
            chat.play("clarify", "What do you mean by roomy?")
            chat.wait_for(2)
            assert chat.events[1]["who"] == "partner"
            assert "seats" in chat.events[1]["data"]
            chat.play("execute_sql", "SELECT name FROM branches ORDER BY name LIMIT 2")
            chat.wait_for(3)
            assert "Harbour" in chat.events[2]["reply"]
            for number in (4, 5):
                chat.play("submit_sql", "SELECT 1")
                chat.until(lambda: chat.status == "survey" or chat.seen >= number)  # noqa: B023
            chat.until(lambda: chat.status == "survey")
        assert person.status() == "survey"
        assert person.post("/survey", {"humanlike": "4"}) == 422
        assert person.post("/survey", SURVEY) == 200
        code = code_of(person)
        assert code.startswith("BIRDENV-")
        assert person.status() == "finished"
        assert code_of(person) == code
        (row,) = study.store.dialogues()
        assert study.store.surveys(row.id)[0] == {name: int(value) for name, value in SURVEY.items()} | {
            "comments": None
        }


@pytest.mark.slow
def test_a_person_in_the_user_seat_answers_the_system(tmp_path: Path) -> None:
    with served(tmp_path, "c-interact", against("asks-first", "user"), limit=1) as (_, port):
        person = Browser(port)
        person.enter()
        with Chat(person) as chat:
            chat.wait_turn()
            assert chat.state["legal"] == ["answer"]
            assert "You asked" in chat.setup["panels"][0]["text"]
            while chat.status in ("", "chat", "waiting"):
                if chat.state["legal"]:
                    chat.play("answer", "I mean b.seats >= 40, the wear index in points.")
                    chat.state = {"legal": []}
                chat.until(lambda: chat.state["legal"] or chat.status not in ("", "chat", "waiting"))
        heard = [each["data"] for each in chat.events if each["who"] == "you"]
        assert heard[0] == "I mean b.seats >= 40, the wear index in points."  # a person's words stay


@pytest.mark.parametrize(
    ("game", "player", "seat", "move"),
    [
        ("mutual-friends", "rulebased", "agent_0", "select"),
        ("bargain", "rulebased", "buyer", "message"),
        ("bargain", "rulebased", "seller", "message"),
        ("deal-or-no-deal", "rulebased", "agent_1", "message"),
    ],
)
def test_every_game_is_played_without_knowing_it(
    tmp_path: Path, game: str, player: str, seat: str, move: str
) -> None:
    with served(tmp_path, game, against(player, seat), limit=2) as (_, port):
        person = Browser(port)
        person.enter()
        with Chat(person) as chat:
            chat.wait_turn()
            assert chat.setup["guide"]
            data: Any = chat.state["choices"][0] if move == "select" else "hello there"
            before = chat.seen
            chat.play(move, data, "first")
            chat.until(lambda: any(each["cid"] == "first" for each in chat.events))
            chat.until(lambda: chat.seen >= before + 2)
            assert any(each["who"] == "partner" for each in chat.events)


def test_two_people_are_paired_and_each_sees_their_own_list(tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (study, port):
        people = [Browser(port), Browser(port, "PROLIFIC_PID=p1&STUDY_ID=s")]
        for person in people:
            person.enter()
        with Chat(people[0]) as one, Chat(people[0]) as tab:
            tab.until(lambda: tab.status == "waiting")
            one.until(lambda: one.status == "waiting")
            with Chat(people[1]) as two:
                chats = (one, two)
                for chat in chats:
                    chat.wait_turn()
                mine, theirs = (chat.state["choices"] for chat in chats)
                (match,) = [item for item in mine if item in theirs]
                one.play("message", "<script>alert(1)</script>")
                two.wait_for(1)
                tab.wait_for(1)
                mine_there = {"who": "you", "name": "You", "cid": None}
                assert two.events[0] | mine_there == tab.events[0] | {"cid": None}
                for chat in chats:
                    chat.play("select", match)
                for chat in chats:
                    chat.until(lambda: chat.status == "survey")  # noqa: B023
        for person in people:
            assert person.status() == "survey"
        for number, person in enumerate(people, 1):
            assert person.post("/survey", SURVEY | {"comments": f"from {number}"}) == 200
        codes = [code_of(person) for person in people]
        assert all(codes) and codes[0] != codes[1]
        assert f"https://app.prolific.com/submissions/complete?cc={codes[1]}" in people[1].page
        (row,) = study.store.dialogues()
        assert row.outcome == {"reward": 1.0}
    (example,) = study_rows(tmp_path, "cocoa")
    assert example["agents"] == {"0": "human", "1": "human"}
    rated = {seat: answers["comments"] for seat, answers in example["agents_info"]["surveys"].items()}
    seat_of_one = next(event["agent"] for event in example["events"] if event["action"] == "message")
    assert rated == {str(1 - seat_of_one): "from 1", str(seat_of_one): "from 2"}  # of the one who is rated
    first, second = study_rows(tmp_path, "openai")
    assert first["messages"] and second["tools"]


def test_one_whose_connection_was_cut_hears_what_was_said_meanwhile_once(tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (_, port):
        people = [Browser(port), Browser(port)]
        for person in people:
            person.enter()
        one, two = (Chat(person) for person in people)
        with two:
            for chat in (one, two):
                chat.wait_turn()
            two.play("message", "before")
            one.wait_for(1)
            one.send({"type": "typing", "on": True})
            two.until(lambda: '"on": true' in two.frames[-1])
            one.socket.socket.close()  # no closing words
            two.until(lambda: '"on": false' in two.frames[-1])  # who is not here does not type
            for words in ("first", "second", "third"):
                two.play("message", words)
            two.wait_for(4)
            with Chat(people[0], after=1) as back:
                back.wait_for(4)
                assert [each["data"] for each in back.events] == ["first", "second", "third"]
            with Chat(people[0]) as reloaded:
                reloaded.wait_for(4)
                assert [each["data"] for each in reloaded.events] == [each["data"] for each in two.events]


@pytest.mark.slow
def test_a_player_is_not_told_from_a_person_and_seems_to_type(tmp_path: Path) -> None:
    config = against("test_dialogues:Keeper", "guesser")
    config = config.model_copy(update={"typing_speed": 50.0})
    with served(tmp_path, TOY, config) as (_, port):
        person = Browser(port)
        pages = [person.page]
        person.enter()
        with Chat(person) as chat:
            chat.wait_turn()
            pages.append(person.page)
            begun = time.monotonic()
            chat.play("ask", "is it above 50?")
            chat.wait_for(2)
            took = time.monotonic() - begun
            typing = [frame for frame in chat.frames if '"typing"' in frame]
            assert '"on": true' in typing[0]
            chat.until(lambda: '"on": false' in "".join(chat.frames))
        assert took >= 1 + len("colder") / 50  # it reads, and then it types
        told = "".join([*pages, *chat.frames]).lower()
        assert "keeper:" not in told and "test_dialogues" not in told
        # as a word: random tokens in the page have any three letters
        assert not re.search(r"(?<![a-z0-9])(?:chat)?bots?(?![a-z0-9])", told)


@pytest.mark.slow
def test_the_time_limit_of_a_dialogue_sends_both_browsers_to_the_survey(tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(limits={"chat": 0.5}), limit=1) as (_, port):  # type: ignore[arg-type]
        people = [Browser(port), Browser(port)]
        for person in people:
            person.enter()
        with Chat(people[0]) as one, Chat(people[1]) as two:
            for chat in (one, two):
                chat.until(lambda: chat.status == "survey")  # noqa: B023
        for person in people:
            assert person.status() == "survey" and "The time for your conversation is up." in person.page


def test_a_dialogue_in_two_browsers_replays_through_gymnasium_to_the_same_rewards(tmp_path: Path) -> None:
    import gymnasium

    import birdenv  # noqa: F401 (registers the environments)

    with served(tmp_path, "c-interact", StudyConfig(), limit=1, execute_sql=True) as (study, port):
        right, next_right = golds(study)
        script = [
            (0, "clarify", "What is a roomy branch?"),
            (1, "answer", "One with 40 seats or more."),
            (0, "execute_sql", "SELECT name FROM branches ORDER BY seats LIMIT 1"),
            (0, "submit_sql", "SELECT name FROM branches"),
            (0, "submit_sql", right),
            (0, "submit_sql", next_right),
        ]
        people = [Browser(port), Browser(port)]
        for person in people:
            person.enter()
        with Chat(people[0]) as one, Chat(people[1]) as two:
            chats = [one, two]
            for chat in chats:
                chat.until(lambda: chat.setup)  # noqa: B023
            chats.sort(key=lambda chat: chat.setup["actions"][0]["name"] == "answer")
            for number, (seat, action, data) in enumerate(script):
                chat = chats[seat]
                chat.until(lambda: action in chat.state["legal"])  # noqa: B023
                chat.play(action, data, cid=str(number))
                if number < len(script) - 1:
                    chat.until(lambda: any(each["cid"] == str(number) for each in chat.events))  # noqa: B023
            chats[0].until(lambda: chats[0].status == "survey")
        (stored,) = study.store.dialogues()
        moves = [each.event for each in study.store.moves(stored.id)]
    answers = iter([event.data for event in moves if event.agent == 1])
    env = gymnasium.make(
        "birdenv/CInteract-v0",
        execute_sql=True,
        user=lambda view: Move("answer", next(answers)),
        disable_env_checker=True,
    )
    env.reset(seed=0, options={"instance_id": stored.task})
    kinds = {"clarify": 0, "execute_sql": 1, "submit_sql": 2}
    total, over = 0.0, False
    for event in moves:
        if event.agent == 0:
            seen, reward, over, _, _ = env.step({"kind": kinds[event.action], "text": event.data})
            total += float(reward)
            if event.metadata is not None:
                assert event.metadata["reply"] in seen["message"]
    env.close()
    assert over
    assert [event.data for event in moves] == [data for _, _, data in script]
    assert stored.rewards == pytest.approx([0.8, 0.8])
    assert total == pytest.approx(0.8)


@pytest.mark.slow
def test_a_language_model_sits_with_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from birdenv.testing.openai_server import demo_script, serve

    with serve(demo_script()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with served(tmp_path, "c-interact", against("llm:scripted", "user"), limit=1) as (study, port):
            person = Browser(port)
            person.enter()
            with Chat(person) as chat:
                chat.until(lambda: chat.status == "survey" or "answer" in chat.state["legal"])
                while chat.status != "survey":
                    chat.play("answer", "As you think.")
                    chat.state = {"legal": []}
                    chat.until(lambda: chat.status == "survey" or "answer" in chat.state["legal"])
            (stored,) = study.store.dialogues()
            assert stored.status == "completed"
            assert stored.seats == ["llm:scripted", "human"]


def golds(study: Any) -> tuple[str, str]:
    """The right SQL of both phases."""
    private = study.arena._tasks.private(study.arena.ids[0])
    return private.brief.gold[0], private.follow_up.gold[0]


def test_nothing_private_is_in_a_page_or_frame(tmp_path: Path) -> None:
    with make_game("c-interact", limit=1) as arena:
        brief = arena.start(arena.ids[0]).rules.private_brief(1)[0]
        candidates = arena.start(arena.ids[0]).view(0).candidates
    secrets = [*brief.gold, *(point.snippet for point in brief.ambiguities), *candidates]
    assert all(secrets) and len(secrets) > 3
    for seat, player in (("system", "rule"), ("user", "asks-first")):
        with served(tmp_path / seat, "c-interact", against(player, seat), limit=1) as (_, port):
            person = Browser(port)
            pages = [person.page]
            person.enter()
            pages.append(person.page)
            with Chat(person) as chat:
                chat.wait_turn()
                pages.append(person.page)
                action = chat.state["legal"][0]
                chat.play(action, "What do you mean by roomy?")
                chat.wait_for(2)
                told = "\n".join([*pages, json.dumps([json.loads(each) for each in chat.frames])])
        for secret in secrets:
            assert secret not in told
            assert json.dumps(secret)[1:-1] not in told


def test_a_game_that_is_registered_in_a_few_lines_is_served(tmp_path: Path) -> None:
    with served(tmp_path, TOY, against("test_dialogues:Keeper", "guesser")) as (_, port):
        person = Browser(port)
        person.enter()
        with Chat(person) as chat:
            chat.wait_turn()
            chat.play("ask", "is it above 50?")
            chat.wait_for(2)
            chat.play("guess", "7")
            chat.play("guess", 7)
            chat.until(lambda: chat.status == "survey")
        assert person.status() == "survey"
        assert "Your points: 1.<" in person.page


class Keeper:
    """Answers in the toy game."""

    def move(self, view: Any) -> Move:
        return Move("hint", "colder")
