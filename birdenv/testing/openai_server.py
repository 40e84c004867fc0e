"""A server that plays a script over the OpenAI chat protocol, for tests and dry runs without a network.

    python -m birdenv.testing.openai_server SCRIPT [--port PORT] [--log FILE]

SCRIPT is a JSON file (see `ServerScript`) or `demo`. The demo has two models: `scripted` solves the demo
benchmark with tool calls and plays the simulated user, and `scripted-markup` solves c-Interact with tags.
In a test, use `with serve(script) as server:`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import responses
from pathlib import Path
from typing import Any, Final, NamedTuple

from birdenv.errors import BirdenvError
from birdenv.testing._scripts import (
    Call,
    ScriptedDialogue,
    ScriptedTurn,
    ServerScript,
    Trouble,
    demo_script,
    read_script,
)

__all__ = [
    "Call",
    "ScriptedDialogue",
    "ScriptedTurn",
    "Server",
    "ServerScript",
    "Trouble",
    "demo_script",
    "read_script",
    "serve",
]

_MOST_BODY: Final = 64 * 2**20
_TLS: Final = b"\x16"  # the first byte of a handshake


class Request(NamedTuple):
    """A request to the server: its path, its headers (with lower-case names) and its JSON body."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Server:
    """A server that plays a script.

    Attributes:
        script: the script, which can be replaced while the server runs.
        url: the base URL for clients (for example, for `--base-url`); empty until the server is started.
        requests: the chat requests so far, in order.
    """

    def __init__(self, script: ServerScript, log: Path | None = None) -> None:
        self.script = script
        self.url = ""
        self.requests: list[Request] = []
        self._log = log
        self._seen: Counter[str] = Counter()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> asyncio.Server:
        """Start listening for requests, set `url`, and return the underlying asyncio server.

        If `port` is 0, a free port is chosen.
        """
        server = await asyncio.start_server(self._serve, host, port, limit=2**20, backlog=1024)
        self.url = f"http://{host}:{server.sockets[0].getsockname()[1]}/v1"
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other."""
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError, ValueError):
            while await self._answer(*await _read(reader), writer):
                pass
        with suppress(ConnectionError):
            writer.close()

    async def _answer(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        key = headers.get("authorization", "").removeprefix("Bearer ")
        if self.script.key is not None and key != self.script.key:
            return await _send(
                writer, Trouble(status=401, code="invalid_api_key", message="Bad key {key}"), key
            )
        if method == "GET" and path.endswith("/models"):
            models = [{"id": name, "object": "model"} for name in self.script.models]
            return await _send(writer, Trouble(body=json.dumps({"object": "list", "data": models})), key)
        if method != "POST" or not path.endswith("/chat/completions"):
            return await _send(writer, Trouble(status=404, message=f"There is no {method} {path}."), key)
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return await _send(writer, Trouble(status=400, message="The body is not a JSON object."), key)
        return await self._complete(Request(path, headers, body), key, data, writer)

    async def _complete(self, request: Request, key: str, data: bytes, writer: asyncio.StreamWriter) -> bool:
        self.requests.append(request)
        body, script = request.body, self.script
        digest = hashlib.sha256(data).hexdigest()
        self._seen[digest] += 1
        if self._log is not None:
            with self._log.open("a") as file:
                file.write(f"{digest}\n")
        if script.latency:
            await asyncio.sleep(script.latency)
        trouble = _refused(script, body)
        if trouble is not None:
            return await _send(writer, trouble, key)
        turn = script.turn(body)
        if turn is None:
            fault = Trouble(status=400, message="The script has no turn for this request.")
            return await _send(writer, fault, key)
        tried = self._seen[digest]
        if tried <= len(turn.faults):
            return await _send(writer, turn.faults[tried - 1], key)
        if turn.body is not None or turn.status >= 400 or turn.drop:
            return await _send(writer, turn, key)
        if body.get("stream"):
            return await _stream(writer, turn, body)
        text = json.dumps(_completion(turn, body))
        return await _send(writer, turn.model_copy(update={"body": text}), key)


def _refused(script: ServerScript, body: Mapping[str, Any]) -> Trouble | None:
    model = body.get("model")
    if script.models and model not in script.models:
        return Trouble(status=404, code="model_not_found", message=f"The model {model!r} does not exist.")
    for name in script.refused:
        if name in body:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            return Trouble(status=400, code="unsupported_parameter", message=message)
    messages = body.get("messages") or ()
    own = [each for each in messages if isinstance(each, dict) and each.get("role") == "assistant"]
    if script.wants_reasoning and not all("reasoning_content" in each for each in own):
        return Trouble(status=400, message="Missing `reasoning_content` field in the assistant message.")
    return None


async def _read(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    first = await reader.readexactly(1)
    if first == _TLS:
        raise ConnectionError("this server does not speak TLS")
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in head[1:])}
    length = min(int(headers.get("content-length") or 0), _MOST_BODY)
    return method, path, headers, await reader.readexactly(length)


async def _send(writer: asyncio.StreamWriter, trouble: Trouble, key: str) -> bool:
    """Send an answer, and return False if the connection must be closed."""
    await asyncio.sleep(trouble.delay)
    if trouble.drop:
        return False
    text = trouble.body
    if text is None:
        error = {"message": trouble.message.replace("{key}", key), "type": "error", "code": trouble.code}
        text = json.dumps({"error": error})
    data = text.encode()
    headers = {"Content-Type": trouble.content_type, "Content-Length": str(len(data)), **trouble.headers}
    head = _head(trouble.status, headers)
    if trouble.cut:
        writer.write(head + data[: len(data) // 2])
        await writer.drain()
        return False
    if trouble.drip:
        writer.write(head)
        for byte in data:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(trouble.drip)
        return True
    writer.write(head + data)  # in one packet, which a client reads at once
    await writer.drain()
    return True


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    reason = responses.get(status, "Error")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _message(turn: ScriptedTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text()}
    if turn.calls:
        message["tool_calls"] = [call.to_json(number) for number, call in enumerate(turn.calls, 1)]
    if turn.reasoning is not None:
        message["reasoning_content"] = turn.reasoning
    if turn.refusal is not None:
        message["refusal"] = turn.refusal
    return message


def _usage(turn: ScriptedTurn, body: Mapping[str, Any]) -> dict[str, int]:
    """Return a usage that counts one token for every four characters, as a rule of thumb."""
    prompt = len(json.dumps(body.get("messages"))) // 4
    completion = len(json.dumps(_message(turn))) // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _finish(turn: ScriptedTurn) -> str:
    return turn.finish_reason or ("tool_calls" if turn.calls else "stop")


def _completion(turn: ScriptedTurn, body: Mapping[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(turn), "finish_reason": _finish(turn)}
    made = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body.get("model")}
    return {**made, "choices": [choice], **({"usage": _usage(turn, body)} if turn.usage else {})}


async def _stream(writer: asyncio.StreamWriter, turn: ScriptedTurn, body: Mapping[str, Any]) -> bool:
    """Send a completion as server-sent events: first pieces of the text, then the tool calls."""
    await asyncio.sleep(turn.delay)
    message = _message(turn)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content", "refusal"):
        text = message.get(name) or ""
        deltas += [{name: text[at : at + 20]} for at in range(0, len(text), 20)]
    for index, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        opened = {"index": index, **call, "function": {**call["function"], "arguments": ""}}
        deltas += [{"tool_calls": [opened]}]
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}]
    made = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}
    chunks = [{**made, "choices": [{"index": 0, "delta": each, "finish_reason": None}]} for each in deltas]
    chunks.append({**made, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(turn)}]})
    if turn.usage and (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**made, "choices": [], "usage": _usage(turn, body)})
    events = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"]
    writer.write(_head(200, {"Content-Type": "text/event-stream", "Connection": "close", **turn.headers}))
    for event in events[: len(events) // 2] if turn.cut else events:
        writer.write(f"data: {event}\n\n".encode())
        await writer.drain()
        await asyncio.sleep(turn.drip)
    return False


@contextmanager
def serve(script: ServerScript, log: Path | None = None) -> Iterator[Server]:
    """Run a server in a thread for the duration of a `with` statement, and yield the server.

    Args:
        script: the script that the server plays.
        log: the file to append the digest of each chat request to; None for no log.
    """
    server = Server(script, log)
    ready = threading.Event()
    loop = asyncio.new_event_loop()

    def work() -> None:
        asyncio.set_event_loop(loop)
        listening = loop.run_until_complete(server.start())
        ready.set()
        loop.run_forever()
        listening.close()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def main(arguments: list[str] | None = None) -> None:
    """Start a server with the command line's options, print its base URL, and serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m birdenv.testing.openai_server")
    parser.add_argument("script", help="a JSON file, or `demo`")
    parser.add_argument("--port", type=int, default=0, help="the port (default: any free port)")
    parser.add_argument("--log", type=Path, help="append the digest of each chat request to this file")
    given = parser.parse_args(arguments)
    try:
        script = demo_script() if given.script == "demo" else read_script(Path(given.script))
    except BirdenvError as error:
        sys.exit(f"Error: {error}")

    async def run() -> None:
        server = Server(script, given.log)
        listening = await server.start(port=given.port)
        print(server.url, flush=True)
        await listening.serve_forever()

    with suppress(KeyboardInterrupt):
        asyncio.run(run())


if __name__ == "__main__":
    main()
