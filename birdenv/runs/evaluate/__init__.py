"""The EM/ESM pipeline over gold and prediction files."""
