"""Whose fault the failed episodes of a run were: the agent's, the user's or the benchmark's."""

from birdenv.runs.blame._blame import RunBlame, blame_run, has_user_to_blame, open_terms, record_blame

__all__ = [
    "RunBlame",
    "blame_run",
    "has_user_to_blame",
    "open_terms",
    "record_blame",
]
