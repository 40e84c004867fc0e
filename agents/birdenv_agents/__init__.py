"""The agents that birdenv ships. They are registered in the entry-point group `birdenv.agents`."""
