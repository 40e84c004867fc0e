"""An OpenAI-compatible endpoint on this machine whose model follows a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from birdenv.tasks.c_interact import CInteractTask
from birdenv.tasks.sql._actions import ARGUMENTS

PROMPT_TOKENS, COMPLETION_TOKENS = 100, 7
"""Of every call."""


def script(task: CInteractTask, tools: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Every tool once, as far as the game has it; then what the authors of the task would submit."""
    looks: list[tuple[str, list[str]]] = [
        ("get_schema", []),
        ("get_all_column_meanings", []),
        ("get_column_meaning", ["a_table", "a_column"]),
        ("get_all_external_knowledge_names", []),
        ("get_knowledge_definition", ["0"]),
        ("get_all_knowledge_definitions", []),
        ("clarify", ["What do you mean?"]),
        ("execute_sql", ["SELECT 1"]),
    ]
    follow_up = task.private.follow_up
    golds = [task.private.gold, follow_up.gold if follow_up else ()]
    submissions = [("submit_sql", [";\n".join(gold)]) for gold in golds]
    return [look for look in looks if look[0] in tools] + submissions


@contextmanager
def chat_endpoint(tasks: Sequence[CInteractTask]) -> Iterator[str]:
    """Its address while it serves."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(_answer(body, tasks)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    finally:
        server.shutdown()
        server.server_close()


def _answer(body: dict[str, Any], tasks: Sequence[CInteractTask]) -> dict[str, Any]:
    messages = body["messages"]
    [task] = [task for task in tasks if task.public.question in messages[0]["content"]]
    made = [message for message in messages if message["role"] == "assistant"]
    offered = [tool["function"]["name"] for tool in body["tools"]]
    names = [message["tool_calls"][0]["function"]["name"] for message in made]
    name, values = script(task, [*offered, *names])[len(made)]
    arguments = dict(zip(ARGUMENTS[name], values, strict=True))  # type: ignore[index]
    call = {"name": name, "arguments": json.dumps(arguments)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{len(made)}", "type": "function", "function": call}],
    }
    usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS}
    return {"choices": [{"message": message}], "usage": usage}
