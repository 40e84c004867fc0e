"""Who and what may come in: tokens, origins, forms, hosts, frames, rates, tabs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from web_browser import Browser, Chat, served
from websockets.exceptions import ConnectionClosed

from birdenv.errors import InputError
from birdenv.report.access import Doors
from birdenv.studies._connection import MAX_FRAME, as_json, read_frame
from birdenv.studies._database import Database
from birdenv.studies._platform import external_of, platform_of
from birdenv.studies._requests import Newcomers
from birdenv.studies.study._config import Partner, StudyConfig
from birdenv.studies.study._store import held_study
from birdenv.studies.study._study import Study

CONFIG = StudyConfig(seat="buyer", partners={"bot": Partner(player="rulebased")})


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Study, int]]:
    with served(tmp_path_factory.mktemp("study"), "bargain", CONFIG) as running:
        yield running


def closed_with(socket: Any) -> int:
    """The code with which the server closes a socket."""
    with pytest.raises(ConnectionClosed) as found:
        for _ in range(2_000):
            socket.recv(10)
    assert found.value.rcvd is not None
    return int(found.value.rcvd.code)


def until_gone(study: Study, browser: Browser) -> None:
    """Wait until the server has seen that a person's last tab is closed."""
    id = Doors(Path(study.store.path).parent).person(browser.cookie.partition("=")[2])
    assert id is not None
    deadline = time.monotonic() + 20
    while study.presence.tabs(id):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "3",
        "{}",
        '{"type": "move"}',
        '{"type": "hello", "after": -1}',
        '{"type": "hello", "after": true}',
        '{"type": "hello", "after": 0, "more": 1}',
        '{"type": "admin"}',
        '{"type": ["move"]}',
        '{"type": "typing", "on": "yes"}',
        '{"type": "move", "cid": "1", "action": "message", "data": "\\ud800"}',
        '{"type": "move", "cid": "1", "action": "message", "data": {"\\udfff": 1}}',
        '{"type": "move", "cid": "\\ud800", "action": "message"}',
        '{"type": "move", "cid": "1", "action": "offer", "data": NaN}',
        '{"type": "move", "cid": "1", "action": "offer", "data": 1e999}',
        '{"type": "move", "cid": "1", "action": "offer", "data": ' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"type": "move", "cid": "1", "action": "offer", "data": ' + "9" * 10_000 + "}",
        '{"type": "move", "cid": "' + "c" * 65 + '", "action": "offer"}',
        " " * (MAX_FRAME + 1),
    ],
)
def test_a_frame_outside_of_the_union_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_frame(text)


def test_what_was_stored_cannot_break_a_socket() -> None:
    assert as_json({"text": "\ud800"}).isascii()


def test_an_odd_frame_closes_its_own_socket_and_no_other(study: tuple[Study, int]) -> None:
    person, other = Browser(study[1]), Browser(study[1])
    person.enter()
    other.enter()
    with Chat(other) as fine:
        for odd in (
            b"\x00\x01",
            "null",
            "[]",
            '{"type": "move", "cid": "1", "action": "m", "data": "\\ud800"}',
        ):
            with person.socket() as socket:
                socket.send(odd)
                assert closed_with(socket) == 4400
        with person.socket() as socket:
            socket.send("x" * 10_000_000)
            assert closed_with(socket) == 1009
        fine.wait_turn()
        fine.play("message", "hello")
        fine.until(lambda: any(each["who"] == "you" for each in fine.events))


def test_a_burst_is_cut_off(study: tuple[Study, int]) -> None:
    person = Browser(study[1])
    person.enter()
    with person.socket() as socket, pytest.raises(ConnectionClosed):
        for number in range(1_000):
            socket.send(json.dumps({"type": "typing", "on": bool(number % 2)}))
        closed_with(socket)
        raise ConnectionClosed(None, None)
    assert person.status() == "waiting"


def test_a_forged_cookie_opens_nothing(study: tuple[Study, int]) -> None:
    person = Browser(study[1])
    person.enter()
    good, token = person.cookie, person.fields["form"]
    name, _, value = good.partition("=")
    for forged in ("", f"{name}={value[:-2]}xx", f"{name}=abc", f"{name}={token}"):
        person.cookie = forged
        with person.socket() as socket:
            assert closed_with(socket) == 4401
        person.cookie = forged
        assert person.post("/step/leave") == 403
    person.cookie = good
    assert person.status() == "waiting"


