"""Whose fault the failed episodes of a run were: the agent's, the user's or the benchmark's."""
