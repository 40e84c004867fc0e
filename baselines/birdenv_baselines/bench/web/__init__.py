"""A study under load: many people who write at once, many who come at once, and how soon a page is there."""

from birdenv_baselines.bench.web._lines import lines

__all__ = ["lines"]
