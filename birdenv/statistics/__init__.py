"""Statistics for all figures of runs: intervals, tests, numbers as text. Knows no game and no run."""
