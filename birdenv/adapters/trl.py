"""Games for TRL's `GRPOTrainer`, played with tool calls or with tags in the model's text.

    GRPOTrainer(model, train_dataset=Dataset.from_list(dataset_rows("c-interact")),
                environment_factory=environment_class("c-interact"))

    GRPOTrainer(model, train_dataset=Dataset.from_list(dataset_rows("c-interact", markup=True)),
                rollout_func=rollout("c-interact"), reward_funcs=earned)

With `environment_factory`, TRL handles the tool calls: a message without a call ends the episode, all calls
in a message are played, and calls of unknown tools never reach birdenv. With `rollout`, the model writes
tags, all rules of the game apply, and `max_completion_length` limits each turn. If the infrastructure or the
user fails, the reward is None, and TRL ignores the episode.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from inspect import Parameter, Signature
from typing import Any

from birdenv.dialogue import Episode, make_game


def dataset_rows(game: str, *, markup: bool = False, **settings: Any) -> list[dict[str, Any]]:
    """Return a dataset with one row for each task in a game.

    The prompt message also has a field with the task id, which chat templates ignore.
    """
    rows = make_game(game, **settings).rows(markup=markup)
    return [{"prompt": [{"role": "user", "content": x["prompt"], "instance_id": x["id"]}]} for x in rows]


def environment_class(game: str, **settings: Any) -> type:
    """Return a class whose methods are the game's tools. Pass it to the trainer as `environment_factory`."""
    arena = make_game(game, **settings)

    class Birdenv:
        def reset(self, prompt: Any, **row: Any) -> None:
            self._episode = arena.episode(prompt[-1]["instance_id"])

        def get_reward(self) -> float | None:
            return None if self._episode.error else self._episode.reward

    for tool in arena.tools:
        setattr(Birdenv, tool["function"]["name"], _method(tool["function"]))
    return Birdenv


def _method(function: dict[str, Any]) -> Any:
    """Return a method for a tool, from whose signature and docstring TRL derives the tool's schema."""

    def method(self: Any, **arguments: Any) -> Any:
        return self._episode.call({"name": function["name"], "arguments": arguments}).text

    fields = function["parameters"]["properties"]
    method.__name__ = function["name"]
    about = [f"    {name}: {field['description']}" for name, field in fields.items()]
    method.__doc__ = "\n".join([function["description"], "", *(["Args:", *about] if about else [])])
    method.__annotations__ = {**dict.fromkeys(fields, str), "return": str}
    named = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=str) for name in ("self", *fields)]
    method.__signature__ = Signature(named)  # type: ignore[attr-defined]
    return method


def rollout(game: str, *, most_tokens: int = 16_384, **settings: Any) -> Any:
    """Return a function to pass to the trainer as `rollout_func`. The model writes its moves as tags.

    Args:
        game: the name of the game.
        most_tokens: the number of tokens at which an episode ends.
        **settings: the game's settings for `make_game`.
    """
    arena = make_game(game, **settings)

    def play(prompts: Any, trainer: Any) -> dict[str, Any]:
        tokenizer = trainer.processing_class
        episodes = [arena.episode(prompt[-1]["instance_id"]) for prompt in prompts]
        starts = tokenizer.apply_chat_template(prompts, add_generation_prompt=True, return_dict=False)
        made: list[list[Any]] = [[] for _ in prompts]  # id, mask and log-probability of each token
        while playing := [i for i, episode in enumerate(episodes) if not episode.done]:
            contexts = [starts[i] + [token for token, *_ in made[i]] for i in playing]
            turns, chances = trainer._generate_single_turn(contexts, None, {}, 1)
            texts = tokenizer.batch_decode(turns, skip_special_tokens=True)
            with ThreadPoolExecutor(len(playing)) as pool:
                steps = list(pool.map(Episode.say, [episodes[i] for i in playing], texts))
            for i, turn, chance, step in zip(playing, turns, chances or turns, steps, strict=True):
                reply = [] if step.done else _reply(tokenizer, step.text, turn)
                made[i] += [*zip(turn, [1] * len(turn), chance, strict=True), *((t, 0, 0.0) for t in reply)]
                if len(starts[i]) + len(made[i]) >= most_tokens:
                    episodes[i].stop("context overflow")
        tokens, masks, logprobs = ([[one[k] for one in each] for each in made] for k in range(3))
        rewards = [None if each.error else each.reward for each in episodes]
        played = {"prompt_ids": starts, "completion_ids": tokens, "logprobs": logprobs if chances else None}
        return {**played, "env_mask": masks, "birdenv_reward": rewards}

    return play


def earned(birdenv_reward: list[float | None], **_: Any) -> list[float | None]:
    """Return the rewards of episodes played by `rollout`. Pass this function as `reward_funcs`."""
    return birdenv_reward


def _reply(tokenizer: Any, text: str, turn: list[int]) -> Any:
    """Return the tokens of a user message that follows a turn of the model, with any chat template."""
    told = [{"role": r, "content": c} for r, c in (("user", "?"), ("assistant", "said-it"), ("user", text))]
    shown = tokenizer.apply_chat_template(told, add_generation_prompt=True, tokenize=False)
    end = tokenizer.eos_token if turn[-1:] == [tokenizer.eos_token_id] else ""
    reply = shown.partition("said-it")[2].removeprefix(end)
    return tokenizer(reply, add_special_tokens=False)["input_ids"]
