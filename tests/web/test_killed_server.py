"""A server that is killed without warning: people go on where they were, with nothing lost or twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from web_browser import Browser, Chat

from birdenv.web import open_store

pytestmark = pytest.mark.kills
RESTARTS = 5


class Server:
    """`birdenv web` in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "birdenv", "web", *words, "-o", str(folder)]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port)], stdout=subprocess.PIPE, env=dict(os.environ)
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith(b"Study:")
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not listen")

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def resumed(browser: Browser, chat: Chat, move: Callable[[Chat], None]) -> Chat:
    """A new connection from the cursor of a broken one; what may not have arrived is sent again."""
    after = Chat(browser, after=chat.seen)
    after.wait_turn()
    after.events = [*chat.events, *after.events]
    after._after = 0
    move(after)
    return after


def test_two_people_go_on_after_each_kill(tmp_path: Path) -> None:
    server, rng = Server(tmp_path, "mutual-friends", "--max-events", "1000"), Random(1)
    try:
        people = [Browser(server.port), Browser(server.port)]
        for person in people:
            person.enter()
        chats = [Chat(person) for person in people]
        for chat in chats:
            chat.wait_turn()
        sent = 0
        for number in range(RESTARTS):
            for _ in range(3):
                sent += 1
                chats[sent % 2].play("message", f"word {sent}", cid=str(sent))
            time.sleep(rng.random() * 0.05)
            server.kill()
            begun = time.monotonic()
            server.start()
            last = range(sent - 2, sent + 1)

            def again(chat: Chat, seat: int, last: range = last) -> None:
                for each in last:
                    if each % 2 == seat:
                        chat.play("message", f"word {each}", cid=str(each))

            chats = [
                resumed(people[seat], chats[seat], lambda chat, seat=seat: again(chat, seat))  # type: ignore[misc]
                for seat in (0, 1)
            ]
            for chat in chats:
                chat.wait_for(sent)
            assert time.monotonic() - begun < 30, number
        words = [[each["data"] for each in chat.events] for chat in chats]
        assert words[0] == words[1]
        assert sorted(words[0]) == sorted(f"word {each + 1}" for each in range(sent))
        for chat in chats:
            chat.__exit__(None, None, None)
    finally:
        server.kill()
    store = open_store(tmp_path)
    (stored,) = store.dialogues()
    assert [each.event.data for each in store.moves(stored.id)] == words[0]
    store.close()


def test_a_dialogue_with_sql_goes_on_after_a_kill(tmp_path: Path) -> None:
    server = Server(tmp_path, "c-interact", "--user", "rule", "--execute-sql", "--limit", "1")
    try:
        person = Browser(server.port)
        person.enter()
        with Chat(person) as chat:
            chat.wait_turn()
            chat.play("execute_sql", "CREATE TABLE mine AS SELECT 41 + 1 AS answer")
            chat.wait_for(1)
            chat.play("clarify", "What is roomy?", cid="asked")
            chat.wait_for(3)
        server.kill()
        server.start()
        with Chat(person, after=chat.seen) as again:
            again.wait_turn()
            again.play("clarify", "What is roomy?", cid="asked")
            again.play("execute_sql", "SELECT answer FROM mine")
            again.wait_for(4)
            assert "42" in again.events[0]["reply"]
            assert len(again.events) == 1
    finally:
        server.kill()
