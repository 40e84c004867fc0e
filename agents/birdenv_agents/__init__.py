"""The agents that birdenv ships. They are registered as entry points of the group `birdenv.agents`."""
