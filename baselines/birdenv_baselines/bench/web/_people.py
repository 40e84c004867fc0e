"""A study's server in a process of its own, and people without a screen: forms, then sockets in one loop."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect

_FORM = re.compile(r'name="form" value="([^"]+)"')


@contextmanager
def study(folder: Path) -> Iterator[int]:
    """Serve a study in which people are paired; yields the port."""
    words = ["web", "mutual-friends", "--max-events", "1000", "--port", "0", "-o", str(folder)]
    server = subprocess.Popen([sys.executable, "-m", "birdenv", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        port = re.search(r":(\d+)/", line)
        if port is None:
            raise RuntimeError(f"the study does not start: {line!r}")
        yield int(port[1])
    finally:
        server.kill()
        server.wait()


def enter(port: int) -> str:
    """Go into the waiting room; returns the cookie."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"origin": f"http://127.0.0.1:{port}", "content-type": "application/x-www-form-urlencoded"}
    cookie = ""
    connection.request("GET", "/")
    answer = connection.getresponse()
    page = answer.read().decode()
    for path in ("/consent", "/instructions"):
        cookie = (answer.getheader("set-cookie") or cookie).partition(";")[0]
        found = _FORM.search(page)
        if found is None:
            raise RuntimeError("the page has no form")
        headers["cookie"] = cookie
        connection.request("POST", path, urlencode({"form": found[1]}), headers)
        answer = connection.getresponse()
        answer.read()
        cookie = (answer.getheader("set-cookie") or cookie).partition(";")[0]
        connection.request("GET", "/", headers={"cookie": cookie})
        answer = connection.getresponse()
        page = answer.read().decode()
    connection.close()
    return cookie


class Talk(NamedTuple):
    """What came of people who talked: seconds until all were paired, and of each message to the partner."""

    paired: float
    delays: list[float]


class _Person:
    def __init__(self, place: int, socket: ClientConnection) -> None:
        self.place = place
        self.socket = socket
        self.paired = asyncio.Event()
        self.heard: Counter[str] = Counter()
        self.at: dict[str, float] = {}

    async def listen(self) -> None:
        async for text in self.socket:
            now = perf_counter()
            frame: dict[str, Any] = json.loads(text)
            if frame["type"] == "setup":
                self.paired.set()
            elif frame["type"] == "news":
                for event in frame["events"]:
                    self.heard[event["data"]] += 1
                    if event["who"] == "partner":
                        self.at[event["data"]] = now

    async def send(self, frame: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(frame))


async def talk(port: int, cookies: list[str], messages: int) -> Talk:
    """Let all come at once, and each say a message a second.

    Raises:
        RuntimeError: a message was lost, or came twice.
    """
    rng = Random(0)
    async with AsyncExitStack() as stack:
        begun = perf_counter()
        opened = [
            connect(
                f"ws://127.0.0.1:{port}/ws",
                origin=f"http://127.0.0.1:{port}",  # type: ignore[arg-type]
                additional_headers={"cookie": cookie},
                open_timeout=60,
                compression=None,
            )
            for cookie in cookies
        ]
        sockets = await asyncio.gather(*(stack.enter_async_context(each) for each in opened))
        people = [_Person(place, socket) for place, socket in enumerate(sockets)]
        listening = [asyncio.create_task(person.listen()) for person in people]
        await asyncio.gather(*(person.send({"type": "hello", "after": 0}) for person in people))
        async with asyncio.timeout(60):
            await asyncio.gather(*(person.paired.wait() for person in people))
        paired = perf_counter() - begun
        sent: dict[str, float] = {}

        async def say(person: _Person) -> None:
            await asyncio.sleep(rng.random())
            for number in range(messages):
                words = f"{person.place}/{number}"
                sent[words] = perf_counter()
                await person.send({"type": "move", "cid": words, "action": "message", "data": words})
                await asyncio.sleep(1)

        await asyncio.gather(*(say(person) for person in people))
        await asyncio.sleep(2)
        for task in listening:
            task.cancel()
    heard = Counter[str]()
    for person in people:
        heard.update(person.heard)
    wrong = [words for words in sent if heard[words] != 2]  # by who said it, and by the partner
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(sent)} messages were lost or came twice")
    return Talk(paired, [at - sent[words] for person in people for words, at in person.at.items()])
