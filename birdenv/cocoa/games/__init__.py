"""CoCoA's three games, with their shared settings, task lists and two-seat rules."""
