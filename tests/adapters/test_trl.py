"""TRL: an environment's tools, and rollouts by tags; both in the real GRPO trainer."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dialogues import ASK, as_tags, assert_nothing_private, breakdown, demo_messages, golden, wrong_messages
from servers import example
from session_tests import Message, SessionTests, Step, note

pytest.importorskip("trl", reason="the extra `trl` is not installed")

from datasets import Dataset
from tiny_model import make_model, make_tokenizer
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer

from birdenv.adapters.trl import dataset_rows, earned, environment_class, rollout
from birdenv.dialogue import make_game
from birdenv.testing import AgentScript, tool_call

pytestmark = pytest.mark.slow  # the frameworks take seconds to import


def _tools(environment: Any) -> list[str]:
    """Return the names of the methods that TRL takes for tools."""
    methods = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    return [name for name, _ in methods if not name.startswith("_") and name not in ("reset", "get_reward")]


class TestEnvironmentFactory(SessionTests):
    framework = "trl environment_factory"

    @asynccontextmanager
    async def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AsyncIterator[Step]:
        environment: Any = environment_class(game, **settings)()
        [row] = dataset_rows(game, **{**settings, "instances": [task]})
        assert environment.reset(**row) is None
        note(self.seen, [row, [get_json_schema(getattr(environment, each)) for each in _tools(environment)]])

        async def step(message: Message) -> tuple[str, float, bool]:
            function = message["tool_calls"][0]["function"]
            before = environment.get_reward()
            tool = getattr(environment, function["name"])
            text = await asyncio.to_thread(tool, **json.loads(function["arguments"]))
            note(self.seen, text)
            gained = (environment.get_reward() or 0.0) - (before or 0.0)
            return text, gained, environment._episode.done

        yield step

    @pytest.mark.parametrize("game", ["c-interact", "a-interact", "bird"])
    def test_tools_have_the_schemas_of_the_game(self, game: str) -> None:
        environment = environment_class(game)()
        assert {*_tools(environment)} == {tool["function"]["name"] for tool in make_game(game).tools}
        for tool in make_game(game).tools:
            made = get_json_schema(getattr(environment, tool["function"]["name"]))["function"]
            expected = tool["function"]
            assert made["description"] == expected["description"]
            fields = made["parameters"].get("properties", {})
            assert fields == expected["parameters"]["properties"]

    def test_a_void_episode_earns_nothing_at_all(self) -> None:
        environment: Any = environment_class("c-interact", user="birdenv.testing:failing_user")()
        environment.reset(prompt=[{"instance_id": "library_1"}])
        environment.clarify(question="?")
        assert environment.get_reward() is None

    def test_a_call_after_the_end_is_an_error(self) -> None:
        environment: Any = environment_class("bird", max_turns=1)()
        environment.reset(prompt=[{"instance_id": "1"}])
        environment.execute_sql(sql="SELECT 1")
        with pytest.raises(Exception, match="the episode is over"):
            environment.execute_sql(sql="SELECT 1")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return make_tokenizer([row["prompt"][0]["content"] for row in dataset_rows("c-interact", markup=True)])


class ScriptedTrainer:
    """A trainer whose model writes what it is told to, as tokens; equal prompts get equal texts."""

    def __init__(self, tokenizer: Any, texts: list[list[str]]) -> None:
        self.processing_class = tokenizer
        self._texts = texts
        self._of: dict[tuple[int, ...], list[str]] = {}

    def _generate_single_turn(self, contexts: list[list[int]], *_: Any) -> tuple[list[list[int]], Any]:
        if not self._of:
            self._of = {tuple(start): told for start, told in zip(contexts, self._texts, strict=True)}
        made = [self._turn(context) for context in contexts]
        return made, [[-0.5] * len(each) for each in made]

    def _turn(self, context: list[int]) -> list[int]:
        tokenizer = self.processing_class
        told = next(texts for start, texts in self._of.items() if tuple(context[: len(start)]) == start)
        begun = context.count(tokenizer.convert_tokens_to_ids("<|im_start|>"))  # by both, in each turn
        text = told[begun // 2 - 1] + tokenizer.eos_token
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])


class TestRollout:
    framework = "trl rollout_func"

    @staticmethod
    def _play(
        tokenizer: Any,
        game: str,
        dialogues: list[tuple[str, Any]],
        most_tokens: int = 100_000,
        **settings: Any,
    ) -> Any:
        trainer = ScriptedTrainer(tokenizer, [[*map(as_tags, messages)] for _, messages in dialogues])
        rows = {row["prompt"][0]["instance_id"]: row["prompt"] for row in dataset_rows(game, markup=True)}
        play = rollout(game, most_tokens=most_tokens, **settings)
        return play([rows[name] for name, _ in dialogues], trainer)

    def _replies(self, tokenizer: Any, output: Any, row: int = 0) -> list[str]:
        """Return the words between the turns of the model: the tokens that the mask leaves out."""
        ids, mask = output["completion_ids"][row], output["env_mask"][row]
        found, last = [[]], 1
        for token, own in zip(ids, mask, strict=True):
            if own and not last:
                found.append([])
            if not own:
                found[-1].append(token)
            last = own
        shown = [tokenizer.decode(each).partition("user\n")[2] for each in found if each]
        return [text.rpartition("<|im_end|>")[0] for text in shown]

    def test_a_golden_dialogue_is_the_same(self, tokenizer: Any, script: AgentScript) -> None:
        messages = (*script.messages, *[tool_call("submit_sql", sql="")] * 4)  # a rollout goes on to the end
        output = self._play(tokenizer, script.game, [(script.instance_id, messages)], **script.settings)
        told = [line.text for line in golden(script, tags=True) if not line.done]
        assert self._replies(tokenizer, output)[: len(told)] == told
        whole = AgentScript("", script.game, script.instance_id, messages, script.settings)
        reward = None if "fault" in script.name else pytest.approx(sum(breakdown(whole, tags=True).values()))
        assert output["birdenv_reward"] == [reward]

    def test_all_demo_tasks_are_played_to_the_end(self, tokenizer: Any) -> None:
        output = self._play(tokenizer, "c-interact", [*demo_messages().items()])
        assert output["birdenv_reward"] == [1.0] * 38

    def test_fifty_episodes_at_once_are_the_same(self, tokenizer: Any) -> None:
        output = self._play(tokenizer, "c-interact", [("library_1", demo_messages()["library_1"])] * 50)
        assert output["birdenv_reward"] == [1.0] * 50
        assert len({tuple(ids) for ids in output["completion_ids"]}) == 1

    def test_a_dead_endpoint_of_the_user_earns_nothing_at_all(
        self, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        output = self._play(tokenizer, "c-interact", [("library_1", [ASK])], user="llm:nobody")
        assert output["birdenv_reward"] == [None] == earned(**output)

    @pytest.mark.parametrize("template", ["qwen3", "qwen2_5"])
    def test_tokens_are_those_of_the_template_and_only_the_model_s_count(self, template: str) -> None:
        tokenizer = make_tokenizer([make_game("c-interact").prompt("library_1", markup=True)], template)
        solved = demo_messages()["library_1"]
        output = self._play(tokenizer, "c-interact", [("library_1", solved)])
        [ids], [mask], [chances] = (output[key] for key in ("completion_ids", "env_mask", "logprobs"))
        assert len(ids) == len(mask) == len(chances)
        assert [chance == -0.5 for chance in chances] == [own == 1 for own in mask]
        messages = [{"role": "user", "content": make_game("c-interact").prompt("library_1", markup=True)}]
        with make_game("c-interact").episode("library_1") as episode:
            for message in solved:
                messages.append({"role": "assistant", "content": as_tags(message)})
                messages.append({"role": "user", "content": episode.say(as_tags(message)).text})
        whole = tokenizer.apply_chat_template(messages, tokenize=False)
        assert whole.startswith(tokenizer.decode(output["prompt_ids"][0] + ids)[: -len(tokenizer.eos_token)])

    def test_an_episode_ends_where_the_context_does(self, tokenizer: Any) -> None:
        output = self._play(tokenizer, "c-interact", [("library_1", [ASK] * 9)], most_tokens=10)
        assert output["birdenv_reward"] == [0.0] and output["env_mask"][0].count(1) < 60

    def test_nothing_private_is_handed_over(self, tokenizer: Any) -> None:
        output = self._play(tokenizer, "c-interact", [*wrong_messages().items()])
        ids = [*output["prompt_ids"], *output["completion_ids"]]
        rows = json.dumps(dataset_rows("c-interact", markup=True), ensure_ascii=False)
        assert_nothing_private(rows + "\n".join(tokenizer.batch_decode(ids)))


def _train(tmp_path: Path, tokenizer: Any, rows: list[Any], words: Callable[..., Any], **how: Any) -> Any:
    """Train two steps with a model that writes what it is told to."""
    config = GRPOConfig(
        str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=64,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        learning_rate=0.01,
        warmup_steps=0,
    )
    trainer = GRPOTrainer(
        make_model(tokenizer),
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        **how,
    )
    calls = iter(range(10_000))

    def generate(contexts: Any, *_: Any) -> Any:
        said = [words(next(calls), context) + tokenizer.eos_token for context in contexts]
        return [tokenizer(text, add_special_tokens=False)["input_ids"] for text in said], None

    trainer._generate_single_turn = generate
    before = trainer.model.lm_head.weight.detach().clone()
    trainer.train()
    assert not (before == trainer.model.lm_head.weight).all()
    return [entry for entry in trainer.state.log_history if "reward" in entry]


RIGHT = "SELECT COUNT(*) FROM members WHERE card_status = 'active'"


@pytest.mark.parametrize("way", ["rollout_func", "environment_factory"])
def test_two_steps_of_grpo_move_the_weights(
    tmp_path: Path, monkeypatch: Any, tokenizer: Any, way: str
) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    rows = dataset_rows("bird", markup=way == "rollout_func", instances=["1"])

    def tags(number: int, context: Any) -> str:
        return f"<t>```sql\n{RIGHT if number % 2 else 'SELECT 1'}\n```</t>"

    def call(number: int, context: Any) -> str:
        if "tool_response" in tokenizer.decode(context):
            return "Done."
        arguments = {"name": "submit_sql", "arguments": {"sql": RIGHT if number % 2 else "SELECT 1"}}
        return f"<tool_call>\n{json.dumps(arguments)}\n</tool_call>"

    if way == "rollout_func":
        history = _train(tmp_path, tokenizer, rows, tags, rollout_func=rollout("bird"), reward_funcs=earned)
    else:
        history = _train(tmp_path, tokenizer, rows, call, environment_factory=environment_class("bird"))
    assert [entry["reward"] for entry in history] == [0.5, 0.5]
    assert all(float(entry["grad_norm"]) > 0 for entry in history)


def test_the_recipe_runs_two_steps_and_measures_what_is_held_out(tmp_path: Path) -> None:
    said = example("grpo_trl.py", tmp_path, "--smoke")
    assert [line.split(":")[0] for line in said.splitlines() if "held-out" in line] == ["step 1", "step 2"]
    assert len((tmp_path / "results" / "grpo" / "curve.csv").read_text().splitlines()) == 3
