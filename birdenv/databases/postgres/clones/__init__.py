"""The databases of episodes: a shared copy while an episode only reads, a private clone once it writes."""
