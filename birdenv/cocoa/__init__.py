"""CoCoA: its games, files, dialogue acts, corpus analysis, and players that learn from dialogues."""
