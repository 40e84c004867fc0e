"""Makes the modules beside it importable."""
