"""Agents that can sit in the system seat; found through the entry-point group `birdenv.agents`."""
