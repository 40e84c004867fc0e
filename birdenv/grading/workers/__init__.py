"""Grading in worker processes, where SQL runs and rows are compared under limits.

This module imports nothing, so that a worker loads only the module that it runs.
"""
