"""Figures of recorded runs: statistics, measures, comparisons, reports and plots."""