def test_a_foreign_page_can_send_nothing(study: tuple[Study, int]) -> None:
    person, other = Browser(study[1]), Browser(study[1])
    for each in (person, other):
        each.enter()
    assert person.post("/step/leave", origin="http://evil.example") == 403
    assert person.post("/step/leave", {"form": other.fields["form"]}) == 403
    assert person.post("/step/leave", {"form": ""}) == 403
    assert person.post("/survey", {"comments": "x" * 70_000}) == 413
    assert person.get("/", host="evil.example") == 400
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{study[1] + 1}"):
        with person.socket(origin) as socket:
            assert closed_with(socket) == 4403
    assert person.status() == "waiting"


def test_two_tabs_are_one_person_and_a_move_sent_twice_is_one(study: tuple[Study, int]) -> None:
    person = Browser(study[1])
    person.enter()
    with Chat(person) as one, Chat(person) as two:
        one.wait_turn()
        two.wait_turn()
        for chat in (one, two):
            chat.play("message", "how much is it?", cid="same")
        for chat in (one, two):
            chat.until(lambda: any(each["cid"] == "same" for each in chat.events))  # noqa: B023
    with Chat(person) as again:
        again.until(lambda: again.seen >= one.seen)
        assert sum(each["cid"] == "same" for each in again.events) == 1
        with Chat(person, after=again.seen - 1) as late:
            late.wait_for(again.seen)
            assert late.events == again.events[-1:]


def test_the_newest_tabs_are_served(study: tuple[Study, int]) -> None:
    person = Browser(study[1])
    person.enter()
    with ExitStack() as tabs:
        first, *_, last = (tabs.enter_context(person.socket()) for _ in range(9))
        assert closed_with(first) == 4429
        last.send(json.dumps({"type": "hello", "after": 0}))
        assert '"status"' in str(last.recv(20))


def test_pages_escape_and_say_where_scripts_may_come_from(study: tuple[Study, int]) -> None:
    evil = '"><script>alert(1)</script>'
    person = Browser(study[1])
    person.get(f"/?PROLIFIC_PID={'%22%3E%3Cscript%3E'}")
    assert person.fields["PROLIFIC_PID"] == '"><script>'
    assert platform_of({"workerId": "w" * 500, "other": evil}) == {"workerId": "w" * 200}
    assert external_of({"workerId": "w"}) == "mturk:w"
    assert "script-src 'self'" in headers_of(study[1])["content-security-policy"]


def test_who_talks_to_a_program_is_not_told_to_wait_and_nobody_is_promised_pay(
    study: tuple[Study, int], tmp_path: Path
) -> None:
    with served(tmp_path, "bargain", StudyConfig()) as (_, port_of_pairs):
        for port, waits in ((study[1], False), (port_of_pairs, True)):
            person = Browser(port)
            person.post("/consent")
            assert ("you wait for your partner" in person.page) is waits
            assert ("The task starts on the next page" in person.page) is not waits
            person.post("/instructions")
            assert ("Waiting for your partner" in person.page) is waits and "paid" not in person.page
            person.post("/step/leave")
            assert "You have left the study" in person.page
            assert not re.search(r"\bpa(?:y|id)", person.page)  # a token may contain "pay"


def test_the_admin_page_needs_its_token(study: tuple[Study, int], tmp_path: Path) -> None:
    running, port = study
    admin = Browser(port)
    assert (
        admin.get("/admin/export/transcripts.json")
        == admin.get("/admin/export/people.csv")
        == admin.get("/admin/now")
        == 403
    )
    assert admin.post("/admin", {"token": "wrong"}) == 403
    assert "This token is invalid." in admin.page and 'name="token"' in admin.page
    assert "People now" not in admin.page
    folder = Path(running.store.path).parent
    assert admin.post("/admin", {"token": Doors(folder).admin_token}) == 200
    assert "People now" in admin.page
    assert admin.get("/admin/export/transcripts.json") == 200
    person = Browser(port)
    person.enter()
    assert admin.get("/admin/export/people.csv") == 200
    row = admin.page.splitlines()[1].split(",")
    assert row[2] == "participant"
    assert Browser(port).post("/admin/delete", {"person": row[0]}) == 403
    assert admin.post("/admin/delete", {"person": "nobody"}) == 404
    assert person.post("/report", {"text": " "}) == 422
    person.get()
    assert person.post("/report", {"text": "<b>It hangs</b>"}) == 200
    assert person.status() == "waiting"
    admin.get("/admin")
    assert "<caption>Waiting</caption>" in admin.page and "<b>It hangs</b>" in admin.page
    assert (folder / "secret").stat().st_mode & 0o077 == 0


