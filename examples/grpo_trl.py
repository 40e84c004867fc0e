"""Train a small open model to ask before it answers: GRPO with TRL on generated tasks, for one GPU.

    pip install 'birdenv[trl]' vllm
    python grpo_trl.py generated results/grpo

    python grpo_trl.py --smoke     # two steps of a tiny random model, on a CPU, offline

If the folder of tasks does not exist, the generator makes it. A family of tasks is either for training or
held out. Every `--every` steps, the held-out tasks are played; their mean reward and the number of questions
become a line of `curve.csv`.

Only `--smoke` was ever run. The settings for a GPU (24 GB or more, bf16, vLLM in the same process) are a
guess for a model of this size. Nobody has trained with them yet, so no result is promised.
"""

import argparse
import csv
import json
from pathlib import Path

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from birdenv.adapters.trl import dataset_rows, earned, rollout
from birdenv.benchmarks.generator import generate

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tasks", nargs="?", type=Path, default=Path("generated"))
parser.add_argument("output", nargs="?", type=Path, default=Path("results/grpo"))
parser.add_argument("--model", default="Qwen/Qwen3-1.7B")
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--every", type=int, default=25, help="number of steps between two measurements")
parser.add_argument("--held-out", type=int, default=64, help="number of held-out tasks to measure")
parser.add_argument("--smoke", action="store_true")
given = parser.parse_args()

GPU = {
    "bf16": True,
    "use_vllm": True,
    "vllm_mode": "colocate",
    "vllm_gpu_memory_utilization": 0.35,
    "gradient_checkpointing": True,
    "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 8,  # 32 episodes a step: 4 tasks, 8 times each
    "num_generations": 8,
    "max_completion_length": 512,  # of one turn
    "learning_rate": 2e-6,
    "temperature": 1.0,
    "beta": 0.0,
    "loss_type": "dapo",
    "chat_template_kwargs": {"enable_thinking": False},
}
SMOKE = {
    "use_cpu": True,
    "per_device_train_batch_size": 2,
    "num_generations": 2,
    "max_completion_length": 8,
    "per_device_eval_batch_size": 2,
}


def tiny_model(texts):
    """Return a random model with 0.1 million parameters, and a tokenizer that is trained on texts."""
    import torch
    import trl
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    torch.set_num_threads(1)
    bpe = ByteLevelBPETokenizer()
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    bpe.train_from_iterator(texts, vocab_size=2000, special_tokens=specials, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    tokenizer.chat_template = template.read_text()
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "head_dim": 16}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    return Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokenizer), **size, **heads)), tokenizer


def questions(completions, **_):
    """Count the questions in each episode. Their weight is 0, so they are measured but not rewarded."""
    return [float(each[0]["content"].count("<s>")) for each in completions]


if not given.tasks.exists():
    generate(given.tasks, tasks=20 if given.smoke else 2500)
split = json.loads((given.tasks / "splits" / "families.json").read_text())
settings = {"data_dir": str(given.tasks)}
train = dataset_rows("c-interact", markup=True, **settings, instances=split["train"])
held_out = dataset_rows("c-interact", markup=True, **settings, instances=split["dev"][: given.held_out])
steps, every = (2, 1) if given.smoke else (given.steps, given.every)

model, tokenizer = given.model, None
if given.smoke:
    model, tokenizer = tiny_model([row["prompt"][0]["content"] for row in train])
    held_out = held_out[:2]
trainer = GRPOTrainer(
    model,
    args=GRPOConfig(
        str(given.output),
        max_steps=steps,
        eval_strategy="steps",
        eval_steps=every,
        num_generations_eval=2,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        reward_weights=[1.0, 0.0],
        **(SMOKE if given.smoke else GPU),
    ),
    processing_class=tokenizer,
    train_dataset=Dataset.from_list(train),
    eval_dataset=Dataset.from_list(held_out),
    rollout_func=rollout("c-interact", most_tokens=3_000 if given.smoke else 12_000, **settings),
    reward_funcs=[earned, questions],
)
trainer.train()

given.output.mkdir(parents=True, exist_ok=True)
with (given.output / "curve.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["step", "held-out reward", "held-out questions"])
    for entry in trainer.state.log_history:
        if "eval_reward" in entry:
            row = [entry["step"], entry["eval_rewards/earned/mean"], entry["eval_rewards/questions/mean"]]
            writer.writerow(row)
            print("step {}: held-out reward {:.3f}, questions asked {:.2f}".format(*row))
if not given.smoke:
    trainer.save_model()
