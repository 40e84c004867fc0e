"""Baselines for comparison: trained policies, the best reachable return, speed, and a results page."""
