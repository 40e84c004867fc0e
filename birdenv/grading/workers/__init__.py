"""Grading in worker processes: there the SQL runs and the rows of others are compared, under limits.

The door is empty so that a worker loads no more than the module it runs.
"""
