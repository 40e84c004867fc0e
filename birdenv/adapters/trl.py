"""TRL: the games for `GRPOTrainer`, by tools (`environment_factory`) or by tags (`rollout_func`).

    GRPOTrainer(model, train_dataset=Dataset.from_list(dataset_rows("c-interact")),
                environment_factory=environment_class("c-interact"))

    GRPOTrainer(model, train_dataset=Dataset.from_list(dataset_rows("c-interact", markup=True)),
                rollout_func=rollout("c-interact"), reward_funcs=earned)

With an environment, TRL runs the tools itself: words without a call end the episode, several calls of a message are
all played, and a call of an unknown tool never reaches birdenv. `rollout` keeps every rule of the game; there
`max_completion_length` is that of one turn. A void episode earns None, which TRL leaves out.
"""

from __future__ import annotations

import asyncio
from inspect import Parameter, Signature
from typing import Any

from birdenv.dialogue import Episode, Step, make_game

_MARK = "birdenv-mark"


def dataset_rows(game: str, *, markup: bool = False, **settings: Any) -> list[dict[str, Any]]:
    """Return a row for each task; `instance_id` stands in the prompt's message, too, where `rollout` reads it."""
    with make_game(game, **settings) as arena:
        rows = [(row["id"], row["prompt"]) for row in arena.rows(markup=markup)]
    said = [(name, {"role": "user", "content": prompt, "instance_id": name}) for name, prompt in rows]
    return [{"prompt": [message], "instance_id": name} for name, message in said]


def environment_class(game: str, **settings: Any) -> type:
    """Return a class whose methods are the tools of a game, for `environment_factory`."""
    arena = make_game(game, **settings)

    class Birdenv:
        _episode: Episode

        def reset(self, instance_id: str, **row: Any) -> None:
            self._episode = arena.episode(instance_id)

        def get_reward(self) -> float | None:
            return None if self._episode.error else self._episode.reward

    for tool in arena.tools:
        setattr(Birdenv, tool["function"]["name"], _method(tool["function"]))
    return Birdenv


def _method(function: dict[str, Any]) -> Any:
    """Return a method with the signature and the docstring that TRL makes a schema of."""

    def method(self: Any, **arguments: Any) -> str:
        return self._episode.call({"name": function["name"], "arguments": arguments}).text

    fields = function["parameters"]["properties"]
    method.__name__ = function["name"]
    about = [f"    {name}: {field['description']}" for name, field in fields.items()]
    method.__doc__ = "\n".join([function["description"], "", *(["Args:", *about] if about else [])])
    method.__annotations__ = {**dict.fromkeys(fields, str), "return": str}
    named = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", *fields)]
    method.__signature__ = Signature(named)  # type: ignore[attr-defined]
    return method


def rollout(game: str, *, most_tokens: int = 16_384, **settings: Any) -> Any:
    """Return a `rollout_func` in which the model writes tags; an episode ends at `most_tokens`."""
    arena = make_game(game, **settings)

    def play(prompts: Any, trainer: Any) -> dict[str, Any]:
        tokenizer = trainer.processing_class
        episodes = [arena.episode(prompt[-1]["instance_id"]) for prompt in prompts]
        starts = [_ids(tokenizer, _rendered(tokenizer, prompt)) for prompt in prompts]
        made: list[list[tuple[int, int, float]]] = [[] for _ in prompts]  # token, mask, log-probability
        playing = list(range(len(prompts)))
        while playing:
            context = [starts[i] + [token for token, *_ in made[i]] for i in playing]
            turns, chances = trainer._generate_single_turn(context, None, {}, 1)
            steps = asyncio.run(_say([episodes[i] for i in playing], tokenizer.batch_decode(turns, True)))
            for i, turn, chance, step in zip(playing, turns, chances or turns, steps, strict=True):
                reply = [] if step.done else _reply(tokenizer, step.text, turn)
                made[i] += [*zip(turn, [1] * len(turn), chance), *((token, 0, 0.0) for token in reply)]
                if len(starts[i]) + len(made[i]) >= most_tokens:
                    episodes[i].stop("context overflow")
            playing = [i for i in playing if not episodes[i].done]
        return {
            "prompt_ids": starts,
            "completion_ids": [[token for token, _, _ in each] for each in made],
            "env_mask": [[mask for _, mask, _ in each] for each in made],
            "logprobs": [[chance for *_, chance in each] for each in made] if chances else None,
            "birdenv_reward": [None if each.error else each.reward for each in episodes],
        }

    return play


def earned(birdenv_reward: list[float | None], **_: Any) -> list[float | None]:
    """Return the rewards of `rollout`, as a reward function."""
    return birdenv_reward


async def _say(episodes: list[Episode], texts: list[str]) -> list[Step]:
    return await asyncio.gather(*(each.asay(text) for each, text in zip(episodes, texts, strict=True)))


def _rendered(tokenizer: Any, messages: list[Any]) -> str:
    return str(tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _reply(tokenizer: Any, text: str, turn: list[int]) -> list[int]:
    """Return the tokens of a user's message after a model's turn, whichever template the model has."""
    asked, said = {"role": "user", "content": "?"}, {"role": "assistant", "content": _MARK}
    shown = _rendered(tokenizer, [asked, said, {"role": "user", "content": text}]).partition(_MARK)[2]
    return _ids(
        tokenizer, shown.removeprefix(tokenizer.eos_token if turn[-1] == tokenizer.eos_token_id else "")
    )
