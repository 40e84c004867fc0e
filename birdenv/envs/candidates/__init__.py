"""The candidate setting: which question is worth its price, and which candidate is meant."""

from birdenv.envs.candidates._env import CInteractCandidatesEnv
from birdenv.envs.candidates._layout import CandidateColumn, EpisodeColumn, Layout, SpanColumn

__all__ = ["CInteractCandidatesEnv", "CandidateColumn", "EpisodeColumn", "Layout", "SpanColumn"]
