"""Grading BIRD-Interact: jobs, Management, and the reference evaluators' rules."""
