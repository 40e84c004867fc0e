"""Data for training: what a row holds, and that it holds nothing private."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from birdenv.dialogue import make_game
from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes
from birdenv.runs.export import ExportFormat, export_rows, exported_episodes
from birdenv.runs.export._episodes import ExportedEpisode
from birdenv.testing.openai_server import Server


@pytest.fixture
def model_run(demo_server: Server, tmp_path: Path) -> Path:
    models = ModelSettings(base_url=demo_server.url)
    found = run_episodes("c-interact", "llm:scripted", limit=2, models=models, output=tmp_path / "model")
    assert found.folder is not None
    return found.folder


def test_a_dialogue_is_what_the_model_was_sent_and_wrote(model_run: Path, demo_server: Server) -> None:
    rows = list(export_rows(exported_episodes(model_run), "sft"))
    assert [row["reward"] for row in rows] == [1.0, 1.0]
    sent = [request.body["messages"] for request in demo_server.requests]
    messages = rows[0]["messages"]
    last = next(each for n, each in enumerate(sent) if n + 1 == len(sent) or len(sent[n + 1]) < len(each))
    assert [m["content"] for m in messages[:-1]] == [m["content"] or "" for m in last]
    assert messages[-1]["tool_calls"][0]["function"]["name"] == "submit_sql"
    assert rows[0]["train"] == [message["role"] == "assistant" for message in messages]
    assert {tool["function"]["name"] for tool in json.loads(rows[0]["tools"])} == {"clarify", "submit_sql"}
    assert len({tuple(message) for row in rows for message in row["messages"]}) == 1


def test_rewards_stand_at_the_turns_that_earned_them(model_run: Path) -> None:
    row = next(export_rows(exported_episodes(model_run), "rl"))
    earned = [
        (m["tool_calls"][0]["function"]["name"], r)
        for m, r in zip(row["completion"], row["turn_rewards"], strict=True)
        if r
    ]
    assert earned == [("submit_sql", 0.7), ("submit_sql", 0.3)]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]


def test_pairs_come_from_repeats_of_one_task(tmp_path: Path) -> None:
    found = run_episodes("c-interact", "random", limit=4, repeats=4, output=tmp_path)
    assert found.folder is not None
    episodes = list(exported_episodes(found.folder))
    rows = list(export_rows(episodes, "preference"))
    assert len(episodes) == 16 and rows
    assert all(row["chosen_reward"] > row["rejected_reward"] for row in rows)
    assert all(row["prompt"] and row["chosen"][-1]["role"] == "assistant" for row in rows)
    assert len(rows) > len(list(export_rows(episodes, "preference", 1.0)))


@pytest.mark.parametrize(
    ("form", "least", "kept"),
    [("rl", None, 3), ("rl", 0.0, 2), ("sft", None, 1), ("sft", -1.0, 3), ("preference", None, 3)],
)
def test_what_earned_less_than_nothing_is_kept_where_all_is(
    form: ExportFormat, least: float | None, kept: int
) -> None:
    def episode(reward: float) -> ExportedEpisode:
        said = [{"role": "user", "content": "?"}, {"role": "assistant", "content": f"{reward}"}]
        return ExportedEpisode("T", 0, said, [], [0.0, reward], reward, "completed", {})

    assert len(list(export_rows(map(episode, (-0.5, 0.0, 1.0)), form, least))) == kept


def test_pairs_begin_where_they_part(tmp_path: Path) -> None:
    def written(call: str, sql: str) -> list[dict[str, Any]]:
        def calls(name: str, text: str) -> list[dict[str, Any]]:
            return [{"id": call, "type": "function", "function": {"name": name, "arguments": text}}]

        return [
            {"role": "user", "content": "Request: ..."},
            {"role": "assistant", "content": "", "tool_calls": calls("clarify", "What is roomy?")},
            {"role": "tool", "content": "40 seats.", "tool_call_id": call},
            {"role": "assistant", "content": "", "tool_calls": calls("submit_sql", sql)},
        ]

    def episode(repeat: int, messages: list[dict[str, Any]], reward: float) -> ExportedEpisode:
        return ExportedEpisode("t", repeat, messages, [], [0.0] * len(messages), reward, "completed", {})

    right, wrong = written("call_a", "SELECT 1"), written("call_b", "SELECT 2")
    [row] = export_rows([episode(0, right, 1.0), episode(1, wrong, 0.0)], "preference")
    assert [m["role"] for m in row["prompt"]] == ["user", "assistant", "tool"]
    assert [len(row[side]) for side in ("chosen", "rejected")] == [1, 1]
    wrong[2] = {**wrong[2], "content": "I cannot say."}
    [row] = export_rows([episode(0, right, 1.0), episode(1, wrong, 0.0)], "preference")
    assert [m["role"] for m in row["prompt"]] == ["user"] and len(row["chosen"]) == 3
    wrong[0] = {**wrong[0], "content": "Another request."}
    assert not list(export_rows([episode(0, right, 1.0), episode(1, wrong, 0.0)], "preference"))


@pytest.mark.parametrize("game", ["bird", "a-interact"])
def test_every_game_and_agent_can_be_exported(tmp_path: Path, game: str) -> None:
    found = run_episodes(game, "asks-first", limit=3, output=tmp_path)
    assert found.folder is not None
    rows = list(export_rows(exported_episodes(found.folder), "rl"))
    assert len(rows) == 3
    for row, record in zip(rows, found.records, strict=True):
        assert round(sum(row["turn_rewards"]), 6) == row["reward"] == record["reward"]


def test_nothing_private_is_in_a_row(tmp_path: Path) -> None:
    found = run_episodes("c-interact", "never-asks", limit=12, output=tmp_path)
    assert found.folder is not None
    with make_game("c-interact") as arena:
        clear = {name: arena._tasks.private(name).brief.clear_query for name in arena.ids}
    for row in export_rows(exported_episodes(found.folder), "rl"):
        assert clear[row["task"]] not in json.dumps(row, ensure_ascii=False)


def test_the_files_load_as_they_are(model_run: Path, tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets", reason="needs `datasets`")
    for form in ("sft", "rl"):
        file = tmp_path / f"{form}.jsonl"
        rows = list(export_rows(exported_episodes(model_run), form))  # type: ignore[arg-type]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        loaded = datasets.load_dataset("json", data_files=str(file), cache_dir=str(tmp_path))["train"]
        assert len(loaded) == len(rows) and loaded[0]["tools"] == rows[0]["tools"]


class Learner:
    """A model of a few thousand weights, TRL's own chat template, and the data of a file."""

    def __init__(self, trl: Any, rows: list[dict[str, Any]], folder: Path) -> None:
        from datasets import load_dataset
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
        from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

        (file := folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.data = load_dataset("json", data_files=str(file), cache_dir=str(folder))["train"]
        bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False)
        letters = Tokenizer(models.BPE())
        letters.pre_tokenizer, letters.decoder = bytes_, decoders.ByteLevel()
        marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        learn = trainers.BpeTrainer(vocab_size=600, special_tokens=marks, initial_alphabet=bytes_.alphabet())
        letters.train([str(file)], learn)
        self.words = PreTrainedTokenizerFast(tokenizer_object=letters, eos_token=marks[2], pad_token=marks[0])
        templates = Path(trl.__file__).parent / "chat_templates"
        self.words.chat_template = (templates / "qwen3_training.jinja").read_text()
        tiny = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "head_dim": 8}
        heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 8192}
        self.model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(self.words), **tiny, **heads))
        self.settings = {"output_dir": str(folder / "out"), "max_steps": 1, "report_to": []}
        self.settings |= {"use_cpu": True, "bf16": False, "per_device_train_batch_size": 1}


