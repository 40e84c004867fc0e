"""Grade in worker processes, which run SQL and compare rows under limits.

This package imports nothing by itself, so that a worker loads only the modules that it needs.
"""
