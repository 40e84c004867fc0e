"""CoCoA's games, files, dialogue acts and corpus analysis, and commands to train and test players."""
