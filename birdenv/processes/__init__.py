"""Child processes: starting them, their limits, and talking to them."""
