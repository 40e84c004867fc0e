"""The players `learned`, `hybrid` and `retrieval`, which learn from dialogues, and the code to train them."""

from birdenv_agents.learned._player import hybrid, learned
from birdenv_agents.learned._retrieval import retrieval
from birdenv_agents.learned._train import train_hybrid, train_policy, train_retrieval

__all__ = ["hybrid", "learned", "retrieval", "train_hybrid", "train_policy", "train_retrieval"]