WORKER = "workerId=W{0}&assignmentId=A{0}&turkSubmitTo=https://www.mturk.com"


def test_a_worker_who_comes_again_is_the_same_person(study: tuple[Study, int]) -> None:
    first = Browser(study[1], WORKER.format(1))
    first.enter()
    again = Browser(study[1], WORKER.format(1))
    assert again.post("/consent") == 200
    assert again.status() == "waiting"
    preview = Browser(study[1], "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&workerId=W2")
    assert "<form" not in preview.page


def test_one_who_takes_the_task_anew_goes_back_to_the_new_one(study: tuple[Study, int]) -> None:
    anew = WORKER.format(7).replace("A7", "A8")
    worker = Browser(study[1], WORKER.format(7))
    worker.enter()
    worker.get(f"/?{anew}")
    assert "I agree" in worker.page and worker.status() == "waiting"  # a link that was opened changes nothing
    assert Browser(study[1], anew).post("/consent") == 409
    worker.get(f"/?{anew}")
    worker.post("/consent")
    assert worker.status() == "waiting"
    person = study[0].store.person_named("W7")
    assert person is not None and person.platform["assignmentId"] == "A8"
    assert Browser(study[1], WORKER.format(7)).post("/consent") == 409
    assert Browser(study[1], anew).post("/consent") == 200


@pytest.mark.parametrize(
    "query",
    ["workerId=W3", "workerId=W3&assignmentId=A4", "workerId=W3&assignmentId="],
    ids=["no visit", "another visit", "an empty visit"],
)
def test_the_id_of_a_platform_alone_opens_nobody_elses_dialogue(study: tuple[Study, int], query: str) -> None:
    owner = Browser(study[1], WORKER.format(3))
    if owner.post("/consent") == 200:  # of another case otherwise: the same worker
        owner.post("/instructions")
    thief = Browser(study[1], query)
    assert thief.post("/consent") == 409
    assert "already taking part with your platform id" in thief.page
    assert (
        thief.post("/step/leave") == 200 and thief.status() == "consent"
    )  # a stranger, with a form of their own
    with thief.socket() as socket:
        assert closed_with(socket) == 4401


def test_a_second_browser_must_wait_until_the_first_is_closed(study: tuple[Study, int]) -> None:
    owner = Browser(study[1], WORKER.format(5))
    owner.enter()
    with Chat(owner) as chat:
        chat.until(lambda: chat.status)
        second = Browser(study[1], WORKER.format(5))
        came = f"{second.origin}/?{WORKER.format(5)}"
        assert second.post("/consent", referer=came) == 409 and second.status() == "consent"
        second.get(f"/?{WORKER.format(5)}")
        assert second.post("/consent", referer=came) == 409
    (back,) = re.findall('href="(/[^"]*)">Go to the first page', second.page)
    until_gone(study[0], owner)
    second.get(back)
    assert second.post("/consent") == 200
    assert second.status() == owner.status()


def test_a_link_of_ones_own_opens_another_browser(study: tuple[Study, int]) -> None:
    running, port = study
    owner, other, admin = Browser(port, WORKER.format(6)), Browser(port), Browser(port)
    owner.enter()
    owner.get()
    (link,) = re.findall(r'href="(/link/[^"]+)"', owner.page)
    assert other.get(link[:-2] + "xx") == 403
    assert other.get(f"/link/{owner.cookie.partition('=')[2]}") == 403
    assert admin.post("/admin/link", {"person": "W6"}) == 403
    admin.post("/admin", {"token": Doors(Path(running.store.path).parent).admin_token})
    assert admin.post("/admin/link", {"person": "W0"}) == 404
    assert admin.post("/admin/link", {"person": "W6"}) == 200 and link in admin.page
    assert other.get(link) == 200
    assert other.status() == owner.status() != "consent"
    assert other.post("/step/leave") == 200
    assert owner.status() == "finished" and link not in owner.page


def test_a_link_of_another_person_asks_before_it_replaces_one(study: tuple[Study, int]) -> None:
    running, port = study
    one, other = Browser(port, WORKER.format(7)), Browser(port, WORKER.format(8))
    one.post("/consent")
    other.post("/consent")
    person = running.store.person_named("W7")
    assert person is not None
    link = f"/link/{Doors(Path(running.store.path).parent).link(person.id)}"
    before = other.cookie
    assert other.get(link) == 200 and "another person" in other.page and other.cookie == before
    assert other.post(link, origin="http://elsewhere.example") == 403 and other.cookie == before
    assert other.post(link) == 200 and other.cookie != before
    assert one.get(link) == 200 and "another person" not in one.page  # one's own asks nothing


