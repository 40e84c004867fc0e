"""Grade in worker processes, which run SQL and compare rows under limits.

This `__init__` imports nothing, so that a worker loads only the modules that it needs.
"""
