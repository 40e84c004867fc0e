"""Determine whether the agent, the user or the benchmark caused each failed episode of a run."""

from birdenv.runs.blame._blame import blame_run, has_user_to_blame, open_terms, record_blame

__all__ = ["blame_run", "has_user_to_blame", "open_terms", "record_blame"]