def test_a_platform_s_link_of_another_person_asks_before_it_replaces_one(study: tuple[Study, int]) -> None:
    running, port = study
    person = Browser(port, WORKER.format(11))
    person.enter()
    before = person.cookie
    other = f"/?{WORKER.format(12)}"
    assert person.get(other) == 200 and "another person" in person.page and person.cookie == before
    assert person.post(other, origin="http://elsewhere.example") == 403 and person.cookie == before
    assert person.get() == 200 and person.status() == "waiting"
    assert person.post(other) == 200 and "I agree" in person.page and person.cookie != before
    person.post("/consent")
    assert running.store.person_named("W12") is not None
    assert Browser(port, WORKER.format(11)).post("/consent") == 200  # the first one comes back


def test_a_platform_s_link_asks_nothing_of_one_who_has_finished(study: tuple[Study, int]) -> None:
    person = Browser(study[1], WORKER.format(13))
    person.enter()
    person.post("/step/leave")
    person.get()
    assert person.status() == "finished"
    assert person.get(f"/?{WORKER.format(14)}") == 200 and "I agree" in person.page


def test_the_admin_cookie_ends(study: tuple[Study, int], monkeypatch: pytest.MonkeyPatch) -> None:
    running, _ = study
    doors = Doors(Path(running.store.path).parent)
    cookie = doors.admin(doors.admin_token)
    assert doors.is_admin(cookie) and not doors.is_admin("x") and not doors.is_admin(None)
    later = time.time() + 13 * 3600
    monkeypatch.setattr("time.time", lambda: later)
    assert not doors.is_admin(cookie)


def test_newcomers_from_one_address_are_limited(tmp_path: Path) -> None:
    config = CONFIG.model_copy(update={"limits": CONFIG.limits.model_copy(update={"newcomers": 2})})
    with served(tmp_path, "bargain", config) as (study, port):
        people = [Browser(port) for _ in range(3)]
        assert [person.post("/consent") for person in people] == [200, 200, 429]
        assert "Too many people are joining at once" in people[2].page
        assert people[0].post("/consent") == 200  # who is known may come again
        assert study.store.counts() == {"instructions": 2}


def test_the_limit_of_newcomers_is_for_each_address_and_fills_again() -> None:
    now = 0.0
    newcomers = Newcomers(3, lambda: now)
    assert [newcomers.take("a") for _ in range(5)] == [True] * 3 + [False] * 2
    assert newcomers.take("b")
    now = 20.0
    assert [newcomers.take("a") for _ in range(2)] == [True, False]
    assert all(Newcomers(None).take("a") for _ in range(1_000))


def headers_of(port: int) -> dict[str, str]:
    from urllib.request import urlopen

    with urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
        return {name.lower(): value for name, value in answer.headers.items()}


def test_a_torn_secret_signs_nothing(tmp_path: Path) -> None:
    first = Doors(tmp_path)
    assert Doors(tmp_path).person(first.token("p")) == "p"
    secret = tmp_path / "secret"
    assert secret.stat().st_mode & 0o077 == 0 and list(tmp_path.iterdir()) == [secret]
    for torn in (b"", secret.read_bytes()[:40], b"\xff" * 64):  # of a server that was killed while it wrote
        secret.write_bytes(torn)
        with pytest.raises(InputError, match="secret"):
            Doors(tmp_path)


def test_a_second_server_of_a_study_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    with (
        held_study(folder),
        pytest.raises(InputError, match="in use by another server"),
        held_study(folder),
    ):
        pass
    with held_study(folder):
        pass


def test_what_people_said_is_for_its_owner_only(tmp_path: Path) -> None:
    Database(tmp_path / "study.sqlite", "CREATE TABLE said (words TEXT)").close()
    assert (tmp_path / "study.sqlite").stat().st_mode & 0o077 == 0


def test_a_frame_is_refused_long_before_a_file_would_be_nested_too_deeply() -> None:
    def nested(levels: int) -> str:
        return '{"type": "move", "cid": "1", "action": "a", "data": ' + "[" * levels + "]" * levels + "}"

    read_frame(nested(19))
    with pytest.raises(InputError, match="nested too deeply"):
        read_frame(nested(20))
