"""Commands that make and check benchmarks and their databases."""
