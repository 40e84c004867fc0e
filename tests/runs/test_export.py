"""Data for training: what a row holds, and that it holds nothing private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.dialogue import make_game
from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes
from birdenv.runs.export import export_rows, exported_episodes
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


def test_trl_trains_on_the_files_as_they_are(model_run: Path, tmp_path: Path) -> None:
    trl: Any = pytest.importorskip("trl", reason="needs `trl`")
    from datasets import load_dataset
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    rows = list(export_rows(exported_episodes(model_run), "sft"))
    (file := tmp_path / "sft.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = load_dataset("json", data_files=str(file), cache_dir=str(tmp_path))["train"]
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters = Tokenizer(models.BPE())
    letters.pre_tokenizer, letters.decoder = bytes_, decoders.ByteLevel()
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    learn = trainers.BpeTrainer(vocab_size=600, special_tokens=marks, initial_alphabet=bytes_.alphabet())
    letters.train([str(file)], learn)
    words = PreTrainedTokenizerFast(tokenizer_object=letters, eos_token=marks[2], pad_token=marks[0])
    templates = Path(trl.__file__).parent / "chat_templates"
    words.chat_template = (templates / "qwen3_training.jinja").read_text()
    tiny = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 8192}
    settings = trl.SFTConfig(
        output_dir=str(tmp_path / "out"),
        max_steps=1,
        per_device_train_batch_size=1,
        max_length=8192,
        assistant_only_loss=True,
        report_to=[],
        use_cpu=True,
        bf16=False,
    )
    model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(words), **tiny, **heads))
    trainer = trl.SFTTrainer(model, settings, train_dataset=data, processing_class=words)
    trainer.train()
    example = trainer.train_dataset[0]
    labels = zip(example["input_ids"], example["labels"], strict=True)
    learnt = words.decode([token for token, label in labels if label != -100])
    wrote = [m for m, train in zip(rows[0]["messages"], rows[0]["train"], strict=True) if train]
    assert learnt.count("<tool_call>") == len(wrote) and "submit_sql" in learnt
    assert "Request:" not in learnt  # what the agent was told
