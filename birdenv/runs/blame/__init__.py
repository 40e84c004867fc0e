"""Find out who caused the failed episodes of a run: the agent, the user or the benchmark."""

from birdenv.runs.blame._blame import blame_run, has_user_to_blame, open_terms, record_blame

__all__ = ["blame_run", "has_user_to_blame", "open_terms", "record_blame"]
