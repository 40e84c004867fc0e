"""Calls to an endpoint: what is tried again, what is not, and what the caller hears."""

from __future__ import annotations

import json
import logging
import socket
import ssl
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY

from birdenv.errors import InputError, RunEndedError
from birdenv.llm import ContextOverflowError, EndpointError, Models
from birdenv.llm._request import retry_after
from birdenv.testing.openai_server import Call, ScriptedTurn, Server, Trouble

Start = Callable[..., Server]
Make = Callable[..., Models]
HELLO: Any = [{"role": "user", "content": "hello"}]
PAGE = "<html><body>Sign in to the network</body></html>"
OVERFLOW = Trouble(status=400, code="context_length_exceeded", message="This is too long.")

PASSING = {
    "rate limit": Trouble(status=429, headers={"Retry-After": "0"}),
    "rate limit, by date": Trouble(status=429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "server error": Trouble(status=500, body="<h1>Oops</h1>", content_type="text/html"),
    "unavailable, overloaded": Trouble(status=529),
    "connection, dropped": Trouble(drop=True),
    "connection, cut": Trouble(body='{"choices": []}', cut=True),
    "bad reply, a proxy's page": Trouble(body=PAGE, content_type="text/html"),
    "bad reply, a page that says it is JSON": Trouble(body=PAGE),
    "bad reply, null": Trouble(body="null"),
    "bad reply, choices null": Trouble(body='{"choices": null}'),
    "bad reply, an error with 200": Trouble(body='{"error": {"message": "busy"}}'),
    "bad reply, a gateway's own server": Trouble(
        body='{"choices": [{"error": {"code": 502}, "message": {"content": ""}}]}'
    ),
    "bad reply, given up by the server": Trouble(
        body='{"choices": [{"finish_reason": "abort", "message": {"content": "SELECT"}}]}'
    ),
    "bad reply, no message": Trouble(body='{"choices": [{"text": "hi"}]}'),
    "bad reply, words of another type": Trouble(body='{"choices": [{"message": {"content": 5}}]}'),
    "bad reply, endless lists": Trouble(
        body='{"choices": [{"message": {"x": ' + "[" * 900 + "]" * 900 + "}}]}"
    ),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("what", PASSING)
def test_a_passing_fault_costs_a_try_and_is_counted(server: Start, models: Make, what: str) -> None:
    found = models(server(ScriptedTurn(content="hi", faults=(PASSING[what],) * 2)).url)
    assert found.chat("agent", "m", "scope").complete(HELLO).content == "hi"
    account = found.ledger.accounts()["agent"]
    assert account.calls == 1 and dict(account.troubles) == {what.partition(",")[0]: 2}


LASTING = {
    "the key is refused": (Trouble(status=401, message="Bad {key}"), "Bad [key]' (is the key correct?)"),
    "no such model": (Trouble(status=404, code="model_not_found", message="No m."), "/v1/models lists its"),
    "no API there": (Trouble(status=404, body="<html>"), "Most end in /v1"),
    "the billing ended": (Trouble(status=429, code="billing_hard_limit_reached"), "quota is spent"),
    "a list": (Trouble(status=429, body='[{"error": {"message": "insufficient funds"}}]'), "'insufficient f"),
    "the quota is spent": (Trouble(status=429, code="insufficient_quota", message="Pay."), "quota is spent"),
}


@pytest.mark.parametrize("what", LASTING)
def test_a_lasting_fault_ends_the_run_at_once(server: Start, models: Make, what: str) -> None:
    trouble, says = LASTING[what]
    running = server(ScriptedTurn(faults=(trouble,) * 9))
    with pytest.raises(RunEndedError, match="answered 4") as error:
        models(running.url).chat("agent", "m", "scope").complete(HELLO)
    assert says in str(error.value) and len(running.requests) == 1
    assert "\n" not in str(error.value)
    assert KEY not in "".join(traceback.format_exception(error.value))


def test_an_endpoint_that_is_not_there_is_told_in_one_line(models: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(RunEndedError, match=r"cannot be reached: .*is the server running.*tried 3 times"):
            models(url).chat("agent", "m", "scope").complete(HELLO)


def test_a_base_url_may_have_no_path(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"))
    assert models(running.url.removesuffix("/v1")).chat("agent", "m", "s").complete(HELLO).content == "hi"
    assert running.requests[0].path == "/chat/completions"


def test_a_request_is_not_sent_on_to_another_address(server: Start, models: Make) -> None:
    moved = Trouble(status=302, headers={"Location": "https://login.invalid/"})
    with pytest.raises(RunEndedError, match="answered 302: it redirects requests to"):
        models(server(ScriptedTurn(faults=(moved,))).url).chat("agent", "m", "scope").complete(HELLO)


def test_tls_where_there_is_none_is_not_tried_again(server: Start, models: Make) -> None:
    found = models(server(ScriptedTurn(content="hi")).url.replace("http:", "https:"))
    with pytest.raises(RunEndedError, match="cannot be reached") as error:
        found.chat("agent", "m", "scope").complete(HELLO)
    assert "tried" not in str(error.value)


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The files of a certificate that signs itself, for this machine, and of its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=here".split()
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key]
    subprocess.run(["openssl", *made, *names], check=True, capture_output=True)
    return certificate, key


class Greeter(BaseHTTPRequestHandler):
    """Says hello to every request."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"choices": [{"message": {"content": "hi"}}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def tls_url(own_certificate: tuple[Path, Path]) -> Iterator[str]:
    """A server that speaks TLS under its own certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*own_certificate)
    running = ThreadingHTTPServer(("127.0.0.1", 0), Greeter)
    running.socket = context.wrap_socket(running.socket, server_side=True)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{running.server_port}/v1"
    running.shutdown()
    running.server_close()


def test_a_certificate_that_nobody_signed_is_told_in_one_line_and_can_be_trusted(
    tls_url: str, models: Make, own_certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunEndedError, match=r"certificate verify failed.*SSL_CERT_FILE") as error:
        models(tls_url).chat("agent", "m", "scope").complete(HELLO)
    assert tls_url in str(error.value) and "tried" not in str(error.value) and "\n" not in str(error.value)
    assert KEY not in "".join(traceback.format_exception(error.value))
    monkeypatch.setenv("SSL_CERT_FILE", str(own_certificate[0]))
    assert models(tls_url).chat("agent", "m", "scope").complete(HELLO).content == "hi"


@pytest.mark.parametrize("key", ["sk-secret-abc\ndef", "sk-secret-é", "“sk-secret”"])
def test_a_key_that_cannot_be_sent_is_not_said(
    server: Start, models: Make, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError, match="the key contains an invalid character") as error:
        models(server(ScriptedTurn(content="hi")).url).chat("agent", "m", "scope")
    assert "secret" not in str(error.value)


def test_an_endpoint_that_has_worked_costs_the_episode_only(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"), ScriptedTurn(status=500))
    found = models(running.url, retries=2)
    found.chat("agent", "m", "one").complete(HELLO)
    with pytest.raises(EndpointError, match=r"answered 500.*tried 3 times") as error:
        found.chat("agent", "m", "two").complete([*HELLO, {"role": "assistant", "content": "?"}])
    assert not isinstance(error.value, RunEndedError) and error.value.retried


def test_the_limit_of_a_rate_is_waited_for_however_often(server: Start, models: Make) -> None:
    limit = Trouble(status=429, headers={"Retry-After": "0"})
    running = server(ScriptedTurn(content="hi"), ScriptedTurn(content="at last", faults=(limit,) * 12))
    found = models(running.url, retries=2, pause_seconds=1e-6)
    found.chat("agent", "m", "one").complete(HELLO)
    later = [*HELLO, {"role": "assistant", "content": "?"}]
    assert found.chat("agent", "m", "two").complete(later).content == "at last"


def test_an_endpoint_that_dies_ends_the_run_after_a_few_calls(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"), ScriptedTurn(status=503))
    found = models(running.url, retries=8)
    found.chat("agent", "m", "one").complete(HELLO)
    later = [*HELLO, {"role": "assistant", "content": "?"}]
    for scope in ("two", "three"):
        with pytest.raises(EndpointError, match="answered 503"):
            found.chat("agent", "m", scope).complete(later)
    with pytest.raises(RunEndedError, match=r"answered 503.*tried 3 times"):
        found.chat("agent", "m", "four").complete(later)
    assert len(running.requests) == 1 + 9 + 3 + 3  # the first has all its tries


def test_requests_that_a_server_cannot_take_do_not_end_the_run(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"), ScriptedTurn(status=500))
    found = models(running.url, retries=2)
    found.chat("agent", "m", "one").complete(HELLO)
    for scope in ("two", "three", "four", "five"):
        with pytest.raises(EndpointError, match="answered 500"):
            found.chat("agent", "m", scope).complete([*HELLO, {"role": "assistant", "content": scope}])


@pytest.mark.parametrize(
    "turn", [ScriptedTurn(content="hi", delay=30), ScriptedTurn(body="[]" + 30 * " ", drip=1)]
)
@pytest.mark.parametrize("limits", [{"request_seconds": 0.2, "retries": 1}, {"call_seconds": 0.3}])
def test_a_request_and_a_call_have_deadlines(
    server: Start, models: Make, turn: ScriptedTurn, limits: dict[str, Any]
) -> None:
    """The server takes half a minute, whatever else the machine does; nobody waits for it."""
    found = models(server(turn).url, **{"request_seconds": 3600, "call_seconds": 3600, **limits})
    with pytest.raises(RunEndedError, match=r"no answer within|did not end in time|cannot be reached"):
        found.chat("agent", "m", "scope").complete(HELLO)


@pytest.mark.parametrize("given", ["nan", "inf", "1e300", "-5", "Mon, 01 Jan 0001 00:00:00 GMT", "soon"])
def test_a_time_to_wait_that_is_none_is_not_waited_for(given: str) -> None:
    assert not retry_after({"retry-after": given})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SSL_CERT_FILE", "nowhere.pem"),
        ("http_proxy", "ftp://me:secret-1@h:1"),
        ("http_proxy", "socks5://h:1"),
    ],
)
def test_an_environment_that_no_connection_can_use_ends_the_run(
    models: Make, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(RunEndedError) as error:
        models("http://host.invalid/v1", retries=0).chat("agent", "m", "scope").complete(HELLO)
    assert "set up" in str(error.value) and "secret" not in str(error.value)


def test_a_server_that_asks_to_wait_too_long_is_given_up(server: Start, models: Make) -> None:
    trouble = Trouble(status=429, headers={"Retry-After": "3600"})
    running = server(ScriptedTurn(content="hi", faults=(trouble,)))
    found = models(running.url, call_seconds=10)
    with pytest.raises(RunEndedError, match=r"answered 429.*asks to wait 3600 s"):
        found.chat("agent", "m", "scope").complete(HELLO)
    assert len(running.requests) == 1
    assert found.chat("agent", "m", "other").complete(HELLO).content == "hi"  # does not wait


def test_no_request_is_sent_after_the_time_of_a_call(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"))
    found = models(running.url, call_seconds=1e-9)
    for scope in ("one", "two", "three", "four"):
        with pytest.raises(EndpointError, match=r"1e-09 s of the call ended") as error:
            found.chat("agent", "m", scope).complete(HELLO)
        assert not isinstance(error.value, RunEndedError)
    assert not running.requests


def test_refused_parameters_are_left_out_from_then_on(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"), refused=("seed", "max_tokens", "temperature"))
    found = models(running.url, answer_tokens=50, temperature=0.5)
    for scope in ("one", "two"):
        assert found.chat("agent", "m", scope, seed=7).complete(HELLO).content == "hi"
    assert len(running.requests) == 5
    assert running.requests[-1].body == {"model": "m", "messages": HELLO, "max_completion_tokens": 50}
    assert found.ledger.accounts()["agent"].troubles["refused parameter"] == 3


def test_what_is_too_long_is_said_to_the_caller(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(faults=(OVERFLOW,) * 9))
    with pytest.raises(ContextOverflowError):
        models(running.url).chat("agent", "m", "scope").complete(HELLO)
    assert len(running.requests) == 1


def test_a_filter_is_a_refusal_of_the_model(server: Start, models: Make) -> None:
    trouble = Trouble(status=400, code="content_filter", message="Not this.")
    made = models(server(ScriptedTurn(faults=(trouble,))).url).chat("agent", "m", "scope").complete(HELLO)
    assert (made.finish_reason, made.refusal) == ("content_filter", "'Not this.'")


def test_a_huge_answer_is_not_read_to_its_end(server: Start, models: Make) -> None:
    found = models(server(ScriptedTurn(content="x", size=17 * 2**20)).url)
    with pytest.raises(EndpointError, match="more than 16777216 bytes"):
        found.chat("agent", "m", "scope").complete(HELLO)


def test_odd_messages_are_kept_whole_and_can_be_sent_back(server: Start, models: Make) -> None:
    body = (
        '{"choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": "a"}],'
        ' "extra": 1, "reasoning_content": "hm",'
        ' "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}, 7]},'
        ' "finish_reason": 5}], "usage": {"prompt_tokens": "many"}}'
    )
    chat = models(server(ScriptedTurn(body=body)).url).chat("agent", "m", "scope")
    made = chat.complete(HELLO)
    assert (made.content, made.reasoning, made.finish_reason, made.message["extra"]) == ("a", "hm", "", 1)
    assert made.history() == {
        "role": "assistant",
        "content": "a",
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
        ],
    }
    assert chat.spent.calls == 1 and chat.spent.prompt_tokens is None and chat.spent.cost_usd is None


@pytest.mark.parametrize("written", ['{"question": "x', "[1]", "", "[" * 3000])
def test_arguments_go_back_as_an_object_that_a_template_can_read(
    server: Start, models: Make, written: str
) -> None:
    chat = models(server(ScriptedTurn(calls=(Call(name="f", arguments=written),))).url).chat(
        "agent", "m", "scope"
    )
    made = chat.complete(HELLO)
    assert made.tool_calls[0]["function"]["arguments"] == written
    [sent] = made.history()["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {"arguments": written}


def test_half_characters_do_not_stop_a_request(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"))
    chat = models(running.url).chat("agent", "m", "scope")
    chat.complete([{"role": "user", "content": "a\ud800b\x00"}])
    assert running.requests[0].body["messages"][0]["content"] == "a?b\x00"


def test_half_characters_of_an_answer_are_replaced(server: Start, models: Make, tmp_path: Path) -> None:
    body = '{"choices": [{"message": {"content": "a\\ud800b"}}]}'
    found = models(server(ScriptedTurn(body=body)).url)
    found.record_in(tmp_path)
    assert found.chat("agent", "m", "scope").complete(HELLO).content == "a?b"
    again = models("http://127.0.0.1:9/v1", replay=tmp_path)
    assert again.chat("agent", "m", "scope").complete(HELLO).content == "a?b"


def test_at_most_so_many_requests_at_a_time(server: Start, models: Make) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from time import perf_counter

    found = models(server(ScriptedTurn(content="hi"), latency=0.1).url, max_concurrency=2)
    found.chat("agent", "m", "first").complete(HELLO)
    started = perf_counter()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: found.chat("agent", "m", str(n)).complete(HELLO), range(6)))
    assert perf_counter() - started >= 0.3  # a server's own pauses: six requests, two at a time


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "host:80",
        "http://",
        "http://u:p@host/v1",
        "http://host/v1?key=secret",
        f"http://h/{KEY}/v1",
        f"http://h/{KEY.replace('-', '%2d')}/v1",
        "http://h/sk-other-secret/v1",
        "u:secret@h:80/v1",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_and_no_secret_repeated(models: Make, url: str) -> None:
    with pytest.raises(InputError, match="base URL") as error:
        models(url).chat("agent", "m", "scope")
    if KEY.split("-")[-1] not in url:
        with pytest.raises(InputError, match="base URL"):
            models("http://h/v1", user_base_url=url).chat("agent", "m", "scope")
    assert not any(each in str(error.value) for each in ("u:p", "secret", KEY))


def test_tool_calls_come_through(server: Start, models: Make) -> None:
    turn = ScriptedTurn(content="Let me see.", calls=(Call(name="f", arguments={"x": 1}),))
    made = models(server(turn).url).chat("agent", "m", "scope").complete(HELLO, [{"type": "function"}])
    assert made.tool_calls[0]["function"]["name"] == "f" and made.content == "Let me see."


def test_a_request_that_is_not_taken_costs_its_episode_and_three_of_them_the_run(
    server: Start, models: Make
) -> None:
    found = models(server(ScriptedTurn(status=400, message="No tools here.")).url)
    chat = found.chat("agent", "m", "scope")
    for _ in range(2):
        with pytest.raises(EndpointError, match="answered 400: 'No tools here"):
            chat.complete(HELLO)
    with pytest.raises(RunEndedError, match="No tools here"):
        chat.complete(HELLO)


@pytest.mark.parametrize(
    ("written", "words", "thought"),
    [
        ("<think>\nIt is 40.\n</think>\n\nAt least 40.", "At least 40.", "It is 40."),
        ("<think>It is 4", "", "It is 4"),
        ("It may be 40.\n</think>\n\nAt least 40.", "At least 40.", "It may be 40."),
        ("I think <think> is a tag.", "I think <think> is a tag.", ""),
    ],
)
def test_thoughts_among_the_words_are_reasoning(
    server: Start, models: Make, written: str, words: str, thought: str
) -> None:
    made = models(server(ScriptedTurn(content=written)).url).chat("agent", "m", "scope").complete(HELLO)
    assert (made.content, made.reasoning, made.message["content"]) == (words, thought, written)
    assert thought == "" or thought not in str(made.history())


def test_reasoning_goes_back_to_endpoints_that_ask_for_it(server: Start, models: Make) -> None:
    turns = (
        ScriptedTurn(content="one", reasoning="Hm."),
        ScriptedTurn(content="two"),
        ScriptedTurn(content="three"),
    )
    running = server(*turns, wants_reasoning=True)
    chat = models(running.url).chat("agent", "m", "scope")
    messages = list(HELLO)
    for turn in turns:
        made = chat.complete(messages)
        assert made.content == turn.content
        messages += [made.history(), {"role": "user", "content": "and?"}]
    sent = [[m.get("reasoning_content") for m in each.body["messages"][1::2]] for each in running.requests]
    assert sent == [[], [None], ["Hm."], ["Hm.", ""]]


def test_flex_is_sent_and_waits_longer(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"))
    found = models(running.url, service_tier="flex")
    assert found.settings.seconds == (900.0, 2700.0) and models(running.url).settings.seconds[0] == 300.0
    assert found.chat("agent", "m", "scope").complete(HELLO).content == "hi"
    assert running.requests[0].body["service_tier"] == "flex"


def test_an_endpoint_without_flex_is_asked_without_it(server: Start, models: Make) -> None:
    running = server(ScriptedTurn(content="hi"), refused=("service_tier",))
    assert models(running.url, service_tier="flex").chat("agent", "m", "s").complete(HELLO).content == "hi"
    assert ["service_tier" in request.body for request in running.requests] == [True, False]


@pytest.mark.parametrize(
    "trouble", [Trouble(status=401, message="Bad {key}"), Trouble(status=500, message="{key}")]
)
def test_the_key_is_in_no_log(
    server: Start, models: Make, caplog: pytest.LogCaptureFixture, trouble: Trouble
) -> None:
    caplog.set_level(logging.DEBUG)
    running = server(ScriptedTurn(faults=(trouble,) * 9))
    with pytest.raises(RunEndedError) as error:
        models(running.url, retries=1).chat("agent", "m", "scope").complete(HELLO)
    assert "chat/completions" in caplog.text and KEY not in caplog.text
    assert KEY not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize("drip", [b"X-A: b\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n"], ids=["headers", "103"])
def test_the_limit_on_time_holds_for_headers_too(models: Make, drip: bytes) -> None:
    """Each byte comes in time; the whole does not."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    try:
                        connection.sendall(b"" if drip.startswith(b"HTTP") else b"HTTP/1.1 200 OK\r\n")
                        while not ended.wait(0.05):
                            connection.sendall(drip)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        found = models(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", retries=0, request_seconds=0.4)
        began = time.monotonic()
        with pytest.raises(RunEndedError, match=r"no answer within 0\.4 s"):
            found.chat("agent", "m", "t/0/system", 1).complete(HELLO)
        assert time.monotonic() - began < 20
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)
