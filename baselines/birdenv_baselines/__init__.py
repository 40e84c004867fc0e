"""Baseline reports: scripts that print the tables shown in the README."""
