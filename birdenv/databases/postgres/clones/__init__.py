"""The databases that episodes use: shared databases for reading, and a clone for each episode that writes."""