@pytest.mark.slow
def test_trl_trains_on_the_files_as_they_are(model_run: Path, tmp_path: Path) -> None:
    trl: Any = pytest.importorskip("trl", reason="needs `trl`")
    rows = list(export_rows(exported_episodes(model_run), "sft"))
    learner = Learner(trl, rows, tmp_path)
    settings = trl.SFTConfig(**learner.settings, max_length=None, assistant_only_loss=True)
    trainer = trl.SFTTrainer(
        learner.model, settings, train_dataset=learner.data, processing_class=learner.words
    )
    trainer.train()
    example = trainer.train_dataset[0]
    labels = zip(example["input_ids"], example["labels"], strict=True)
    learnt = learner.words.decode([token for token, label in labels if label != -100])
    wrote = [m for m, train in zip(rows[0]["messages"], rows[0]["train"], strict=True) if train]
    assert learnt.count("<tool_call>") == len(wrote) and "submit_sql" in learnt
    assert "Request:" not in learnt  # what the agent was told


@pytest.mark.slow
def test_trl_prefers_by_the_files_as_they_are(tmp_path: Path) -> None:
    trl: Any = pytest.importorskip("trl", reason="needs `trl`")
    found = run_episodes("c-interact", "random", limit=2, repeats=4, output=tmp_path)
    assert found.folder is not None
    rows = list(export_rows(exported_episodes(found.folder), "preference"))
    learner = Learner(trl, rows, tmp_path)
    trainer = trl.DPOTrainer(
        learner.model,
        deepcopy(learner.model),
        trl.DPOConfig(**learner.settings, max_length=None),
        train_dataset=learner.data,
        processing_class=learner.words,
    )
    assert len(trainer.train_dataset) == len(rows) > 0
    assert trainer.train().training_loss > 0
