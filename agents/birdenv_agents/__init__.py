"""Agents for the evaluated seat, which are entry points of the group `birdenv.agents`."""
