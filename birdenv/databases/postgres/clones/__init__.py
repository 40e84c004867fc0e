"""The databases of episodes. Episodes share one while they only read; an episode that writes gets a clone."""
