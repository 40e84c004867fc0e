"""A server that is killed without warning: people go on where they were, with nothing lost or twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from web_browser import Browser, Chat

from birdenv.studies.study._records import StoredMove
from birdenv.studies.study._store import open_store

pytestmark = pytest.mark.kills


class Server:
    """`birdenv web` in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "birdenv", "web", *words, "-o", str(folder)]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self, *, wait: bool = True) -> None:
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port)], stdout=subprocess.PIPE, env=dict(os.environ)
        )
        if not wait:
            return
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith(b"Study:")
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not listen")

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(100)
        assert self._process.stdout is not None
        self._process.stdout.close()


Burst = list[tuple[int, str, Any]]
"""Moves that are sent without waiting for each other: seat, action, data."""

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT MAX(i) FROM n"


class Pair:
    """Two people in one dialogue. After a kill they come back, and send again what may not have arrived."""

    def __init__(self, port: int) -> None:
        self.sent: list[tuple[int, str]] = []  # seat, the browser's number
        self.browsers = [Browser(port), Browser(port)]
        for browser in self.browsers:
            browser.enter()
        chats = [Chat(browser) for browser in self.browsers]
        for chat in chats:
            chat.until(lambda: chat.setup)  # noqa: B023
        is_user = chats[0].setup["actions"][0]["name"] == "answer"
        order = (1, 0) if is_user else (0, 1)
        self.browsers = [self.browsers[place] for place in order]
        self.chats = [chats[place] for place in order]

    def send(self, burst: Burst, first: int) -> None:
        for place, (seat, action, data) in enumerate(burst):
            self.chats[seat].play(action, data, cid=f"{first + place}")

    def come_back(self) -> None:
        chats = []
        for browser, old in zip(self.browsers, self.chats, strict=True):
            chat = Chat(browser, after=old.seen)
            chat.until(lambda: chat.setup)  # noqa: B023
            chat.events, chat._after = [*old.events, *chat.events], 0
            chats.append(chat)
        self.chats = chats

    def wait_for(self, burst: Burst, first: int) -> None:
        for place, (seat, _, _) in enumerate(burst):
            chat, cid = self.chats[seat], f"{first + place}"
            chat.until(lambda: any(each["cid"] == cid for each in chat.events))  # noqa: B023
            self.sent.append((seat, cid))


def back_within() -> float:
    """Seconds in which both are back: 10 by the bar, more where others use the processors, too."""
    wanted = os.getloadavg()[0] / (os.cpu_count() or 1)
    return 10 * max(1, 1.5 * wanted)


def killed_again_and_again(folder: Path, bursts: list[Burst], *words: str) -> list[StoredMove]:
    """Kill the server in each burst, and each fourth time while it starts, too; returns what is stored."""
    server, rng, slowest = Server(folder, *words), Random(1), 0.0
    try:
        pair, count = Pair(server.port), 0
        for number, burst in enumerate(bursts):
            pair.send(burst, count)
            time.sleep(rng.random() * 0.1)
            server.kill()
            if number % 4 == 3:
                server.start(wait=False)
                time.sleep(rng.random() * 2)
                server.kill()
            begun = time.monotonic()
            server.start()
            pair.come_back()
            pair.send(burst, count)
            pair.wait_for(burst, count)
            slowest = max(slowest, time.monotonic() - begun)
            count += len(burst)
        print(f"{len(bursts)} kills; the slowest return took {slowest:.1f} s")
        assert slowest < back_within()
        for chat in pair.chats:
            chat.__exit__(None, None, None)
    finally:
        server.kill()
    store = open_store(folder)
    [stored] = store.dialogues()
    moves = store.moves(stored.id)
    store.close()
    assert sorted(move.cid for move in moves) == sorted(cid for _, cid in pair.sent)
    times = [move.event.time for move in moves]
    assert times == sorted(set(times))
    for seat, chat in enumerate(pair.chats):
        own = [event["cid"] for event in chat.events if event["who"] == "you"]
        assert sorted(own) == sorted(cid for who, cid in pair.sent if who == seat)
    return moves


def test_two_people_go_on_after_each_kill(tmp_path: Path) -> None:
    words = [(each % 2, "message", f"word {each}") for each in range(36)]
    bursts: list[Burst] = [list(words[first : first + 3]) for first in range(0, 36, 3)]
    moves = killed_again_and_again(tmp_path, bursts, "mutual-friends", "--max-events", "1000")
    assert sorted(move.event.data for move in moves) == sorted(word for _, _, word in words)


def test_two_people_with_sql_go_on_after_each_kill(tmp_path: Path) -> None:
    bursts: list[Burst] = [[(0, "execute_sql", "CREATE TABLE mine AS SELECT 1 AS one")]]
    for _ in range(3):
        bursts.append([(0, "execute_sql", f"INSERT INTO mine {SLOW}")])
    bursts += [[(0, "clarify", "What is roomy?")], [(1, "answer", "At least 40 seats.")]]
    bursts += [[(0, "submit_sql", "SELECT 1")], [(0, "execute_sql", "SELECT COUNT(*) AS rows_now FROM mine")]]
    moves = killed_again_and_again(tmp_path, bursts, "c-interact", "--execute-sql", "--limit", "1")
    told = [(move.event.metadata or {}).get("reply", "") for move in moves]
    assert "4" in told[-1].split()  # each statement was felt once
    assert all(not (move.event.metadata or {}).get("refused") for move in moves)


def test_statements_that_timed_out_do_not_run_again(tmp_path: Path) -> None:
    words = ("c-interact", "--execute-sql", "--limit", "1", "--sql-timeout", "4")
    server = Server(tmp_path, *words)
    try:
        pair = Pair(server.port)
        for count in range(3):
            pair.send([(0, "execute_sql", ENDLESS)], count)
            pair.wait_for([(0, "execute_sql", ENDLESS)], count)
        assert all("timeout" in event["reply"] for event in pair.chats[0].events)
        server.kill()
        begun = time.monotonic()
        server.start()
        pair.come_back()
        pair.send([(0, "clarify", "What is roomy?")], 3)
        pair.wait_for([(0, "clarify", "What is roomy?")], 3)
        print(f"back after {time.monotonic() - begun:.1f} s")
        assert time.monotonic() - begun < back_within()
        for chat in pair.chats:
            chat.__exit__(None, None, None)
    finally:
        server.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("runs", [False, True])
def test_a_server_that_is_asked_to_end_leaves_one_file_with_every_move(
    number: signal.Signals, runs: bool, tmp_path: Path
) -> None:
    server = Server(tmp_path, "c-interact", "--execute-sql", "--limit", "1")
    burst: Burst = [(0, "clarify", "What is roomy?"), (1, "answer", "At least 40 seats.")]
    pair = Pair(server.port)
    for place in (0, 1):
        pair.send(burst[place : place + 1], place)
        pair.wait_for(burst[place : place + 1], place)
    if runs:
        pair.send([(0, "execute_sql", ENDLESS)], 2)
        time.sleep(0.5)
    begun = time.monotonic()
    server.kill(number)  # while both are connected
    assert time.monotonic() - begun < back_within()  # the statement would take longer
    assert {path.name for path in tmp_path.iterdir()} == {"secret", "study.sqlite"}
    store = open_store(tmp_path)
    assert [move.event.data for move in store.moves(store.running()[0].id)] == [data for *_, data in burst]
    store.close()
