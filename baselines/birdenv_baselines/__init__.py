"""Baselines to compare with: trained policies, the best reachable return, speed, and a results page."""
