"""Comparing results: canonical cells, tolerance, multisets, order, columns, and why two differ."""
