"""Episodes of a run as data for training."""
