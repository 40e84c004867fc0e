"""CoCoA's games, file formats, dialogue acts and corpus analysis, and commands to train and test players."""
