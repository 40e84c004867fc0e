"""Commands that fetch, generate and check benchmarks and their databases."""
