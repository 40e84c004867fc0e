"""What CoCoA's three games share: settings, the list of scenarios, and rules of talk between two seats."""
