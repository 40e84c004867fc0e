"""A network for Stable-Baselines3 that scores each span and each candidate with shared weights.

A network on the flat observation vector hardly learns, because it must learn separately for each position
when a span is worth a question. This module needs torch.
"""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn

from birdenv.envs.candidates import CandidateColumn, EpisodeColumn, SpanColumn

_WIDTH = 64
_SPANS, _CANDIDATES = len(SpanColumn), len(CandidateColumn)


def _layers(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, _WIDTH), nn.Tanh(), nn.Linear(_WIDTH, _WIDTH), nn.Tanh(), nn.Linear(_WIDTH, outputs)
    )


class Scores(BaseFeaturesExtractor):
    """A features extractor that computes a score for each action, followed by pooled features for the value.

    The score of a span or of a candidate depends on its own features, on the mean and the maximum of all
    features over spans and over candidates, and on the features of the episode.

    Attributes:
        actions: the number of actions.
        pooled: the number of pooled features.
    """

    def __init__(self, observation_space: spaces.Dict) -> None:
        sizes = {name: int(space.shape[0]) for name, space in observation_space.items() if space.shape}
        self.spans, self.candidates = sizes["spans"] // _SPANS, sizes["candidates"] // _CANDIDATES
        self.actions = self.spans + 1 + 2 * self.candidates + 1
        self.pooled = 2 * _SPANS + 2 * _CANDIDATES + len(EpisodeColumn)
        super().__init__(observation_space, self.actions + self.pooled)
        self.of_span = _layers(_SPANS + self.pooled, 1)
        self.of_candidate = _layers(_CANDIDATES + self.pooled, 2)
        self.of_episode = _layers(self.pooled, 2)

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        n = len(observations["episode"])
        spans = observations["spans"].view(n, self.spans, _SPANS)
        shown = observations["candidates"].view(n, self.candidates, _CANDIDATES)
        parts = [spans.mean(1), spans.amax(1), shown.mean(1), shown.amax(1), observations["episode"]]
        pooled = torch.cat(parts, dim=1)
        ask = self.of_span(_with(spans, pooled)).squeeze(2)
        execute, submit = self.of_candidate(_with(shown, pooled)).unbind(2)
        useless, give_up = self.of_episode(pooled).split(1, dim=1)
        return torch.cat([ask, useless, execute, submit, give_up, pooled], dim=1)


def _with(rows: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
    return torch.cat([rows, pooled[:, None, :].expand(-1, rows.shape[1], -1)], dim=2)


class _Heads(nn.Module):
    """The layers after `Scores`: no layers for the policy, and a small network for the value."""

    def __init__(self, actions: int, pooled: int) -> None:
        super().__init__()
        self._actions = actions
        self.latent_dim_pi, self.latent_dim_vf = actions, _WIDTH
        self.value = nn.Sequential(nn.Linear(pooled, _WIDTH), nn.Tanh(), nn.Linear(_WIDTH, _WIDTH), nn.Tanh())

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        return features[:, : self._actions]

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.value(features[:, self._actions :])
        return made


class _Relational:
    """A mix-in for policies of Stable-Baselines3 that uses the output of `Scores` as logits of actions."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings | {"features_extractor_class": Scores, "ortho_init": False})

    def _build_mlp_extractor(self) -> None:
        extractor = self.features_extractor  # type: ignore[attr-defined]
        self.mlp_extractor = _Heads(extractor.actions, extractor.pooled)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)  # type: ignore[misc]
        self.action_net = nn.Identity()
        settings = self.optimizer_kwargs  # type: ignore[attr-defined]
        self.optimizer = self.optimizer_class(  # type: ignore[attr-defined]
            self.parameters(),  # type: ignore[attr-defined]
            lr=lr_schedule(1),
            **settings,
        )


class RelationalPolicy(_Relational, ActorCriticPolicy):
    """A policy for PPO that scores spans and candidates with shared weights."""


class MaskableRelationalPolicy(_Relational, MaskableActorCriticPolicy):
    """A policy for MaskablePPO that scores spans and candidates with shared weights."""


class _QScores(Scores):
    """A features extractor that computes only the scores, which are used as action values."""

    def __init__(self, observation_space: spaces.Dict) -> None:
        super().__init__(observation_space)
        self._features_dim = self.actions

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        return super().forward(observations)[:, : self.actions]


class RelationalDQNPolicy(DQNPolicy):
    """A policy for DQN that computes action values of spans and candidates with shared weights."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings | {"features_extractor_class": _QScores, "net_arch": []})

    def make_q_net(self) -> Any:
        net = super().make_q_net()
        net.q_net = nn.Identity()
        return net
