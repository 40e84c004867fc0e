"""Grading recorded runs again under other profiles."""
