"""A player that has learned from dialogues which act comes next, and one that applies it to a rule bot's."""

from birdenv_agents.learned._player import hybrid, learned
from birdenv_agents.learned._train import train_policy, train_retrieval

__all__ = ["hybrid", "learned", "train_policy", "train_retrieval"]
