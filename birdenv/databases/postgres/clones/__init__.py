"""The databases of episodes: one that reading episodes share, and a clone for each episode that writes."""
