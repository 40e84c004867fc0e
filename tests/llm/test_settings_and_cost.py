"""Models by role, keys, prices, budgets, prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY

from birdenv.errors import InputError, RunEndedError
from birdenv.llm import ContextOverflowError, Models, ModelSettings, Prompt
from birdenv.testing.openai_server import ScriptedTurn, Server, Trouble

Start = Callable[..., Server]
Make = Callable[..., Models]
pytestmark = pytest.mark.usefixtures("own_environment")

HELLO: Any = [{"role": "user", "content": "hello"}]
URL = "http://127.0.0.1:8000/v1"


def test_each_role_has_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ModelSettings(model="a", user_model="u")
    assert (settings.model_of("agent"), settings.model_of("user"), settings.model_of("agent", "x")) == (
        "a",
        "u",
        "x",
    )
    with pytest.raises(InputError, match="--user-model"):
        ModelSettings().model_of("user")


def test_a_key_goes_only_where_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    one = ModelSettings(base_url=URL)
    assert one.endpoint("agent").key == one.endpoint("user").key == KEY
    two = ModelSettings(base_url=URL, user_base_url="http://other/v1/")
    assert (two.endpoint("user").url, two.endpoint("user").key) == ("http://other/v1", "none")
    monkeypatch.setenv("BIRDENV_USER_API_KEY", "sk-user")
    assert two.endpoint("user").key == "sk-user" and two.endpoint("agent").key == KEY
    assert KEY not in repr(two.endpoint("agent")) and KEY not in json.dumps(two.config())


def test_without_a_key_openai_is_not_even_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match=r"set OPENAI_API_KEY .* or name a server of your own"):
        Models().chat("agent", "m", "scope")
    assert ModelSettings(base_url=URL).endpoint("agent").key == "none"
    (tmp_path / ".env").write_text('OPENAI_BASE_URL="http://env/v1"\nMY_KEY=sk-mine\n')
    found = ModelSettings(key_variable="MY_KEY").endpoint("agent")
    assert (found.url, found.key) == ("http://env/v1", "sk-mine")


def test_own_prices_count_cached_tokens_apart(server: Start, models: Make, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"m": {"input": 2, "output": 10, "cached_input": 1}}')
    body = json.dumps(
        {
            "choices": [{"message": {"content": "hi"}}],
            "usage": {
                "prompt_tokens": 1000,
                "completion_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 400},
            },
        }
    )
    found = models(server(ScriptedTurn(body=body)).url, prices=file)
    chat, other = found.chat("agent", "m", "scope"), found.chat("user", "unknown", "scope")
    chat.complete(HELLO), other.complete(HELLO)
    assert chat.spent.cost_usd == pytest.approx((600 * 2 + 400 * 1 + 100 * 10) / 1e6)
    assert other.spent.cost_usd is None
    assert found.ledger.accounts()["user"].unpriced == 1 and found.ledger.line().endswith("$0.0026+")


def test_unknown_tokens_of_an_earlier_part_stay_unknown(server: Start, models: Make, tmp_path: Path) -> None:
    for usage, said in ((False, "1 calls, tokens unknown, "), (True, "2 calls, ")):
        found = models(server(ScriptedTurn(content="hi", usage=usage)).url)
        found.record_in(tmp_path)
        found.chat("agent", "m", str(usage)).complete(HELLO)
        assert found.ledger.line().startswith(said)
    assert "+ tokens" in found.ledger.line()


def test_listed_prices_need_the_provider_s_url() -> None:
    pytest.importorskip("genai_prices")
    from birdenv.llm._costs import TokenPrices

    assert TokenPrices().are_known("gpt-4o", "https://api.openai.com/v1")
    assert not TokenPrices().are_known("gpt-4o", URL)
    assert not TokenPrices().are_known("no-such-model", "https://api.openai.com/v1")


def test_a_budget_ends_the_run_and_counts_what_was_spent_before(
    server: Start, models: Make, tmp_path: Path
) -> None:
    running = server(ScriptedTurn(content="hi"))
    first = models(running.url)
    first.record_in(tmp_path)
    first.chat("agent", "m", "a").complete(HELLO)
    tokens = first.ledger.totals()[1]
    second = models(running.url, run_tokens=tokens + 1)
    second.record_in(tmp_path)
    second.chat("agent", "m", "b").complete(HELLO)
    with pytest.raises(RunEndedError, match="--max-tokens is reached"):
        second.chat("agent", "m", "c").complete(HELLO)
    assert second.chat("agent", "m", "a").complete(HELLO).content == "hi"  # what is recorded is free
    assert second.ledger.line().startswith("2 calls, ")  # of the whole run, as the tokens are
    assert len(running.requests) == 2


@pytest.mark.parametrize("budget", [{"max_cost": 1.0}, {"run_tokens": 99}])
def test_no_budget_can_be_kept_where_no_tokens_are_reported(
    server: Start, models: Make, tmp_path: Path, budget: dict[str, Any]
) -> None:
    (file := tmp_path / "prices.json").write_text('{"m": {"input": 2, "output": 10}}')
    found = models(server(ScriptedTurn(content="hi", usage=False)).url, prices=file, **budget)
    found.chat("agent", "m", "a").complete(HELLO)
    with pytest.raises(RunEndedError, match="cannot be enforced"):
        found.chat("agent", "m", "b").complete(HELLO)
    assert found.ledger.line() == "1 calls, tokens unknown, cost unknown"


def test_what_an_endpoint_did_not_take_costs_nothing(server: Start, models: Make, tmp_path: Path) -> None:
    (file := tmp_path / "prices.json").write_text('{"m": {"input": 2, "output": 10}}')
    faults = (Trouble(status=400, code="context_length_exceeded"), Trouble(status=400, code="content_filter"))
    found = models(server(ScriptedTurn(content="hi", faults=faults)).url, prices=file, max_cost=1.0)
    chat = found.chat("agent", "m", "a")
    with pytest.raises(ContextOverflowError):
        chat.complete(HELLO)
    chat.complete(HELLO), chat.complete(HELLO)
    assert chat.spent.cost_usd is not None and found.ledger.accounts()["agent"].cost_usd > 0


def test_a_budget_in_dollars_needs_a_price(models: Make) -> None:
    with pytest.raises(InputError, match="requires the price of 'm'"):
        models(URL, max_cost=1.0).chat("agent", "m", "scope")


@pytest.mark.parametrize("text", ["[]", '{"m": {"input": 1}}', '{"m": {"input": -1, "output": 1}}'])
def test_a_file_of_prices_with_a_fault_is_named(tmp_path: Path, text: str) -> None:
    (file := tmp_path / "prices.json").write_text(text)
    with pytest.raises(InputError, match=r"prices\.json"):
        Models(ModelSettings(prices=file))


def test_a_prompt_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    (file := tmp_path / "mine.j2").write_text("Play {{ game }}.\n{% if %}")
    with pytest.raises(InputError, match=r"mine\.j2: line 2"):
        Prompt.from_file(file)
    with pytest.raises(InputError, match="'nothing' is undefined; a prompt can use game"):
        Prompt("{{ nothing }}", "mine").render(game="bird")
    with pytest.raises(InputError, match="mine"):
        Prompt("{{ game.__class__.__mro__[1].__subclasses__() }}", "mine").render(game="bird")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"run_tokens": 0}, "run_tokens must be at least 1, got 0"),
        ({"prompts": "short"}, "prompts 'short' is unknown; choose from full, compact"),
        ({"modle": "a"}, "a model has no setting 'modle'; its settings are model, "),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ModelSettings(**settings)
