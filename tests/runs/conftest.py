"""Makes the modules beside it importable for the tests of the folders below."""
