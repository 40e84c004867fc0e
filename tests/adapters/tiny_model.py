"""A tiny random model and its tokenizer, made here, which a trainer can train in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM


def make_tokenizer(texts: list[str], template: str = "qwen3") -> Any:
    """Return a tokenizer of 2,000 tokens with one of TRL's chat templates."""
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    found.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=found, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    folder = Path(trl.__file__).parent / "chat_templates"
    made.chat_template = (folder / f"{template}.jinja").read_text()
    return made


def make_model(tokenizer: Any) -> Any:
    """Return a Qwen3 of 0.1 million random parameters."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=16_384,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen3ForCausalLM(config)
