"""CoCoA's three games, and what they share: settings, lists of scenarios, and rules for two seats."""
