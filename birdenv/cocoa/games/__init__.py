"""CoCoA's three games, and the settings, scenario lists and two-seat rules that they share."""
