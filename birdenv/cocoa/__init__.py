"""CoCoA's games, files, dialogue acts and corpus analysis, and players that learn from dialogues."""
