"""The databases of episodes: shared databases for reading, and a clone for each episode that writes."""
