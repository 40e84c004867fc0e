"""CoCoA's three games, and their common settings, lists of scenarios, and rules for two seats."""
